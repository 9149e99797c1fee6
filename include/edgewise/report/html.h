// Pieces of HTML, beside escapeMarkup.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "edgewise/util/markup.h"

namespace edgewise {

// JSON as content of a script element: nothing in it can end the element or start a comment. Bytes
// that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string scriptJson(const nlohmann::ordered_json& value);

// A table with a caption and headers for every row and column. Cells hold plain text, which is
// escaped here, unless they are made by `html`.
class HtmlTable {
 public:
  struct Cell {
    std::string html;
    // Of the cell's element.
    std::string css_class;
    Cell(std::string_view text) : html(escapeMarkup(text)) {}
    Cell(const std::string& text) : html(escapeMarkup(text)) {}
    Cell(const char* text) : html(escapeMarkup(text)) {}
    // Text in an element's class, such as "best".
    static Cell classed(std::string_view text, std::string css_class);
    // HTML as it stands.
    static Cell raw(std::string html, std::string css_class = {});
  };

  // The first column holds the names of the rows.
  HtmlTable(std::string_view caption, std::vector<Cell> head)
      : caption_(escapeMarkup(caption)), head_(std::move(head)) {}
  void addRow(std::vector<Cell> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  // Within a box that scrolls sideways where the page is narrow. `css_class` is the table's.
  [[nodiscard]] std::string render(std::string_view css_class = {}) const;

 private:
  std::string caption_;
  std::vector<Cell> head_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace edgewise
