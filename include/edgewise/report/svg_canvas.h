// A drawing in SVG, element by element, on a white ground, so that it reads the same everywhere.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace edgewise {

struct SvgPoint {
  double x = 0;
  double y = 0;
};

enum class SvgAnchor { kStart, kMiddle, kEnd };

struct SvgTextStyle {
  SvgAnchor anchor = SvgAnchor::kStart;
  double size = 12;
  bool bold = false;
  std::string_view colour = "#222222";
  // Degrees, clockwise around the text's point.
  double turned = 0;
};

class SvgCanvas {
 public:
  SvgCanvas(double width, double height, std::string_view title);

  void rectangle(SvgPoint corner, double width, double height, std::string_view fill);
  void line(SvgPoint from, SvgPoint to, std::string_view colour, double width = 1);
  void path(std::span<const SvgPoint> points, std::string_view colour, double width = 1.6);
  void text(SvgPoint at, std::string_view words, const SvgTextStyle& style = {});

  // The whole document.
  [[nodiscard]] std::string document() const { return body_ + "</svg>\n"; }

 private:
  std::string body_;
};

// From nearly white at 0 to dark blue at 1; beyond them as at the ends.
[[nodiscard]] std::string shadeOf(double share);
// Colours that people with any colour vision tell apart; they repeat.
[[nodiscard]] std::string_view seriesColour(std::size_t number);

}  // namespace edgewise
