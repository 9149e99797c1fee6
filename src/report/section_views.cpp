#include <fmt/format.h>

#include <algorithm>

#include "edgewise/report/html.h"
#include "edgewise/report/mean_text.h"
#include "edgewise/util/text.h"
#include "report/sections.h"

namespace edgewise {
namespace {

// K x K values with what they mean.
struct HeatMap {
  std::string caption;
  std::size_t depth = 0;
  int first_hops = 1;
  std::vector<double> values;
  bool shares = true;
};

// Shades from here on carry white figures.
constexpr double kDeep = 0.8;

// How deep a value's colour is, in [0, 1]: shares by themselves, others within their range.
std::vector<double> depths(const HeatMap& map) {
  if (map.shares) {
    return map.values;
  }
  const auto [low, high] = std::ranges::minmax(map.values);
  std::vector<double> result;
  result.reserve(map.values.size());
  for (const double value : map.values) {
    result.push_back(high > low ? (value - low) / (high - low) : 0.5);
  }
  return result;
}

// A table, so that it reads aloud as well as it looks.
std::string heatTable(const HeatMap& map) {
  const std::vector<double> depth = depths(map);
  std::string html = fmt::format(
      "<table class=\"heat\"><caption>{}</caption>\n<thead><tr><th scope=\"col\">hops</th>",
      escapeMarkup(map.caption));
  for (std::size_t j = 0; j < map.depth; ++j) {
    html += fmt::format("<th scope=\"col\">{}</th>", static_cast<int>(j) + map.first_hops);
  }
  html += "</tr></thead>\n<tbody>";
  for (std::size_t i = 0; i < map.depth; ++i) {
    html += fmt::format("<tr><th scope=\"row\">{}</th>", static_cast<int>(i) + map.first_hops);
    for (std::size_t j = 0; j < map.depth; ++j) {
      const double value = map.values[i * map.depth + j];
      const double shade = std::clamp(depth[i * map.depth + j], 0.0, 1.0);
      html += fmt::format(
          "<td{} style=\"background:rgba(31,111,178,{:.2f})\">{}</td>",
          shade > kDeep ? " class=\"deep\"" : "", shade,
          map.shares ? fmt::format("{:.1f}%", 100 * value) : fmt::format("{:.4f}", value));
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table>\n";
}

// The mean of the group's matrices; nothing unless all runs have one of the same depth.
std::vector<double> meanMatrix(const RunGroup& group, std::vector<double> ViewUse::* field) {
  std::vector<double> mean;
  for (const RunRecord* run : group.runs) {
    if (!run->metrics.views) {
      return {};
    }
    const std::vector<double>& values = (*run->metrics.views).*field;
    mean.resize(run == group.runs.front() ? values.size() : mean.size(), 0.0);
    if (values.size() != mean.size()) {
      return {};
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      mean[i] += values[i] / static_cast<double>(group.runs.size());
    }
  }
  return mean;
}

std::string effectiveText(const RunGroup& group, const ViewUse& use) {
  const auto mean = meanOver(group, [](const RunRecord& run) -> std::optional<double> {
    return run.metrics.views ? std::optional(run.metrics.views->effective) : std::nullopt;
  });
  const auto sure = meanOver(group, [](const RunRecord& run) -> std::optional<double> {
    return run.metrics.views ? std::optional(100 * run.metrics.views->confidence_positive)
                             : std::nullopt;
  });
  std::string text = fmt::format(
      "<strong>{}</strong> views are in use for the test links (effective number: 1 means that all "
      "links share one view). The selector gives its favourite {}% of the weight.",
      mean ? meanText(*mean, 2) : "–", sure ? meanText(*sure, 1) : "–");
  std::vector<std::string> classes;
  classes.reserve(use.agreement.size());
  for (const auto& [name, share] : use.agreement) {
    classes.push_back(fmt::format("{} {:.0f}%", escapeMarkup(name), 100 * share));
  }
  if (!classes.empty()) {
    text += fmt::format(" Links that got a view by which their class is told: {} (seed {}).",
                        joinText(classes, ", "), group.first().metrics.seed);
  }
  return text;
}

std::string viewsOf(const RunGroup& group) {
  const auto& use = group.first().metrics.views;
  const auto& by_view = group.first().metrics.by_view;
  std::string html;
  if (use) {
    html += fmt::format("<p>{}</p>\n<div class=\"heats\">", effectiveText(group, *use));
    const auto add = [&](const char* caption, std::vector<double> ViewUse::* field) {
      const std::vector<double> values = meanMatrix(group, field);
      if (!values.empty()) {
        html += heatTable({.caption = caption,
                           .depth = use->depth,
                           .first_hops = use->first_hops,
                           .values = values});
      }
    };
    add("Views of the test links", &ViewUse::test_positive);
    add("Views of the other test pairs", &ViewUse::test_negative);
    html += "</div>\n";
  }
  if (by_view && !by_view->valid.empty()) {
    html += "<div class=\"heats\">" +
            heatTable({.caption = fmt::format("Validation {} of each view alone (seed {})",
                                              by_view->metric, group.first().metrics.seed),
                       .depth = by_view->depth,
                       .first_hops = by_view->first_hops,
                       .values = by_view->valid,
                       .shares = false}) +
            "</div>\n";
  }
  return html.empty() ? html : fmt::format("<h3>{}</h3>\n{}", escapeMarkup(group.name), html);
}

}  // namespace

std::string viewsSection(RunGroups groups) {
  std::string html;
  for (const RunGroup& group : groups) {
    html += viewsOf(group);
  }
  return html.empty() ? html
                      : "<p class=\"note\">Hops around the source end down, around the target end "
                        "across.</p>\n" +
                            html;
}

}  // namespace edgewise
