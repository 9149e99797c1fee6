#include "edgewise/report/svg_canvas.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "edgewise/util/markup.h"

namespace edgewise {
namespace {

std::string_view anchorName(SvgAnchor anchor) {
  switch (anchor) {
    case SvgAnchor::kMiddle:
      return "middle";
    case SvgAnchor::kEnd:
      return "end";
    case SvgAnchor::kStart:
      break;
  }
  return "start";
}

}  // namespace

SvgCanvas::SvgCanvas(double width, double height, std::string_view title) {
  body_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" font-family=\"Helvetica, Arial, "
      "sans-serif\">\n<title>{2}</title>\n",
      width, height, escapeMarkup(title));
  rectangle({0, 0}, width, height, "#ffffff");
}

void SvgCanvas::rectangle(SvgPoint corner, double width, double height, std::string_view fill) {
  body_ += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n",
      corner.x, corner.y, width, height, fill);
}

void SvgCanvas::line(SvgPoint from, SvgPoint to, std::string_view colour, double width) {
  body_ += fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
      "stroke-width=\"{:.1f}\"/>\n",
      from.x, from.y, to.x, to.y, colour, width);
}

void SvgCanvas::path(std::span<const SvgPoint> points, std::string_view colour, double width) {
  if (points.empty()) {
    return;
  }
  body_ += "<polyline points=\"";
  for (const SvgPoint& point : points) {
    body_ += fmt::format("{:.1f},{:.1f} ", point.x, point.y);
  }
  body_.pop_back();
  body_ += fmt::format("\" fill=\"none\" stroke=\"{}\" stroke-width=\"{:.1f}\"/>\n", colour, width);
}

void SvgCanvas::text(SvgPoint at, std::string_view words, const SvgTextStyle& style) {
  const std::string turn =
      style.turned == 0
          ? ""
          : fmt::format(" transform=\"rotate({:.0f} {:.1f} {:.1f})\"", style.turned, at.x, at.y);
  body_ += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:.0f}\" text-anchor=\"{}\" fill=\"{}\"{}{}>{}"
      "</text>\n",
      at.x, at.y, style.size, anchorName(style.anchor), style.colour,
      style.bold ? " font-weight=\"bold\"" : "", turn, escapeMarkup(words));
}

std::string shadeOf(double share) {
  constexpr std::array<double, 3> kLight = {244, 248, 252};
  constexpr std::array<double, 3> kDark = {8, 48, 107};
  const double at = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0;
  std::string colour = "#";
  for (std::size_t i = 0; i < kLight.size(); ++i) {
    colour += fmt::format("{:02x}", std::lround(kLight[i] + at * (kDark[i] - kLight[i])));
  }
  return colour;
}

std::string_view seriesColour(std::size_t number) {
  constexpr std::array<std::string_view, 7> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                        "#e69f00", "#56b4e9", "#444444"};
  return kColours[number % kColours.size()];
}

}  // namespace edgewise
