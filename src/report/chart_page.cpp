#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "edgewise/report/chart.h"
#include "edgewise/report/html.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

const char* markName(ChartMark mark) {
  switch (mark) {
    case ChartMark::kDots:
      return "dots";
    case ChartMark::kSteps:
      return "steps";
    case ChartMark::kGuide:
      return "guide";
    case ChartMark::kLine:
      break;
  }
  return "line";
}

// As many digits as a screen has points for; JSON knows no NaN.
nlohmann::ordered_json numbers(const std::vector<double>& values) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const double value : values) {
    if (std::isfinite(value)) {
      list.push_back(parseReal(fmt::format("{:.6g}", value)).value_or(value));
    } else {
      list.push_back(nullptr);
    }
  }
  return list;
}

nlohmann::ordered_json axisJson(const ChartAxis& axis) {
  nlohmann::ordered_json json = {{"label", axis.label}};
  if (axis.low) {
    json["low"] = *axis.low;
  }
  if (axis.high) {
    json["high"] = *axis.high;
  }
  return json;
}

std::string legendOf(const Chart& chart) {
  std::string items;
  std::size_t number = 0;
  for (const ChartSeries& series : chart.series) {
    const bool guide = series.mark == ChartMark::kGuide;
    const std::size_t look = series.colour.value_or(number);
    items += fmt::format(
        "<li><span class=\"key {}\" aria-hidden=\"true\"></span>{}</li>",
        guide ? std::string("kguide") : fmt::format("k{}{}", look % 8, look >= 8 ? " dashed" : ""),
        escapeMarkup(series.name));
    ++number;
  }
  return "<ul class=\"legend\">" + items + "</ul>";
}

// A long text is there to be opened.
std::string captionOf(const Chart& chart) {
  constexpr std::size_t kShort = 260;
  const std::string text = escapeMarkup(chart.text);
  return chart.text.size() <= kShort
             ? text
             : fmt::format("<details><summary>In words</summary><p>{}</p></details>", text);
}

}  // namespace

nlohmann::ordered_json chartJson(const Chart& chart) {
  nlohmann::ordered_json json = {{"title", chart.title},
                                 {"x_axis", axisJson(chart.x_axis)},
                                 {"y_axis", axisJson(chart.y_axis)},
                                 {"x", numbers(chart.x)},
                                 {"series", nlohmann::ordered_json::array()}};
  for (const ChartSeries& series : chart.series) {
    json["series"].push_back({{"name", series.name},
                              {"mark", markName(series.mark)},
                              {"look", series.colour.value_or(json["series"].size())},
                              {"y", numbers(series.y)}});
  }
  return json;
}

std::string chartFigure(const Chart& chart, const std::string& id) {
  return fmt::format(
      "<figure class=\"chart\" id=\"{0}\">\n<h4>{1}</h4>\n"
      "<div class=\"live\" aria-hidden=\"true\"></div>\n"
      "<div class=\"still\">{2}{3}</div>\n<figcaption>{4}</figcaption>\n</figure>\n",
      escapeMarkup(id), escapeMarkup(chart.title), chartSvg(chart), legendOf(chart),
      captionOf(chart));
}

}  // namespace edgewise
