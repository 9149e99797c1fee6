// A table of texts that is shown in several places: on a terminal, in Markdown and in HTML.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "edgewise/report/text_table.h"

namespace edgewise {

struct Grid {
  std::vector<std::string> head = {};
  // As long as the head, or shorter: missing cells are empty.
  std::vector<std::vector<std::string>> rows = {};
  // So many columns name the row; the others hold numbers and stand to the right.
  std::size_t labels = 1;
};

[[nodiscard]] TextTable gridText(const Grid& grid);
// Lines end with a newline; a '|' in a cell is escaped.
[[nodiscard]] std::string gridMarkdown(const Grid& grid);
// A <table> element.
[[nodiscard]] std::string gridHtml(const Grid& grid);

}  // namespace edgewise
