// A text file opened as a table: its bytes, what its first rows say about delimiter, header and
// columns, and errors that name file and line. Shared by the readers of edges, features and labels.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/text_fields.h"
#include "edgewise/data/text_options.h"
#include "edgewise/util/error.h"
#include "edgewise/util/file.h"

namespace edgewise {

// The text of a file (unpacked, without byte order mark).
class TextFile {
 public:
  // Throws DataError when the file cannot be read, is empty, or holds zero bytes (UTF-16, binary).
  explicit TextFile(std::filesystem::path path);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string_view text() const { return text_; }
  // The line on which `where`, a part of text(), begins. Counts from the start of the file:
  // for errors, so that reading need not count lines.
  [[nodiscard]] FilePlace placeOf(std::string_view where) const;
  [[nodiscard]] DataError errorAt(std::string_view where, const std::string& message,
                                  std::string hint = {}) const;

 private:
  std::filesystem::path path_;
  FileBytes bytes_;
  std::string_view text_;
};

struct TableRules {
  Delimiter delimiter = Delimiter::kAuto;
  HeaderRule header = HeaderRule::kAuto;
  // Lower-case column names by which a header is known.
  std::span<const std::string_view> known_names;
  // Columns may be named by their numbers: 0,1,2,3,... (four at least) is a header too.
  bool numbered_header = false;
};

// How the rows of a table look.
struct TableLayout {
  Delimiter delimiter = Delimiter::kComma;
  std::size_t column_count = 0;
  // Empty without a header.
  std::vector<std::string> names;
  // The only sign of a header was a single known name in a table of text.
  bool header_is_a_guess = false;
  // From the first row of data on.
  std::string_view body;
};

// Studies the first rows. By `HeaderRule::kAuto` the first row is a header when it holds two known
// names, or no number while some column below it holds only numbers, or one known name and no
// number; see also `numbered_header`. Throws DataError for a file without rows.
[[nodiscard]] TableLayout studyTable(const TextFile& file, const TableRules& rules);

// Splits one row into fields.size() == column_count fields. Throws DataError when it has more or
// fewer, or broken quotes.
void splitRow(const TextFile& file, const TableLayout& layout, std::string_view line,
              std::span<Field> fields);

// The 0-based column that `wanted` names: a header name (first as written, then whatever its case)
// or a 1-based number. `option` names the option in errors. Throws ConfigError for an unknown one.
[[nodiscard]] std::size_t findColumn(const TextFile& file, const TableLayout& layout,
                                     std::string_view wanted, std::string_view option);

// The first column whose header name is, whatever its case, among `names`.
[[nodiscard]] std::optional<std::size_t> findKnownColumn(const TableLayout& layout,
                                                         std::span<const std::string_view> names);

// "'name'" or "3", as a user may write it in an option.
[[nodiscard]] std::string columnTitle(const TableLayout& layout, std::size_t column);

// A field for an error message: quoted, and cut when it is long.
[[nodiscard]] std::string shown(std::string_view text);

}  // namespace edgewise
