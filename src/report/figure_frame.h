// What figures share: panels in lines under one title, and axes with round numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "edgewise/report/svg_canvas.h"

namespace edgewise::detail {

struct PanelSize {
  double width = 0;
  double height = 0;
};

inline constexpr double kTitleHeight = 40;

// Where panels stand: `across` a line, below a title.
class PanelLayout {
 public:
  PanelLayout(std::size_t count, std::size_t across, PanelSize size);
  [[nodiscard]] double width() const;
  [[nodiscard]] double height() const;
  [[nodiscard]] SvgPoint cornerOf(std::size_t panel) const;

 private:
  std::size_t across_;
  std::size_t lines_;
  PanelSize size_;
};

// An axis from `low` to `high`, both widened to round numbers.
struct Axis {
  double low = 0;
  double high = 1;
  std::vector<double> ticks = {};
  int digits = 0;
};

[[nodiscard]] Axis roundAxis(double low, double high);
[[nodiscard]] std::string tickText(const Axis& axis, double tick);

// A figure that says there is nothing to show.
[[nodiscard]] std::string emptyFigure(std::string_view title);

}  // namespace edgewise::detail
