#include "edgewise/data/lightgcn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "edgewise/util/error.h"
#include "edgewise/util/file.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

// One file's interactions as edge keys (user high, item low), in the order of the file.
struct Interactions {
  std::vector<std::uint64_t> keys;
  // One more than the largest number seen, users without items included.
  std::uint64_t users = 0;
  std::uint64_t items = 0;
};

bool isBlank(char letter) { return letter == ' ' || letter == '\t' || letter == '\r'; }
bool isDigit(char letter) { return letter >= '0' && letter <= '9'; }

// Walks the bytes of one file, keeping the place for errors.
class LineParser {
 public:
  LineParser(std::string_view bytes, const std::filesystem::path& path)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()), path_(path) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (bytes.starts_with(kByteOrderMark)) {
      at_ += kByteOrderMark.size();
    }
  }

  [[nodiscard]] Interactions parse() {
    Interactions found;
    // A number and its blank take two bytes at least, so this never asks for more than the file is
    // worth; typical files need a third of it.
    found.keys.reserve(static_cast<std::size_t>(end_ - at_) / 5);
    for (; at_ != end_; ++line_) {
      parseLine(found);
    }
    return found;
  }

 private:
  void parseLine(Interactions& found) {
    skipBlanks();
    if (atLineEnd()) {
      nextLine();
      return;
    }
    const std::uint64_t user = number("user");
    found.users = std::max(found.users, user + 1);
    for (skipBlanks(); !atLineEnd(); skipBlanks()) {
      const std::uint64_t item = number("item");
      found.items = std::max(found.items, item + 1);
      found.keys.push_back(user << 32 | item);
    }
    nextLine();
  }

  void skipBlanks() {
    while (at_ != end_ && isBlank(*at_)) {
      ++at_;
    }
  }
  [[nodiscard]] bool atLineEnd() const { return at_ == end_ || *at_ == '\n'; }
  void nextLine() {
    if (at_ != end_) {
      ++at_;
    }
  }

  std::uint64_t number(std::string_view what) {
    const char* const start = at_;
    std::uint64_t value = 0;
    while (at_ != end_ && isDigit(*at_) && value < kMaxNodes) {
      value = value * 10 + static_cast<std::uint64_t>(*at_ - '0');
      ++at_;
    }
    const bool whole = at_ != start && (atLineEnd() || isBlank(*at_));
    if (!whole || value >= kMaxNodes) {
      fail(start, what);
    }
    return value;
  }

  [[noreturn]] void fail(const char* start, std::string_view what) const {
    const char* stop = start;
    while (stop != end_ && *stop != '\n' && !isBlank(*stop)) {
      ++stop;
    }
    const std::string_view token(start, static_cast<std::size_t>(stop - start));
    throw DataError(FilePlace{path_, line_},
                    fmt::format("{} '{}' {}", what, shown(token), reason(token)),
                    "each line is a user's number followed by the numbers of that user's items");
  }

  static std::string reason(std::string_view token) {
    const std::string_view digits = token.starts_with('-') ? token.substr(1) : token;
    if (digits.empty() || !std::ranges::all_of(digits, isDigit)) {
      return "is not a number";
    }
    return token.starts_with('-') ? std::string("is negative")
                                  : fmt::format("is too large (the limit is {})", kMaxNodes - 1);
  }

  // Short and printable, whatever the file holds.
  static std::string shown(std::string_view token) {
    constexpr std::size_t kMost = 24;
    std::string text(token.substr(0, kMost));
    std::ranges::replace_if(text, [](char letter) { return letter < ' ' || letter > '~'; }, '?');
    return token.size() > kMost ? text + "..." : text;
  }

  const char* at_;
  const char* end_;
  const std::filesystem::path& path_;
  std::size_t line_ = 1;
};

Interactions readInteractions(const std::filesystem::path& folder, std::string_view file) {
  const auto path = findPlainOrGz(folder / file);
  if (!path) {
    throw DataError(FilePlace{folder / file}, "no such file (nor with .gz)",
                    "a recommendation dataset is a folder with train.txt and test.txt");
  }
  const FileBytes bytes = readFile(*path);
  return LineParser(bytes.view(), *path).parse();
}

std::uint64_t userOf(std::uint64_t key) { return key >> 32; }

std::vector<std::uint64_t> sortedKeys(std::vector<std::uint64_t> keys) {
  // Published files list users in ascending order; then only each user's few items need sorting.
  if (!std::ranges::is_sorted(keys, {}, userOf)) {
    std::ranges::sort(keys);
    return keys;
  }
  for (auto first = keys.begin(); first != keys.end();) {
    const auto last = std::find_if(
        first, keys.end(), [&](std::uint64_t key) { return userOf(key) != userOf(*first); });
    std::sort(first, last);
    first = last;
  }
  return keys;
}

