// A chart of one or several series over common x values. Drawn twice from the same numbers: as a
// still SVG, which prints, needs no script and stands in a file of its own just as well, and by the
// chart library of a report's page, which answers to the pointer.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace edgewise {

enum class ChartMark {
  kLine,
  // A line with a dot on every value.
  kDots,
  // A filled histogram: value i holds from x[i] to x[i + 1]; the last value ends the last bin.
  kSteps,
  // A thin dashed line to compare with, such as a diagonal.
  kGuide,
};

struct ChartSeries {
  std::string name;
  // One value an x; NaN where there is none (neighbours are joined across it).
  std::vector<double> y;
  ChartMark mark = ChartMark::kLine;
  // Which of the colours: so that one method has the same in all charts. Its place in the chart
  // where not given.
  std::optional<std::size_t> colour = std::nullopt;
};

struct ChartAxis {
  std::string label;
  // Ends of the axis; those of the values where not given.
  std::optional<double> low = std::nullopt;
  std::optional<double> high = std::nullopt;
};

struct Chart {
  std::string title;
  // What the picture shows, in words: for those who do not see it, and below it for those who do.
  std::string text;
  ChartAxis x_axis;
  ChartAxis y_axis;
  // Not falling.
  std::vector<double> x;
  std::vector<ChartSeries> series;
};

// Points of their own, by rising x; neither list may hold NaN.
struct ChartPoints {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;
  ChartMark mark = ChartMark::kLine;
  std::optional<std::size_t> colour = std::nullopt;
};

// Adds a series; where its x values are not the chart's, the chart gets them all. Of points with
// the same x the last counts.
void addPoints(Chart& chart, const ChartPoints& points);

// A whole SVG element. Colours stand as attributes, which a page's style sheet may override by the
// classes s0 .. s7 of the series. Throws ShapeError for a series that has not one value an x.
[[nodiscard]] std::string chartSvg(const Chart& chart);

// What the page's script (web/report/report.js) draws the chart from.
[[nodiscard]] nlohmann::ordered_json chartJson(const Chart& chart);

// The SVG with title, legend and text, as element `id` of a page.
[[nodiscard]] std::string chartFigure(const Chart& chart, const std::string& id);

}  // namespace edgewise
