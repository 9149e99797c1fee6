#include "report/figure_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/chart_axis.h"

namespace edgewise::detail {

PanelLayout::PanelLayout(std::size_t count, std::size_t across, PanelSize size)
    : across_(std::clamp<std::size_t>(across, 1, std::max<std::size_t>(1, count))),
      lines_((count + across_ - 1) / across_),
      size_(size) {}

double PanelLayout::width() const { return static_cast<double>(across_) * size_.width; }

double PanelLayout::height() const {
  return kTitleHeight + static_cast<double>(lines_) * size_.height;
}

SvgPoint PanelLayout::cornerOf(std::size_t panel) const {
  const std::size_t line = panel / across_;
  return {static_cast<double>(panel % across_) * size_.width,
          kTitleHeight + static_cast<double>(line) * size_.height};
}

Axis roundAxis(double low, double high) {
  if (!(high > low)) {
    const double margin = std::max(1e-3, std::abs(low) * 0.05);
    low -= margin;
    high += margin;
  }
  constexpr double kTicks = 4;
  const double step = roundStep((high - low) / kTicks);
  Axis axis{.low = std::floor(low / step) * step, .high = std::ceil(high / step) * step};
  axis.digits = decimalsOf(step);
  const auto count = static_cast<int>(std::lround((axis.high - axis.low) / step));
  for (int i = 0; i <= count; ++i) {
    axis.ticks.push_back(axis.low + i * step);
  }
  return axis;
}

std::string tickText(const Axis& axis, double tick) {
  return fmt::format("{:.{}f}", tick, axis.digits);
}

std::string emptyFigure(std::string_view title) {
  SvgCanvas canvas(480, 80, title);
  canvas.text({16, 26}, title, {.size = 15, .bold = true});
  canvas.text({16, 54}, "nothing to show: no run is finished");
  return canvas.document();
}

}  // namespace edgewise::detail
