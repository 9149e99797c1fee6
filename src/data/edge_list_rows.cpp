#include "data/edge_list_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "data/text_numbers.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

bool isDigit(char letter) { return letter >= '0' && letter <= '9'; }

bool isInteger(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, isDigit);
}

// An integer with a sign is no id, so only digits count.
std::optional<std::uint64_t> parseNodeNumber(std::string_view text) {
  std::uint64_t value = 0;
  const char* begin = text.data();
  const char* end = begin + text.size();
  const auto [stop, failure] = std::from_chars(begin, end, value);
  if (text.empty() || failure != std::errc() || stop != end) {
    return std::nullopt;
  }
  return value;
}

class EdgeRowParser {
 public:
  EdgeRowParser(const TextFile& file, const EdgeRowPlan& plan, LabelsFound& labels_found)
      : file_(file), plan_(plan), labels_found_(labels_found), fields_(plan.layout.column_count) {
    const EdgeColumns& columns = plan.columns;
    two_numbers_ = plan.layout.column_count == 2 && columns.source == 0 && columns.target == 1 &&
                   !plan.left.labels && !plan.right.labels;
  }

  EdgeChunk run(std::string_view piece) {
    // A short row is "0,1\n"; typical ones are three times as long.
    constexpr std::size_t kTypicalRow = 12;
    chunk_.edges.reserve(piece.size() / kTypicalRow);
    DataLines lines(piece);
    std::string_view rest = piece;
    std::string_view line;
    while (!stopped_) {
      if (two_numbers_) {
        rest = skipPlainRows(rest);
        lines = DataLines(rest);
      }
      if (!lines.next(line)) {
        break;
      }
      parseRow(line);
      rest = lines.rest();
    }
    chunk_.left_labels.close();
    chunk_.right_labels.close();
    return std::move(chunk_);
  }

 private:
  struct PlainRow {
    std::uint32_t source;
    std::uint32_t target;
    const char* next;
  };

  // Reads the rows that are digits, one separator, digits, line end: nearly all of a large list.
  // Returns the text from the first row that is anything else.
  std::string_view skipPlainRows(std::string_view text) {
    const char* at = text.data();
    const char* end = at + text.size();
    while (const auto row = plainRow(at, end)) {
      if (row->source >= plan_.left.limit || row->target >= plan_.right.limit) {
        break;
      }
      chunk_.left_max = std::max(chunk_.left_max, row->source);
      chunk_.right_max = std::max(chunk_.right_max, row->target);
      chunk_.edges.push_back(makeEdge(row->source, row->target));
      at = row->next;
    }
    return {at, static_cast<std::size_t>(end - at)};
  }

  [[nodiscard]] std::optional<PlainRow> plainRow(const char* at, const char* end) const {
    std::uint32_t source = 0;
    std::uint32_t target = 0;
    at = plainNumber(at, end, source);
    if (at == nullptr || at == end || !isSeparator(*at)) {
      return std::nullopt;
    }
    at = plainNumber(at + 1, end, target);
    if (at == nullptr) {
      return std::nullopt;
    }
    if (at != end && *at == '\r') {
      ++at;
    }
    if (at == end || *at != '\n') {
      return std::nullopt;
    }
    return PlainRow{.source = source, .target = target, .next = at + 1};
  }

  // One to nine digits (which cannot overflow) without a leading zero; null for anything else.
  static const char* plainNumber(const char* at, const char* end, std::uint32_t& value) {
    constexpr std::ptrdiff_t kSafeDigits = 9;
    const char* begin = at;
    const char* stop = end - at > kSafeDigits ? at + kSafeDigits : end;
    std::uint32_t number = 0;
    while (at < stop && isDigit(*at)) {
      number = number * 10 + static_cast<std::uint32_t>(*at - '0');
      ++at;
    }
    const bool plain =
        at > begin && (at == end || !isDigit(*at)) && (*begin != '0' || at - begin == 1);
    value = number;
    return plain ? at : nullptr;
  }

  [[nodiscard]] bool isSeparator(char letter) const {
    switch (plan_.layout.delimiter) {
      case Delimiter::kComma:
        return letter == ',';
      case Delimiter::kTab:
        return letter == '\t';
      case Delimiter::kSemicolon:
        return letter == ';';
      default:
        return letter == ' ' || letter == '\t';
    }
  }

