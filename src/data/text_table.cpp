#include "data/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "edgewise/util/text.h"

namespace edgewise {
namespace {

constexpr std::size_t kStudiedLines = 32;
// No table we can use is wider; keeps a file of separators from filling the memory with fields.
constexpr std::size_t kMaxColumns = std::size_t{1} << 20;

bool isNumber(const Field& field) { return parseReal(field.text).has_value(); }

bool isKnown(const Field& field, std::span<const std::string_view> names) {
  return !field.text.empty() && std::ranges::find(names, lowerCase(field.text)) != names.end();
}

// Whether the fields count 0, 1, 2, ... after at most one leading field without a name.
bool countsColumns(std::span<const Field> fields) {
  constexpr std::size_t kFewest = 4;
  if (!fields.empty() && fields.front().text.empty()) {
    fields = fields.subspan(1);
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (parseInteger(fields[i].text) != static_cast<std::int64_t>(i)) {
      return false;
    }
  }
  return fields.size() >= kFewest;
}

// Whether some column holds only numbers in the rows below the first one.
bool hasNumericColumn(std::span<const std::string_view> lines, const TableLayout& layout) {
  std::vector<bool> numeric(layout.column_count, true);
  std::vector<Field> fields(layout.column_count);
  std::size_t rows = 0;
  for (const std::string_view line : lines.subspan(1)) {
    const SplitResult split = splitFields(line, layout.delimiter, fields);
    if (!split.problem.empty() || split.count != layout.column_count) {
      continue;
    }
    ++rows;
    for (std::size_t column = 0; column < layout.column_count; ++column) {
      numeric[column] = numeric[column] && isNumber(fields[column]);
    }
  }
  return rows > 0 && std::ranges::find(numeric, true) != numeric.end();
}

bool looksLikeHeader(std::span<const Field> first, std::span<const std::string_view> lines,
                     const TableRules& rules, TableLayout& layout) {
  const auto known = std::ranges::count_if(
      first, [&](const Field& field) { return isKnown(field, rules.known_names); });
  if (known >= 2 || (rules.numbered_header && countsColumns(first))) {
    return true;
  }
  if (std::ranges::any_of(first, isNumber)) {
    return false;
  }
  if (hasNumericColumn(lines, layout)) {
    return true;
  }
  layout.header_is_a_guess = known == 1;
  return known == 1;
}

}  // namespace

TextFile::TextFile(std::filesystem::path path)
    : path_(std::move(path)), bytes_(readFile(path_)), text_(bytes_.view()) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  constexpr std::size_t kProbe = 4096;
  if (text_.starts_with(kByteOrderMark)) {
    text_.remove_prefix(kByteOrderMark.size());
  }
  if (text_.empty()) {
    throw DataError(FilePlace{path_}, "the file is empty");
  }
  if (text_.substr(0, kProbe).find('\0') != std::string_view::npos) {
    throw DataError(FilePlace{path_}, "is not a text file (it has zero bytes)",
                    "save it as plain text in UTF-8");
  }
}

FilePlace TextFile::placeOf(std::string_view where) const {
  const auto before = static_cast<std::size_t>(where.data() - text_.data());
  const auto lines_before = std::ranges::count(text_.substr(0, before), '\n');
  return {.path = path_, .line = static_cast<std::size_t>(lines_before) + 1};
}

DataError TextFile::errorAt(std::string_view where, const std::string& message,
                            std::string hint) const {
  return {placeOf(where), message, std::move(hint)};
}

