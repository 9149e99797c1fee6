#include "edgewise/report/grid.h"

#include <fmt/format.h>

#include "edgewise/util/markup.h"

namespace edgewise {
namespace {

std::string_view cellAt(const std::vector<std::string>& row, std::size_t column) {
  return column < row.size() ? std::string_view(row[column]) : std::string_view();
}

std::string markdownRow(const std::vector<std::string>& row, std::size_t columns) {
  std::string line = "|";
  for (std::size_t column = 0; column < columns; ++column) {
    line += ' ';
    for (const char letter : cellAt(row, column)) {
      line += letter == '|' ? "\\|" : std::string(1, letter);
    }
    line += " |";
  }
  return line + "\n";
}

}  // namespace

TextTable gridText(const Grid& grid) {
  std::vector<TextTable::Column> columns;
  columns.reserve(grid.head.size());
  for (const std::string& title : grid.head) {
    columns.push_back({title, columns.size() < grid.labels ? Align::kLeft : Align::kRight});
  }
  TextTable table(std::move(columns));
  for (const std::vector<std::string>& row : grid.rows) {
    table.addRow({row.begin(), row.end()});
  }
  return table;
}

std::string gridMarkdown(const Grid& grid) {
  std::string text = markdownRow(grid.head, grid.head.size());
  text += markdownRow(std::vector<std::string>(grid.head.size(), "---"), grid.head.size());
  for (const std::vector<std::string>& row : grid.rows) {
    text += markdownRow(row, grid.head.size());
  }
  return text;
}

std::string gridHtml(const Grid& grid) {
  const auto row_html = [&](const std::vector<std::string>& row, const char* element) {
    std::string text = "<tr>";
    for (std::size_t column = 0; column < grid.head.size(); ++column) {
      text +=
          fmt::format("<{0}{1}>{2}</{0}>", element, column < grid.labels ? "" : " class=\"number\"",
                      escapeMarkup(cellAt(row, column)));
    }
    return text + "</tr>\n";
  };
  std::string text = "<table>\n<thead>\n" + row_html(grid.head, "th") + "</thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : grid.rows) {
    text += row_html(row, "td");
  }
  return text + "</tbody>\n</table>\n";
}

}  // namespace edgewise
