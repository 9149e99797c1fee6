#include <fmt/format.h>

#include <array>
#include <cmath>

#include "edgewise/report/chart.h"
#include "edgewise/report/html.h"
#include "edgewise/util/error.h"
#include "report/chart_axis.h"

namespace edgewise {
namespace {

constexpr double kWidth = 480;
constexpr double kHeight = 300;
constexpr double kLeft = 56;
constexpr double kRight = 14;
constexpr double kTop = 12;
constexpr double kBottom = 44;
constexpr int kTicks = 5;

// Told apart by people who see fewer colours too; the same as in web/report/report.css.
constexpr std::array<const char*, 8> kColours = {"#1f6fb2", "#d1570a", "#2a8f5b", "#a8327e",
                                                 "#7a5195", "#b08900", "#38a3c4", "#6b6b6b"};
// Further series repeat the colours with gaps in the line.
constexpr std::array<const char*, 3> kDashes = {"", " stroke-dasharray=\"7 4\"",
                                                " stroke-dasharray=\"2 3\""};

struct Place {
  double x = 0;
  double y = 0;
};

// From values to points of the picture.
class Plane {
 public:
  Plane(AxisRange x, AxisRange y) : x_(x), y_(y) {}
  [[nodiscard]] Place at(double x, double y) const { return {across(x), down(y)}; }
  [[nodiscard]] double across(double x) const {
    return kLeft + (x - x_.low) / (x_.high - x_.low) * (kWidth - kLeft - kRight);
  }
  [[nodiscard]] double down(double y) const {
    return kHeight - kBottom - (y - y_.low) / (y_.high - y_.low) * (kHeight - kTop - kBottom);
  }
  [[nodiscard]] double floor() const { return kHeight - kBottom; }

 private:
  AxisRange x_;
  AxisRange y_;
};

std::string linePath(const Chart& chart, const ChartSeries& series, const Plane& plane) {
  std::string path;
  for (std::size_t i = 0; i < chart.x.size(); ++i) {
    if (std::isfinite(series.y[i])) {
      const Place place = plane.at(chart.x[i], series.y[i]);
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", place.x, place.y);
    }
  }
  return path;
}

std::string stepPath(const Chart& chart, const ChartSeries& series, const Plane& plane) {
  std::string path;
  for (std::size_t i = 0; i + 1 < chart.x.size(); ++i) {
    const Place place = plane.at(chart.x[i], std::isfinite(series.y[i]) ? series.y[i] : 0.0);
    path += path.empty() ? fmt::format("M{:.1f} {:.1f}", place.x, plane.floor()) : "";
    path += fmt::format("V{:.1f}H{:.1f}", place.y, plane.across(chart.x[i + 1]));
  }
  return path.empty() ? path : path + fmt::format("V{:.1f}Z", plane.floor());
}

std::string dots(const Chart& chart, const ChartSeries& series, const Plane& plane, int colour) {
  std::string svg;
  for (std::size_t i = 0; i < chart.x.size(); ++i) {
    if (std::isfinite(series.y[i])) {
      const Place place = plane.at(chart.x[i], series.y[i]);
      svg +=
          fmt::format("<circle class=\"f{0}\" cx=\"{1:.1f}\" cy=\"{2:.1f}\" r=\"3\" fill=\"{3}\"/>",
                      colour, place.x, place.y, kColours.at(static_cast<std::size_t>(colour)));
    }
  }
  return svg;
}

std::string seriesSvg(const Chart& chart, const Plane& plane, std::size_t number) {
  const ChartSeries& series = chart.series[number];
  if (series.mark == ChartMark::kGuide) {
    return fmt::format(
        "<path class=\"guide\" d=\"{}\" fill=\"none\" stroke=\"#888888\" stroke-dasharray=\"4 "
        "4\"/>\n",
        linePath(chart, series, plane));
  }
  const std::size_t look = series.colour.value_or(number);
  const std::size_t colour = look % kColours.size();
  const std::string stroke =
      fmt::format("class=\"s{0}\" stroke=\"{1}\" stroke-width=\"1.8\"{2}", colour,
                  kColours.at(colour), kDashes.at(look / kColours.size() % kDashes.size()));
  if (series.mark == ChartMark::kSteps) {
    return fmt::format("<path {0} d=\"{1}\" fill=\"{2}\" fill-opacity=\"0.25\"/>\n", stroke,
                       stepPath(chart, series, plane), kColours.at(colour));
  }
  return fmt::format(
      "<path {0} d=\"{1}\" fill=\"none\" stroke-linejoin=\"round\"/>{2}\n", stroke,
      linePath(chart, series, plane),
      series.mark == ChartMark::kDots ? dots(chart, series, plane, static_cast<int>(colour)) : "");
}

std::string axesSvg(const Chart& chart, const Plane& plane, AxisRange x, AxisRange y) {
  std::string svg;
  for (const AxisTick& tick : ticksOf(y, kTicks)) {
    svg += fmt::format(
        "<path class=\"grid\" d=\"M{0} {1:.1f}H{2}\" stroke=\"#dddddd\"/>"
        "<text class=\"ink\" x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
        kLeft, plane.down(tick.value), kWidth - kRight, kLeft - 6, plane.down(tick.value) + 4,
        tick.label);
  }
  for (const AxisTick& tick : ticksOf(x, kTicks)) {
    svg += fmt::format(
        "<path class=\"grid\" d=\"M{0:.1f} {1}V{2}\" stroke=\"#dddddd\"/>"
        "<text class=\"ink\" x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4}</text>\n",
        plane.across(tick.value), kTop, plane.floor(), plane.floor() + 16, tick.label);
  }
  svg += fmt::format(
      "<text class=\"ink\" x=\"{0}\" y=\"{1}\" text-anchor=\"middle\">{2}</text>"
      "<text class=\"ink\" transform=\"translate(13 {3}) rotate(-90)\" text-anchor=\"middle\">{4}"
      "</text>\n",
      (kLeft + kWidth - kRight) / 2, kHeight - 8, escapeMarkup(chart.x_axis.label),
      (kTop + kHeight - kBottom) / 2, escapeMarkup(chart.y_axis.label));
  return svg;
}

std::vector<double> allValues(const Chart& chart) {
  std::vector<double> values;
  for (const ChartSeries& series : chart.series) {
    if (series.y.size() != chart.x.size()) {
      throw ShapeError(fmt::format("chart '{}': series '{}' has {} values for {} x", chart.title,
                                   series.name, series.y.size(), chart.x.size()));
    }
    values.insert(values.end(), series.y.begin(), series.y.end());
  }
  return values;
}

}  // namespace

std::string chartSvg(const Chart& chart) {
  const AxisRange x = rangeOf(chart.x_axis, chart.x);
  const AxisRange y = rangeOf(chart.y_axis, allValues(chart));
  const Plane plane(x, y);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" role=\"img\" "
      "aria-label=\"{2}\" font-family=\"system-ui, sans-serif\" font-size=\"12\" "
      "fill=\"#333333\">\n",
      kWidth, kHeight, escapeMarkup(chart.title + ". " + chart.text));
  svg += axesSvg(chart, plane, x, y);
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    svg += seriesSvg(chart, plane, i);
  }
  return svg + "</svg>\n";
}

}  // namespace edgewise
