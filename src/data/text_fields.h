// Lines and fields of text tables, as views into the file's bytes. Nothing is copied, so that a
// reader can walk hundreds of megabytes; only a field with doubled quotes needs a string of its
// own.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "edgewise/data/text_options.h"

namespace edgewise {

// One field without the quotes and blanks around it.
struct Field {
  std::string_view text;
  // `text` still has its quotes doubled: see `fieldString`.
  bool doubled_quotes = false;
};

[[nodiscard]] std::string fieldString(const Field& field);

// What splitting a line found: how many fields, or what is wrong with its quotes.
struct SplitResult {
  std::size_t count = 0;
  std::string_view problem;
};

// Splits `line` (without its line end) and stores the first fields.size() fields; further ones are
// only counted, so that a line of a million separators costs no memory. `delimiter` must be a
// definite one.
[[nodiscard]] SplitResult splitFields(std::string_view line, Delimiter delimiter,
                                      std::span<Field> fields);

// Walks the lines that hold data: without line ends, blank lines and comments (# or % first).
class DataLines {
 public:
  explicit DataLines(std::string_view text) : rest_(text) {}
  // False at the end of the text.
  bool next(std::string_view& line);
  // What follows the line returned last.
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

// The first `limit` data lines.
[[nodiscard]] std::vector<std::string_view> firstDataLines(std::string_view text,
                                                           std::size_t limit);

// The delimiter by which most of the lines have the same number (two at least) of fields. Ties go
// to tab, semicolon, comma, spaces in this order: commas stand inside fields more often than
// semicolons do, spaces most often of all.
[[nodiscard]] Delimiter detectDelimiter(std::span<const std::string_view> lines);

// Cuts text into consecutive pieces of about `bytes` that end at line ends.
[[nodiscard]] std::vector<std::string_view> cutAtLineEnds(std::string_view text, std::size_t bytes);

}  // namespace edgewise