// Drops all but the first of equal keys. `sorted` is `keys` in order and becomes free of repeats
// too. Returns how many went.
std::size_t dropRepeats(std::vector<std::uint64_t>& keys, std::vector<std::uint64_t>& sorted) {
  std::vector<std::uint64_t> repeated;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i] == sorted[i - 1] && (repeated.empty() || repeated.back() != sorted[i])) {
      repeated.push_back(sorted[i]);
    }
  }
  if (repeated.empty()) {
    return 0;
  }
  std::vector<std::uint8_t> met(repeated.size(), 0);
  std::size_t kept = 0;
  for (const std::uint64_t key : keys) {
    const auto found = std::ranges::lower_bound(repeated, key);
    const bool several = found != repeated.end() && *found == key;
    const auto place = static_cast<std::size_t>(found - repeated.begin());
    if (!several || std::exchange(met[place], std::uint8_t{1}) == 0) {
      keys[kept++] = key;
    }
  }
  const std::size_t dropped = keys.size() - kept;
  keys.resize(kept);
  const auto rest = std::ranges::unique(sorted);
  sorted.erase(rest.begin(), rest.end());
  return dropped;
}

// Drops from test what train has. Both sorted lists are free of repeats.
std::size_t dropOverlap(std::vector<std::uint64_t>& test,
                        const std::vector<std::uint64_t>& sorted_train,
                        const std::vector<std::uint64_t>& sorted_test) {
  std::vector<std::uint64_t> shared;
  std::ranges::set_intersection(sorted_train, sorted_test, std::back_inserter(shared));
  if (!shared.empty()) {
    std::erase_if(test, [&](std::uint64_t key) { return std::ranges::binary_search(shared, key); });
  }
  return shared.size();
}

std::size_t distinctUsers(const std::vector<std::uint64_t>& sorted) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    count += i == 0 || userOf(sorted[i]) != userOf(sorted[i - 1]) ? 1 : 0;
  }
  return count;
}

std::size_t distinctItems(const Interactions& interactions) {
  // A table of marks is fastest, but its size comes from the file: only when the rows pay for it.
  constexpr std::uint64_t kMarksPerRow = 16;
  if (interactions.items <= kMarksPerRow * interactions.keys.size()) {
    std::vector<std::uint8_t> seen(interactions.items, 0);
    std::size_t count = 0;
    for (const std::uint64_t key : interactions.keys) {
      count += std::exchange(seen[static_cast<std::uint32_t>(key)], std::uint8_t{1}) == 0 ? 1 : 0;
    }
    return count;
  }
  std::vector<std::uint32_t> items(interactions.keys.size());
  std::ranges::transform(interactions.keys, items.begin(),
                         [](std::uint64_t key) { return static_cast<std::uint32_t>(key); });
  std::ranges::sort(items);
  return static_cast<std::size_t>(std::ranges::unique(items).begin() - items.begin());
}

EdgeTable tableOf(const std::vector<std::uint64_t>& keys) {
  EdgeTable table;
  table.edges.resize(keys.size());
  std::ranges::transform(keys, table.edges.begin(), edgeFromKey);
  return table;
}

class Notes {
 public:
  void add(std::uint64_t count, std::string_view what) {
    if (count > 0) {
      lines_.push_back(fmt::format("{} {}", groupedCount(count), what));
    }
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(lines_); }

 private:
  std::vector<std::string> lines_;
};

std::uint64_t beyond(std::uint64_t count, std::uint64_t limit) {
  return count > limit ? count - limit : 0;
}

}  // namespace

DatasetParts readLightGcn(const std::filesystem::path& folder, const std::string& name) {
  Interactions train = readInteractions(folder, "train.txt");
  Interactions test = readInteractions(folder, "test.txt");
  if (train.keys.empty()) {
    throw DataError(FilePlace{folder / "train.txt"}, "holds no interactions");
  }
  const std::uint64_t users = std::max(train.users, test.users);
  const std::uint64_t items = std::max(train.items, test.items);
  if (users + items > kMaxNodes) {
    throw DataError(
        FilePlace{folder},
        fmt::format("{} users and {} items are more than {} nodes", users, items, kMaxNodes),
        "number users and items from 0 without large gaps");
  }

  Notes notes;
  std::vector<std::uint64_t> sorted_train = sortedKeys(train.keys);
  std::vector<std::uint64_t> sorted_test = sortedKeys(test.keys);
  notes.add(dropRepeats(train.keys, sorted_train), "repeated interactions dropped from train.txt");
  notes.add(dropRepeats(test.keys, sorted_test), "repeated interactions dropped from test.txt");
  notes.add(dropOverlap(test.keys, sorted_train, sorted_test),
            "interactions of test.txt stand in train.txt too and are dropped from the test");
  notes.add(users - distinctUsers(sorted_train), "users have no training items");
  notes.add(items - distinctItems(train), "items are never seen in training");
  notes.add(beyond(test.users, train.users), "users are numbered beyond the last one of train.txt");
  notes.add(beyond(test.items, train.items), "items are numbered beyond the last one of train.txt");

  DatasetParts parts;
  parts.name = name;
  parts.official.emplace();
  parts.official->train = tableOf(train.keys);
  parts.official->test = tableOf(test.keys);
  parts.raw.table = parts.official->train;
  const std::vector<Edge>& test_edges = parts.official->test.edges;
  parts.raw.table.edges.insert(parts.raw.table.edges.end(), test_edges.begin(), test_edges.end());
  parts.raw.ids = IdMap::numbers(users);
  parts.raw.right_ids = IdMap::numbers(items);
  parts.raw.notes = notes.take();
  if (test_edges.empty()) {
    parts.raw.notes.emplace_back("the test has no interactions");
  }
  return parts;
}

}  // namespace edgewise