  void parseRow(std::string_view line) {
    splitRow(file_, plan_.layout, line, fields_);
    const std::uint32_t source = parseId(plan_.columns.source, "source", plan_.left, true);
    const std::uint32_t target =
        parseId(plan_.columns.target, "target", plan_.right, !plan_.bipartite);
    if (stopped_) {
      return;
    }
    chunk_.edges.push_back(makeEdge(source, target));
    if (plan_.columns.weight) {
      chunk_.weight.push_back(parseWeight(fields_[*plan_.columns.weight]));
    }
    if (plan_.columns.time) {
      chunk_.time.push_back(parseTime(fields_[*plan_.columns.time]));
    }
  }

  std::uint32_t parseId(std::size_t column, std::string_view role, const IdSide& side, bool left) {
    const Field& field = fields_[column];
    if (field.text.empty()) {
      throw file_.errorAt(field.text, fmt::format("the {} id is empty", role));
    }
    return side.labels ? addLabel(field, left) : parseNumber(field, role, side, left);
  }

  std::uint32_t addLabel(const Field& field, bool left) {
    std::string_view label = field.text;
    if (field.doubled_quotes) {
      label = chunk_.unescaped.emplace_back(fieldString(field));
    }
    LabelIndex& labels = left ? chunk_.left_labels : chunk_.right_labels;
    const auto [number, is_new] = labels.add(label);
    if (is_new && !isInteger(label)) {
      (left ? chunk_.left_all_integers : chunk_.right_all_integers) = false;
    }
    return number;
  }

  std::uint32_t parseNumber(const Field& field, std::string_view role, const IdSide& side,
                            bool left) {
    const auto number = parseNodeNumber(field.text);
    const bool padded = field.text.size() > 1 && field.text.front() == '0';
    if (side.may_turn_to_labels && (!number || *number >= side.limit || padded)) {
      (left ? labels_found_.left : labels_found_.right).store(true, std::memory_order_relaxed);
      stopped_ = true;
      return 0;
    }
    if (!number && !isInteger(field.text)) {
      throw file_.errorAt(field.text,
                          fmt::format("the {} id {} is not a node number", role, shown(field.text)),
                          "node numbers are 0, 1, 2, ...; data.ids=label takes any text");
    }
    if (!number || *number >= side.limit) {
      throw file_.errorAt(
          field.text,
          fmt::format("{} id out of range: {} is not below {}", role, field.text, side.limit),
          side.limit_is_given ? "give a larger node count, or check the ids"
                              : "data.ids=label takes numbers of any size");
    }
    std::uint32_t& largest = left ? chunk_.left_max : chunk_.right_max;
    largest = std::max(largest, static_cast<std::uint32_t>(*number));
    return static_cast<std::uint32_t>(*number);
  }

  [[nodiscard]] float parseWeight(const Field& field) const {
    const auto weight = parseFiniteFloat(field.text);
    if (!weight) {
      throw file_.errorAt(field.text,
                          fmt::format("weight {} {}", shown(field.text), whyNotFinite(field.text)),
                          "data.weight_column=none reads the edges without weights");
    }
    if (*weight < 0) {
      throw file_.errorAt(field.text, fmt::format("weight {} is negative", field.text),
                          "weights must be 0 or more");
    }
    return *weight;
  }

  [[nodiscard]] double parseTime(const Field& field) const {
    const auto time = plan_.dates ? parseIsoDate(field.text) : parseFiniteDouble(field.text);
    if (!time) {
      throw file_.errorAt(
          field.text,
          plan_.dates ? fmt::format("time {} is not a date as on the first row", shown(field.text))
                      : fmt::format("time {} {}", shown(field.text), whyNotFinite(field.text)),
          "times are numbers or dates like 2020-01-31; data.time_column=none leaves them out");
    }
    return *time;
  }

  const TextFile& file_;
  const EdgeRowPlan& plan_;
  LabelsFound& labels_found_;
  std::vector<Field> fields_;
  EdgeChunk chunk_;
  bool two_numbers_ = false;
  bool stopped_ = false;
};

}  // namespace

EdgeChunk parseEdgeRows(const TextFile& file, const EdgeRowPlan& plan, std::string_view piece,
                        LabelsFound& labels_found) {
  return EdgeRowParser(file, plan, labels_found).run(piece);
}

}  // namespace edgewise