TableLayout studyTable(const TextFile& file, const TableRules& rules) {
  const auto lines = firstDataLines(file.text(), kStudiedLines);
  if (lines.empty()) {
    throw DataError(FilePlace{file.path()}, "holds no rows, only comments or blank lines");
  }
  TableLayout layout;
  layout.delimiter = rules.delimiter == Delimiter::kAuto ? detectDelimiter(lines) : rules.delimiter;
  const std::string_view first = lines.front();
  layout.column_count = splitFields(first, layout.delimiter, {}).count;
  if (layout.column_count > kMaxColumns) {
    throw file.errorAt(
        first, fmt::format("{} columns; at most {} can be read", layout.column_count, kMaxColumns));
  }
  std::vector<Field> fields(layout.column_count);
  splitRow(file, layout, first, fields);
  const bool header =
      rules.header == HeaderRule::kYes ||
      (rules.header == HeaderRule::kAuto && looksLikeHeader(fields, lines, rules, layout));
  layout.body = file.text();
  if (header) {
    std::ranges::transform(fields, std::back_inserter(layout.names), fieldString);
    DataLines reader(file.text());
    std::string_view line;
    reader.next(line);
    layout.body = reader.rest();
    if (lines.size() == 1) {
      throw DataError(FilePlace{file.path()}, "holds a header but no rows");
    }
  }
  return layout;
}

void splitRow(const TextFile& file, const TableLayout& layout, std::string_view line,
              std::span<Field> fields) {
  const SplitResult split = splitFields(line, layout.delimiter, fields);
  if (!split.problem.empty()) {
    throw file.errorAt(line, std::string(split.problem),
                       "write a quote inside a field twice, and keep each row on one line");
  }
  if (split.count != layout.column_count) {
    throw file.errorAt(
        line, fmt::format("{} fields found, {} expected", split.count, layout.column_count),
        "every row needs as many fields as the first one; if the delimiter was guessed wrongly, "
        "give it");
  }
}

std::size_t findColumn(const TextFile& file, const TableLayout& layout, std::string_view wanted,
                       std::string_view option) {
  const auto exact = std::ranges::find(layout.names, wanted);
  if (exact != layout.names.end()) {
    return static_cast<std::size_t>(exact - layout.names.begin());
  }
  const auto by_case = std::ranges::find(layout.names, lowerCase(wanted), lowerCase);
  if (by_case != layout.names.end()) {
    return static_cast<std::size_t>(by_case - layout.names.begin());
  }
  if (const auto number = parseInteger(wanted)) {
    if (*number < 1 || static_cast<std::uint64_t>(*number) > layout.column_count) {
      throw ConfigError(fmt::format("{} is {}, but {} has columns 1 to {}", option, *number,
                                    file.path().string(), layout.column_count));
    }
    return static_cast<std::size_t>(*number) - 1;
  }
  if (layout.names.empty()) {
    throw ConfigError(fmt::format("{} is {}, but {} has no header that names its columns", option,
                                  shown(wanted), file.path().string()),
                      "give the column's number, counted from 1, or data.header=yes");
  }
  throw ConfigError(fmt::format("{} is {}, but {} has no column of that name", option,
                                shown(wanted), file.path().string()),
                    suggestName(wanted, layout.names));
}

std::optional<std::size_t> findKnownColumn(const TableLayout& layout,
                                           std::span<const std::string_view> names) {
  const auto found = std::ranges::find_if(layout.names, [&](const std::string& name) {
    return std::ranges::find(names, lowerCase(name)) != names.end();
  });
  if (found == layout.names.end()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - layout.names.begin());
}

std::string columnTitle(const TableLayout& layout, std::size_t column) {
  return layout.names.empty() ? std::to_string(column + 1) : shown(layout.names[column]);
}

std::string shown(std::string_view text) {
  constexpr std::size_t kLimit = 60;
  std::size_t stop = std::min(text.size(), kLimit);
  // Do not cut through a UTF-8 character.
  while (stop > 0 && stop < text.size() &&
         (static_cast<unsigned char>(text[stop]) & 0xC0U) == 0x80U) {
    --stop;
  }
  std::string copy(text.substr(0, stop));
  // A damaged file must not steer the terminal that shows the message.
  std::ranges::replace_if(
      copy, [](char letter) { return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F; },
      '?');
  return fmt::format("'{}{}'", copy, stop < text.size() ? "..." : "");
}

}  // namespace edgewise
