// Tables for people: aligned columns in plain text, a bold head on a terminal.
#pragma once

#include <string>
#include <vector>

#include "edgewise/report/terminal.h"

namespace edgewise {

enum class Align { kLeft, kRight };

class TextTable {
 public:
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };
  struct Cell {
    std::string text;
    Ink ink = Ink::kPlain;
    Cell(std::string content, Ink with = Ink::kPlain) : text(std::move(content)), ink(with) {}
    Cell(const char* content) : text(content) {}
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // Missing cells at the end stay empty; more cells than columns is a broken invariant.
  void addRow(std::vector<Cell> cells);
  // Lines end with a newline. The last column of a table wider than the terminal is wrapped at
  // words.
  [[nodiscard]] std::string render(const TerminalStyle& style) const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths(const TerminalStyle& style) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// Columns a terminal needs for UTF-8 text (one per code point).
[[nodiscard]] std::size_t displayWidth(std::string_view text);
// Cut at blanks into lines of at most `width` columns; longer words stand alone.
[[nodiscard]] std::vector<std::string> wrapWords(std::string_view text, std::size_t width);

}  // namespace edgewise
