#include "edgewise/report/figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <regex>

#include "edgewise/report/svg_canvas.h"
#include "report/figure_frame.h"

namespace edgewise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Elements that open and those that close, in a document without comments.
void expectBalanced(const std::string& document) {
  std::vector<std::string> open;
  const std::regex tag("<(/?)([a-zA-Z]+)[^<>]*?(/?)>");
  for (std::sregex_iterator at(document.begin(), document.end(), tag), end; at != end; ++at) {
    const std::smatch& found = *at;
    if (found[1].length() > 0) {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ(open.back(), found[2].str());
      open.pop_back();
    } else if (found[3].length() == 0 && found[2] != "meta") {
      open.push_back(found[2].str());
    }
  }
  EXPECT_TRUE(open.empty());
}

std::size_t countOf(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(Grid, IsTheSameTableEverywhere) {
  const Grid grid{.head = {"name", "n"}, .rows = {{"a|b", "1"}, {"<c>"}}};
  EXPECT_EQ(gridMarkdown(grid), "| name | n |\n| --- | --- |\n| a\\|b | 1 |\n| <c> |  |\n");
  EXPECT_THAT(gridHtml(grid), HasSubstr("<td>&lt;c&gt;</td><td class=\"number\"></td>"));
  expectBalanced(gridHtml(grid));
  EXPECT_THAT(gridText(grid).render({}), HasSubstr("a|b"));
}

TEST(Axis, GoesFromRoundToRoundNumbers) {
  const detail::Axis axis = detail::roundAxis(0.13, 0.87);
  EXPECT_THAT(axis.ticks, ElementsAre(::testing::DoubleNear(0, 1e-9), ::testing::DoubleEq(0.2),
                                      ::testing::DoubleEq(0.4), ::testing::DoubleNear(0.6, 1e-9),
                                      ::testing::DoubleEq(0.8), ::testing::DoubleNear(1, 1e-9)));
  EXPECT_EQ(detail::tickText(axis, axis.ticks[1]), "0.2");
  const detail::Axis flat = detail::roundAxis(5, 5);
  EXPECT_LT(flat.low, 5);
  EXPECT_GT(flat.high, 5);
}

TEST(Heatmaps, ShadeCellsAndLeaveOutWhatIsMissing) {
  const HeatPanel panel{.title = "a & b",
                        .rows = {"1", "2"},
                        .columns = {"x", "y"},
                        .values = {0, 1, 0.5, std::numeric_limits<double>::quiet_NaN()}};
  const std::string figure = drawHeatmaps("shares", std::vector{panel, panel}, 2);
  expectBalanced(figure);
  EXPECT_THAT(figure, HasSubstr("a &amp; b"));
  EXPECT_THAT(figure, Not(HasSubstr("nan")));
  EXPECT_EQ(countOf(figure, "<rect"), 1U + 2U * 3U);
  EXPECT_EQ(countOf(figure, shadeOf(1)), 2U);
  EXPECT_EQ(countOf(figure, shadeOf(0)), 2U);
}

TEST(Curves, DrawEveryCurve) {
  const CurvePanel panel{
      .title = "loss",
      .x_label = "epoch",
      .y_label = "loss",
      .curves = {{"K=1", {{1, 0.7}, {2, 0.5}}}, {"K=2", {{1, 0.6}}}, {"K=3", {}}}};
  const std::string figure = drawCurves("training", std::vector{panel}, 2);
  expectBalanced(figure);
  EXPECT_EQ(countOf(figure, "<polyline"), 2U);
  EXPECT_THAT(figure, HasSubstr("K=3"));
}

TEST(Bars, StandInGroupsWithTheirErrors) {
  const BarPanel panel{
      .title = "auc",
      .y_label = "%",
      .groups = {"cora", "citeseer"},
      .series = {"one", "two"},
      .bars = {
          {.value = 90, .error = 1}, {.value = 91}, {.value = 80}, {.value = 0, .there = false}}};
  const std::string figure = drawBars("ways", std::vector{panel}, 2);
  expectBalanced(figure);
  // The ground, two in the legend, three bars.
  EXPECT_EQ(countOf(figure, "<rect"), 6U);
  EXPECT_THAT(figure, HasSubstr("citeseer"));
}

TEST(Figures, SayWhenThereIsNothing) {
  EXPECT_THAT(drawBars("ways", {}, 2), HasSubstr("nothing to show"));
  EXPECT_THAT(drawHeatmaps("ways", {}, 2), HasSubstr("nothing to show"));
}

TEST(FigurePage, StandsAlone) {
  const std::string html = figureHtml({.title = "t < u",
                                       .drawings = {drawCurves("c", {}, 1)},
                                       .tables = {{.head = {"a"}, .rows = {{"1"}}}},
                                       .remarks = {"remark & more"}});
  expectBalanced(html.substr(html.find("<html")));
  EXPECT_THAT(html, HasSubstr("<h1>t &lt; u</h1>"));
  EXPECT_THAT(html, HasSubstr("remark &amp; more"));
  EXPECT_THAT(html, Not(HasSubstr("src=")));
}

}  // namespace
}  // namespace edgewise
