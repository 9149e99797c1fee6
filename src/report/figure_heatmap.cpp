#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "edgewise/report/figure.h"
#include "edgewise/report/svg_canvas.h"
#include "edgewise/util/error.h"
#include "report/figure_frame.h"

namespace edgewise {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kCellWidth = 54;
constexpr double kCellHeight = 34;
constexpr double kLetter = 6.6;
constexpr double kAbove = 62;
constexpr double kBeside = 18;

double labelWidth(const HeatPanel& panel) {
  std::size_t longest = 0;
  for (const std::string& row : panel.rows) {
    longest = std::max(longest, row.size());
  }
  return 14 + kLetter * static_cast<double>(longest) + (panel.row_label.empty() ? 0 : 18);
}

detail::PanelSize sizeOf(std::span<const HeatPanel> panels) {
  detail::PanelSize size;
  for (const HeatPanel& panel : panels) {
    const double cells = kCellWidth * static_cast<double>(panel.columns.size());
    const double title = kLetter * 1.1 * static_cast<double>(panel.title.size()) + 2 * kBeside;
    size.width = std::max({size.width, labelWidth(panel) + cells + 2 * kBeside, title});
    size.height = std::max(size.height,
                           kAbove + kCellHeight * static_cast<double>(panel.rows.size()) + kBeside);
  }
  return size;
}

std::pair<double, double> rangeOf(const HeatPanel& panel) {
  if (panel.low < panel.high) {
    return {panel.low, panel.high};
  }
  double low = kInfinite;
  double high = -kInfinite;
  for (const double value : panel.values) {
    if (std::isfinite(value)) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  return {low, high};
}

void drawLabels(SvgCanvas& canvas, const HeatPanel& panel, SvgPoint corner, double left) {
  canvas.text({corner.x + kBeside, corner.y + 16}, panel.title, {.size = 13, .bold = true});
  for (std::size_t column = 0; column < panel.columns.size(); ++column) {
    canvas.text({left + (static_cast<double>(column) + 0.5) * kCellWidth, corner.y + kAbove - 6},
                panel.columns[column], {.anchor = SvgAnchor::kMiddle, .size = 11});
  }
  const double across = kCellWidth * static_cast<double>(panel.columns.size());
  const double down = kCellHeight * static_cast<double>(panel.rows.size());
  if (!panel.column_label.empty()) {
    canvas.text({left + across / 2, corner.y + kAbove - 22}, panel.column_label,
                {.anchor = SvgAnchor::kMiddle, .size = 11, .colour = "#666666"});
  }
  if (!panel.row_label.empty()) {
    canvas.text({corner.x + kBeside + 8, corner.y + kAbove + down / 2}, panel.row_label,
                {.anchor = SvgAnchor::kMiddle, .size = 11, .colour = "#666666", .turned = -90});
  }
}

void drawPanel(SvgCanvas& canvas, const HeatPanel& panel, SvgPoint corner) {
  invariant(panel.values.size() == panel.rows.size() * panel.columns.size(),
            "a value for every cell");
  const double left = corner.x + kBeside + labelWidth(panel);
  drawLabels(canvas, panel, corner, left);
  const auto [low, high] = rangeOf(panel);
  for (std::size_t row = 0; row < panel.rows.size(); ++row) {
    const double y = corner.y + kAbove + static_cast<double>(row) * kCellHeight;
    canvas.text({left - 8, y + kCellHeight / 2 + 4}, panel.rows[row],
                {.anchor = SvgAnchor::kEnd, .size = 11});
    for (std::size_t column = 0; column < panel.columns.size(); ++column) {
      const double value = panel.values[row * panel.columns.size() + column];
      if (!std::isfinite(value)) {
        continue;
      }
      const double share = high > low ? (value - low) / (high - low) : 0.5;
      const double x = left + static_cast<double>(column) * kCellWidth;
      canvas.rectangle({x + 1, y + 1}, kCellWidth - 2, kCellHeight - 2, shadeOf(share));
      canvas.text({x + kCellWidth / 2, y + kCellHeight / 2 + 4},
                  fmt::format("{:.{}f}", value, panel.digits),
                  {.anchor = SvgAnchor::kMiddle,
                   .size = 11,
                   .colour = share > 0.5 ? "#ffffff" : "#222222"});
    }
  }
}

}  // namespace

std::string drawHeatmaps(std::string_view title, std::span<const HeatPanel> panels,
                         std::size_t across) {
  if (panels.empty()) {
    return detail::emptyFigure(title);
  }
  const detail::PanelLayout layout(panels.size(), across, sizeOf(panels));
  SvgCanvas canvas(std::max(layout.width(), 420.0), layout.height(), title);
  canvas.text({kBeside, 26}, title, {.size = 15, .bold = true});
  for (std::size_t i = 0; i < panels.size(); ++i) {
    drawPanel(canvas, panels[i], layout.cornerOf(i));
  }
  return canvas.document();
}

}  // namespace edgewise
