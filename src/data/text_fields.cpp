#include "data/text_fields.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "edgewise/util/error.h"

namespace edgewise {
namespace {

char separatorOf(Delimiter delimiter) {
  switch (delimiter) {
    case Delimiter::kComma:
      return ',';
    case Delimiter::kTab:
      return '\t';
    case Delimiter::kSemicolon:
      return ';';
    case Delimiter::kSpaces:
      return ' ';
    case Delimiter::kAuto:
      break;
  }
  invariant(false, "splitting needs a definite delimiter");
  return ',';
}

// Walks one line field by field.
class LineSplitter {
 public:
  LineSplitter(std::string_view line, Delimiter delimiter)
      : at_(line.data()),
        end_(line.data() + line.size()),
        separator_(separatorOf(delimiter)),
        spaces_(delimiter == Delimiter::kSpaces),
        tab_is_blank_(delimiter != Delimiter::kTab) {}

  SplitResult run(std::span<Field> fields) {
    SplitResult result;
    skipBlanks();
    for (;;) {
      const Field field = at_ < end_ && *at_ == '"' ? quoted() : plain();
      if (!problem_.empty()) {
        return {.count = result.count, .problem = problem_};
      }
      if (result.count < fields.size()) {
        fields[result.count] = field;
      }
      ++result.count;
      if (!toNextField()) {
        return result;
      }
    }
  }

 private:
  [[nodiscard]] bool isBlank(char letter) const {
    return letter == ' ' || (letter == '\t' && tab_is_blank_);
  }
  [[nodiscard]] bool endsField(char letter) const {
    return spaces_ ? isBlank(letter) : letter == separator_;
  }

  void skipBlanks() {
    while (at_ < end_ && isBlank(*at_)) {
      ++at_;
    }
  }

  // Steps over the separator; false at the end of the line.
  bool toNextField() {
    skipBlanks();
    if (at_ == end_) {
      return false;
    }
    if (!spaces_) {
      ++at_;
      skipBlanks();
    }
    return true;
  }

  Field plain() {
    const char* begin = at_;
    while (at_ < end_ && !endsField(*at_)) {
      ++at_;
    }
    const char* stop = at_;
    while (stop > begin && isBlank(stop[-1])) {
      --stop;
    }
    return {.text = {begin, static_cast<std::size_t>(stop - begin)}};
  }

  Field quoted() {
    const char* begin = ++at_;
    bool doubled = false;
    for (;;) {
      at_ = static_cast<const char*>(std::memchr(at_, '"', static_cast<std::size_t>(end_ - at_)));
      if (at_ == nullptr) {
        problem_ = "a quoted field does not end on its line";
        return {};
      }
      if (at_ + 1 < end_ && at_[1] == '"') {
        doubled = true;
        at_ += 2;
        continue;
      }
      break;
    }
    const Field field{.text = {begin, static_cast<std::size_t>(at_ - begin)},
                      .doubled_quotes = doubled};
    ++at_;
    const char* after = at_;
    skipBlanks();
    const bool apart = at_ == end_ || (spaces_ ? at_ > after : *at_ == separator_);
    if (!apart) {
      problem_ = "text follows a closing quote";
    }
    return field;
  }

  const char* at_;
  const char* end_;
  char separator_;
  bool spaces_;
  bool tab_is_blank_;
  std::string_view problem_;
};

// How many of the lines share the most common number (two at least) of fields.
std::size_t agreement(std::span<const std::string_view> lines, Delimiter delimiter) {
  std::vector<std::size_t> counts;
  for (const std::string_view line : lines) {
    const SplitResult split = splitFields(line, delimiter, {});
    if (split.problem.empty() && split.count >= 2) {
      counts.push_back(split.count);
    }
  }
  std::ranges::sort(counts);
  std::size_t best = 0;
  for (std::size_t i = 0, run = 0; i < counts.size(); ++i) {
    run = i > 0 && counts[i] == counts[i - 1] ? run + 1 : 1;
    best = std::max(best, run);
  }
  return best;
}

}  // namespace

std::string fieldString(const Field& field) {
  std::string text(field.text);
  if (field.doubled_quotes) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < text.size(); ++i, ++kept) {
      text[kept] = text[i];
      if (text[i] == '"') {
        ++i;
      }
    }
    text.resize(kept);
  }
  return text;
}

SplitResult splitFields(std::string_view line, Delimiter delimiter, std::span<Field> fields) {
  return LineSplitter(line, delimiter).run(fields);
}

bool DataLines::next(std::string_view& line) {
  while (!rest_.empty()) {
    const std::size_t stop = std::min(rest_.find('\n'), rest_.size());
    line = rest_.substr(0, stop);
    rest_.remove_prefix(std::min(stop + 1, rest_.size()));
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos && line[first] != '#' && line[first] != '%') {
      return true;
    }
  }
  return false;
}

std::vector<std::string_view> firstDataLines(std::string_view text, std::size_t limit) {
  std::vector<std::string_view> lines;
  DataLines reader(text);
  std::string_view line;
  while (lines.size() < limit && reader.next(line)) {
    lines.push_back(line);
  }
  return lines;
}

Delimiter detectDelimiter(std::span<const std::string_view> lines) {
  constexpr std::array kCandidates = {Delimiter::kTab, Delimiter::kSemicolon, Delimiter::kComma,
                                      Delimiter::kSpaces};
  // A list of one column is the same by any delimiter.
  Delimiter best = Delimiter::kComma;
  std::size_t best_agreement = 0;
  for (const Delimiter candidate : kCandidates) {
    const std::size_t lines_agreeing = agreement(lines, candidate);
    if (lines_agreeing > best_agreement) {
      best = candidate;
      best_agreement = lines_agreeing;
    }
  }
  return best;
}

std::vector<std::string_view> cutAtLineEnds(std::string_view text, std::size_t bytes) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const std::size_t from = std::min(std::max<std::size_t>(bytes, 1), text.size()) - 1;
    const std::size_t stop = std::min(text.find('\n', from), text.size() - 1);
    pieces.push_back(text.substr(0, stop + 1));
    text.remove_prefix(stop + 1);
  }
  return pieces;
}

}  // namespace edgewise
