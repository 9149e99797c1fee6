#include "edgewise/report/html.h"

#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>

namespace edgewise {
namespace {

constexpr std::string_view kUnreadable = "\xEF\xBF\xBD";  // U+FFFD

unsigned char byteAt(std::string_view text, std::size_t position) {
  return position < text.size() ? static_cast<unsigned char>(text[position]) : 0;
}

bool continues(unsigned char byte) { return (byte & 0xC0U) == 0x80U; }

// The length of the UTF-8 character that begins here, 0 for none: no overlong forms, no surrogates,
// nothing above U+10FFFF.
std::size_t characterLength(std::string_view text, std::size_t at) {
  const unsigned char first = byteAt(text, at);
  const unsigned char second = byteAt(text, at + 1);
  if (first < 0x80U) {
    return 1;
  }
  if (first >= 0xC2U && first <= 0xDFU) {
    return continues(second) ? 2 : 0;
  }
  const bool tail = continues(second) && continues(byteAt(text, at + 2));
  if (first >= 0xE0U && first <= 0xEFU) {
    const bool overlong = first == 0xE0U && second < 0xA0U;
    const bool surrogate = first == 0xEDU && second >= 0xA0U;
    return tail && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0U && first <= 0xF4U) {
    const bool overlong = first == 0xF0U && second < 0x90U;
    const bool beyond = first == 0xF4U && second >= 0x90U;
    return tail && continues(byteAt(text, at + 3)) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

void addEscaped(char letter, std::string& result) {
  switch (letter) {
    case '&':
      result += "&amp;";
      return;
    case '<':
      result += "&lt;";
      return;
    case '>':
      result += "&gt;";
      return;
    case '"':
      result += "&quot;";
      return;
    case '\'':
      result += "&#39;";
      return;
    default:
      break;
  }
  const auto code = static_cast<unsigned char>(letter);
  const bool blank = letter == '\n' || letter == '\t';
  result += (code < 0x20U && !blank) || code == 0x7FU ? kUnreadable : std::string_view(&letter, 1);
}

std::string cellHtml(const HtmlTable::Cell& cell, std::string_view tag) {
  const std::string_view name = tag.substr(0, tag.find(' '));
  return cell.css_class.empty() ? fmt::format("<{}>{}</{}>", tag, cell.html, name)
                                : fmt::format("<{} class=\"{}\">{}</{}>", tag,
                                              escapeHtml(cell.css_class), cell.html, name);
}

}  // namespace

std::string escapeHtml(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = characterLength(text, at);
    if (length == 1) {
      addEscaped(text[at], result);
    } else {
      result += length == 0 ? kUnreadable : text.substr(at, length);
    }
    at += length == 0 ? 1 : length;
  }
  return result;
}

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
