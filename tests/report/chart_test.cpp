#include "edgewise/report/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "edgewise/util/error.h"
#include "report/chart_axis.h"

namespace edgewise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> labelsOf(AxisRange range, int count) {
  const std::vector<AxisTick> ticks = ticksOf(range, count);
  std::vector<std::string> labels;
  labels.reserve(ticks.size());
  for (const AxisTick& tick : ticks) {
    labels.push_back(tick.label);
  }
  return labels;
}

TEST(ChartAxis, TicksAreRound) {
  EXPECT_THAT(labelsOf({0, 1}, 5), ElementsAre("0.0", "0.2", "0.4", "0.6", "0.8", "1.0"));
  EXPECT_THAT(labelsOf({-3, 12}, 5), ElementsAre("0", "5", "10"));
  EXPECT_THAT(labelsOf({0.951, 0.957}, 3), ElementsAre("0.952", "0.954", "0.956"));
  EXPECT_THAT(labelsOf({0, 4e6}, 2), ElementsAre("0", "2e+06", "4e+06"));
  EXPECT_THAT(labelsOf({-1e-9, 1e-9}, 2), ElementsAre("-1e-09", "0", "1e-09"));
}

TEST(ChartAxis, NoRangeIsEmptyAndNoTicksEndless) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto range = [](const ChartAxis& axis, const std::vector<double>& values) {
    const AxisRange found = rangeOf(axis, values);
    return std::pair(found.low, found.high);
  };
  EXPECT_EQ(range({}, {}), std::pair(0.0, 1.0));
  EXPECT_EQ(range({}, {nan, 3, INFINITY, 5}), std::pair(3.0, 5.0));
  EXPECT_EQ(range({.label = "", .low = 0}, {3, 5}), std::pair(0.0, 5.0));
  EXPECT_EQ(range({}, {2, 2}), std::pair(1.5, 2.5));
  EXPECT_EQ(range({}, {-1000, -1000}), std::pair(-1050.0, -950.0));
  EXPECT_LE(ticksOf({1e16, 1e16 + 4}, 5).size(), 21U);
}

Chart small() {
  return {.title = "Loss <1>",
          .text = "It falls.",
          .x_axis = {.label = "epoch"},
          .y_axis = {.label = "loss & more"},
          .x = {0, 1, 2},
          .series = {{.name = "a", .y = {2, 1, 0}}}};
}

TEST(ChartSvg, DrawsValuesWhereTheyBelong) {
  // The plane is 410 x 244 at (56, 12): half of x lies at 261, half of y at 134.
  const std::string svg = chartSvg(small());
  EXPECT_THAT(svg, HasSubstr("d=\"M56.0 12.0L261.0 134.0L466.0 256.0\""));
  EXPECT_THAT(svg, HasSubstr("aria-label=\"Loss &lt;1&gt;. It falls.\""));
  EXPECT_THAT(svg, HasSubstr("loss &amp; more"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(ChartSvg, JoinsAcrossGapsAndFillsSteps) {
  Chart chart = small();
  chart.series.front().y[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(chartSvg(chart), HasSubstr("d=\"M56.0 12.0L466.0 256.0\""));
  chart.series = {{.name = "bars", .y = {1, 3, 3}, .mark = ChartMark::kSteps}};
  chart.y_axis.low = 0;
  // Two bins: a third of the height, then all of it, closed at the bottom.
  EXPECT_THAT(chartSvg(chart), HasSubstr("d=\"M56.0 256.0V174.7H261.0V12.0H466.0V256.0Z\""));
}

TEST(ChartSvg, RefusesSeriesOfAnotherLength) {
  Chart chart = small();
  chart.series.front().y.pop_back();
  EXPECT_THROW((void)chartSvg(chart), ShapeError);
}

TEST(ChartPointsTest, GiveTheChartAllTheirPlaces) {
  Chart chart{.title = {}, .text = {}, .x_axis = {}, .y_axis = {}, .x = {}, .series = {}};
  addPoints(chart, {.name = "a", .x = {1, 3}, .y = {10, 30}});
  addPoints(chart, {.name = "b", .x = {2, 3, 3}, .y = {5, 6, 7}, .colour = 4});
  EXPECT_THAT(chart.x, ElementsAre(1, 2, 3));
  const nlohmann::json json = chartJson(chart);
  EXPECT_EQ(json["series"][0]["y"], nlohmann::json::parse("[10, null, 30]"));
  EXPECT_EQ(json["series"][1]["y"], nlohmann::json::parse("[null, 5, 7]"));
  EXPECT_EQ(json["series"][0]["look"], 0);
  EXPECT_EQ(json["series"][1]["look"], 4);
}

TEST(ChartJson, RoundsToWhatAScreenShows) {
  Chart chart = small();
  chart.series.front().y = {1.0 / 3, 123456789.0, 1e-300};
  EXPECT_EQ(chartJson(chart)["series"][0]["y"],
            nlohmann::json::parse("[0.333333, 123457000.0, 1e-300]"));
}

TEST(ChartFigure, TellsInWordsWhatItShows) {
  Chart chart = small();
  const std::string brief = chartFigure(chart, "chart-1");
  EXPECT_THAT(brief, HasSubstr("<figure class=\"chart\" id=\"chart-1\">"));
  EXPECT_THAT(brief, HasSubstr("<figcaption>It falls.</figcaption>"));
  chart.text = std::string(300, 'x');
  EXPECT_THAT(chartFigure(chart, "chart-1"), HasSubstr("<summary>In words</summary>"));
}

}  // namespace
}  // namespace edgewise
