#include <fmt/format.h>

#include "edgewise/report/figure.h"
#include "edgewise/util/markup.h"

namespace edgewise {
namespace {

constexpr std::string_view kStyle =
    "body{font-family:Helvetica,Arial,sans-serif;color:#222;max-width:72rem;margin:2rem "
    "auto;padding:0 1rem}\n"
    "figure{margin:1rem 0;overflow-x:auto}\nsvg{max-width:100%;height:auto}\n"
    "table{border-collapse:collapse;font-size:.9rem;display:block;overflow-x:auto}\n"
    "th,td{padding:.25rem .7rem;border-bottom:1px solid #ddd;text-align:left;white-space:nowrap}\n"
    ".number{text-align:right;font-variant-numeric:tabular-nums}\n"
    "p{max-width:48rem;line-height:1.45}\n";

}  // namespace

std::string figureHtml(const FigurePage& page) {
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n"
      "<style>\n{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
      escapeMarkup(page.title), kStyle);
  for (const std::string& drawing : page.drawings) {
    html += "<figure>\n" + drawing + "</figure>\n";
  }
  for (const Grid& table : page.tables) {
    html += gridHtml(table);
  }
  for (const std::string& remark : page.remarks) {
    html += fmt::format("<p>{}</p>\n", escapeMarkup(remark));
  }
  return html + "</body>\n</html>\n";
}

}  // namespace edgewise
