#include "edgewise/report/html.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace edgewise {
namespace {

std::string cellHtml(const HtmlTable::Cell& cell, std::string_view tag) {
  const std::string_view name = tag.substr(0, tag.find(' '));
  return cell.css_class.empty() ? fmt::format("<{}>{}</{}>", tag, cell.html, name)
                                : fmt::format("<{} class=\"{}\">{}</{}>", tag,
                                              escapeMarkup(cell.css_class), cell.html, name);
}

}  // namespace

std::string scriptJson(const nlohmann::ordered_json& value) {
  const std::string text =
      value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string result;
  result.reserve(text.size());
  for (const char letter : text) {
    // Only ever inside a JSON string, where an escape means the same.
    if (letter == '<' || letter == '>' || letter == '&') {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(letter));
    } else {
      result += letter;
    }
  }
  return result;
}

HtmlTable::Cell HtmlTable::Cell::classed(std::string_view text, std::string css_class) {
  Cell cell(text);
  cell.css_class = std::move(css_class);
  return cell;
}

HtmlTable::Cell HtmlTable::Cell::raw(std::string html, std::string css_class) {
  Cell cell("");
  cell.html = std::move(html);
  cell.css_class = std::move(css_class);
  return cell;
}

std::string HtmlTable::render(std::string_view css_class) const {
  std::string html = fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\">\n"
      "<table{1}><caption>{0}</caption>\n<thead><tr>",
      caption_, css_class.empty() ? "" : fmt::format(" class=\"{}\"", css_class));
  for (const Cell& cell : head_) {
    html += cellHtml(cell, "th scope=\"col\"");
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<Cell>& row : rows_) {
    html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      html += cellHtml(row[i], i == 0 ? "th scope=\"row\"" : "td");
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

}  // namespace edgewise
