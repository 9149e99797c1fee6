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
constexpr detail::PanelSize kPanel = {.width = 400, .height = 300};
constexpr double kLeft = 64;
constexpr double kRight = 14;
constexpr double kTop = 30;
constexpr double kLegendLine = 16;
constexpr double kBottom = 46;
constexpr std::string_view kGrey = "#666666";
constexpr std::string_view kGridGrey = "#e3e3e3";

// Where data go inside a panel.
struct Frame {
  SvgPoint corner;
  double width = 0;
  double height = 0;
  detail::Axis x;
  detail::Axis y;

  [[nodiscard]] SvgPoint at(double x_value, double y_value) const {
    return {corner.x + width * (x_value - x.low) / (x.high - x.low),
            corner.y + height * (1 - (y_value - y.low) / (y.high - y.low))};
  }
};

Frame frameAt(SvgPoint panel, std::size_t legend_lines) {
  const double above = kTop + kLegendLine * static_cast<double>(legend_lines);
  return {.corner = {panel.x + kLeft, panel.y + above},
          .width = kPanel.width - kLeft - kRight,
          .height = kPanel.height - above - kBottom,
          .x = {},
          .y = {}};
}

void drawHead(SvgCanvas& canvas, SvgPoint panel, std::string_view title,
              std::span<const std::string> names) {
  canvas.text({panel.x + kLeft, panel.y + 16}, title, {.size = 13, .bold = true});
  double x = panel.x + kLeft;
  for (std::size_t i = 0; i < names.size(); ++i) {
    canvas.rectangle({x, panel.y + 25}, 12, 8, seriesColour(i));
    canvas.text({x + 16, panel.y + 33}, names[i], {.size = 11});
    x += 30 + 6.4 * static_cast<double>(names[i].size());
  }
}

void drawUpright(SvgCanvas& canvas, const Frame& frame, std::string_view label) {
  for (const double tick : frame.y.ticks) {
    const SvgPoint left = frame.at(frame.x.low, tick);
    canvas.line(left, {left.x + frame.width, left.y}, kGridGrey);
    canvas.text({left.x - 6, left.y + 4}, detail::tickText(frame.y, tick),
                {.anchor = SvgAnchor::kEnd, .size = 11});
  }
  canvas.text({frame.corner.x - 46, frame.corner.y + frame.height / 2}, label,
              {.anchor = SvgAnchor::kMiddle, .size = 11, .colour = kGrey, .turned = -90});
}

void drawCurvePanel(SvgCanvas& canvas, const CurvePanel& panel, SvgPoint corner) {
  std::vector<std::string> names;
  double x_low = kInfinite;
  double x_high = -kInfinite;
  double y_low = kInfinite;
  double y_high = -kInfinite;
  for (const CurvePanel::Curve& curve : panel.curves) {
    names.push_back(curve.name);
    for (const auto& [x, y] : curve.points) {
      x_low = std::min(x_low, x);
      x_high = std::max(x_high, x);
      y_low = std::min(y_low, y);
      y_high = std::max(y_high, y);
    }
  }
  drawHead(canvas, corner, panel.title, names);
  if (!std::isfinite(y_low)) {
    return;
  }
  Frame frame = frameAt(corner, 1);
  frame.x = detail::roundAxis(x_low, x_high);
  frame.y = detail::roundAxis(y_low, y_high);
  drawUpright(canvas, frame, panel.y_label);
  for (const double tick : frame.x.ticks) {
    const SvgPoint at = frame.at(tick, frame.y.low);
    canvas.text({at.x, at.y + 16}, detail::tickText(frame.x, tick),
                {.anchor = SvgAnchor::kMiddle, .size = 11});
  }
  canvas.text({frame.corner.x + frame.width / 2, frame.corner.y + frame.height + 34}, panel.x_label,
              {.anchor = SvgAnchor::kMiddle, .size = 11, .colour = kGrey});
  for (std::size_t i = 0; i < panel.curves.size(); ++i) {
    std::vector<SvgPoint> points;
    for (const auto& [x, y] : panel.curves[i].points) {
      points.push_back(frame.at(x, y));
    }
    canvas.path(points, seriesColour(i));
  }
}

// Bars stand on 0 unless that hides all difference.
detail::Axis barAxis(const BarPanel& panel) {
  double low = kInfinite;
  double high = -kInfinite;
  for (const BarPanel::Bar& bar : panel.bars) {
    if (bar.there) {
      low = std::min(low, bar.value - bar.error);
      high = std::max(high, bar.value + bar.error);
    }
  }
  if (!std::isfinite(low)) {
    return detail::roundAxis(0, 1);
  }
  const bool near_zero = low < 0.5 * high;
  return detail::roundAxis(near_zero ? std::min(0.0, low) : low - 0.3 * (high - low), high);
}

void drawBar(SvgCanvas& canvas, const Frame& frame, const BarPanel::Bar& bar, double x,
             double width, std::string_view colour) {
  const double top = frame.at(0, bar.value).y;
  const double base = frame.corner.y + frame.height;
  canvas.rectangle({x, top}, width, base - top, colour);
  if (bar.error > 0) {
    const double middle = x + width / 2;
    canvas.line({middle, frame.at(0, bar.value + bar.error).y},
                {middle, frame.at(0, bar.value - bar.error).y}, "#222222", 1.2);
  }
}

void drawBarPanel(SvgCanvas& canvas, const BarPanel& panel, SvgPoint corner) {
  invariant(panel.bars.size() == panel.groups.size() * panel.series.size(),
            "a bar for every series of every group");
  drawHead(canvas, corner, panel.title, panel.series);
  Frame frame = frameAt(corner, 1);
  frame.y = barAxis(panel);
  drawUpright(canvas, frame, panel.y_label);
  const double group_width = frame.width / static_cast<double>(panel.groups.size());
  const double bar_width = 0.76 * group_width / static_cast<double>(panel.series.size());
  for (std::size_t group = 0; group < panel.groups.size(); ++group) {
    const double left = frame.corner.x + static_cast<double>(group) * group_width;
    canvas.text({left + group_width / 2, frame.corner.y + frame.height + 16}, panel.groups[group],
                {.anchor = SvgAnchor::kMiddle, .size = 11});
    for (std::size_t series = 0; series < panel.series.size(); ++series) {
      const BarPanel::Bar& bar = panel.bars[group * panel.series.size() + series];
      if (bar.there) {
        drawBar(canvas, frame, bar,
                left + 0.12 * group_width + static_cast<double>(series) * bar_width,
                0.94 * bar_width, seriesColour(series));
      }
    }
  }
}

template <class Panel, class Draw>
std::string drawPanels(std::string_view title, std::span<const Panel> panels, std::size_t across,
                       const Draw& draw) {
  if (panels.empty()) {
    return detail::emptyFigure(title);
  }
  const detail::PanelLayout layout(panels.size(), across, kPanel);
  SvgCanvas canvas(std::max(layout.width(), 420.0), layout.height(), title);
  canvas.text({18, 26}, title, {.size = 15, .bold = true});
  for (std::size_t i = 0; i < panels.size(); ++i) {
    draw(canvas, panels[i], layout.cornerOf(i));
  }
  return canvas.document();
}

}  // namespace

std::string drawCurves(std::string_view title, std::span<const CurvePanel> panels,
                       std::size_t across) {
  return drawPanels(title, panels, across, drawCurvePanel);
}

std::string drawBars(std::string_view title, std::span<const BarPanel> panels, std::size_t across) {
  return drawPanels(title, panels, across, drawBarPanel);
}

}  // namespace edgewise
