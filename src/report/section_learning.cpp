#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "edgewise/report/html.h"
#include "edgewise/util/text.h"
#include "report/sections.h"

namespace edgewise {
namespace {

// More lines than these are one too many to follow.
constexpr std::size_t kMostLines = 8;
// As many points as a chart has room for.
constexpr std::size_t kMostPoints = 400;

// Values by epoch.
struct Curve {
  std::vector<double> epoch;
  std::vector<double> value;
};

Curve finiteOf(const std::vector<double>& epoch, const std::vector<double>& value) {
  Curve curve;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (std::isfinite(value[i])) {
      curve.epoch.push_back(epoch[i]);
      curve.value.push_back(value[i]);
    }
  }
  return curve;
}

// Every n-th point, and the last.
Curve thinned(const Curve& curve) {
  const std::size_t step = curve.epoch.size() / kMostPoints + 1;
  Curve result;
  for (std::size_t i = 0; i < curve.epoch.size(); ++i) {
    if (i % step == 0 || i + 1 == curve.epoch.size()) {
      result.epoch.push_back(curve.epoch[i]);
      result.value.push_back(curve.value[i]);
    }
  }
  return result;
}

const LearningPhase* phaseOf(const RunRecord& run, std::string_view name) {
  const auto found = std::ranges::find(run.phases, name, &LearningPhase::name);
  return found == run.phases.end() ? nullptr : &*found;
}

// Loss where `metric` is empty.
Curve curveOf(const RunRecord& run, std::string_view phase_name, std::string_view metric) {
  const LearningPhase* phase = phaseOf(run, phase_name);
  if (phase == nullptr) {
    return {};
  }
  if (metric.empty()) {
    return finiteOf(phase->epoch, phase->loss);
  }
  for (const auto& [name, values] : phase->valid) {
    if (name == metric) {
      return finiteOf(phase->epoch, values);
    }
  }
  return {};
}

// The mean over runs, as far as all of them went.
Curve meanCurve(const RunGroup& group, std::string_view phase, std::string_view metric) {
  Curve mean;
  for (const RunRecord* run : group.runs) {
    const Curve one = curveOf(*run, phase, metric);
    if (run == group.runs.front()) {
      mean = one;
      continue;
    }
    const std::size_t shared = std::min(mean.value.size(), one.value.size());
    mean.epoch.resize(shared);
    mean.value.resize(shared);
    for (std::size_t i = 0; i < shared; ++i) {
      mean.value[i] += one.value[i];
    }
  }
  for (double& value : mean.value) {
    value /= static_cast<double>(group.runs.size());
  }
  return mean;
}

std::string lossText(const std::string& name, const Curve& curve) {
  return fmt::format("{} goes from {:.4g} to {:.4g} in {:.0f} epochs", name, curve.value.front(),
                     curve.value.back(), curve.epoch.back());
}

std::string validText(const std::string& name, const Curve& curve) {
  const auto best = std::ranges::max_element(curve.value) - curve.value.begin();
  return fmt::format("{} is highest at epoch {:.0f} ({:.4f}) and ends at {:.4f} in epoch {:.0f}",
                     name, curve.epoch[static_cast<std::size_t>(best)],
                     curve.value[static_cast<std::size_t>(best)], curve.value.back(),
                     curve.epoch.back());
}

Chart emptyChart(std::string title, std::string y_label) {
  return {.title = std::move(title),
          .text = {},
          .x_axis = {.label = "epoch"},
          .y_axis = {.label = std::move(y_label)},
          .x = {},
          .series = {}};
}

void addCurve(Chart& chart, const std::string& name, const Curve& curve, const std::string& text,
              std::optional<std::size_t> colour = std::nullopt) {
  const Curve points = thinned(curve);
  addPoints(chart, {.name = name, .x = points.epoch, .y = points.value, .colour = colour});
  chart.text += (chart.text.empty() ? "" : " ") + text + ".";
}

std::string figureOf(const Chart& chart, PageCharts& charts) {
  return chart.series.empty() ? "" : charts.add(chart);
}

std::string phaseTitle(const std::string& phase) {
  if (phase == "search") {
    return "search for views";
  }
  if (phase == "apply") {
    return "training with the views found";
  }
  if (phase == "joint") {
    return "joint search and training";
  }
  if (phase == "alike") {
    return "training, and beside it the search for views";
  }
  return phase == "refit" ? "training on all that is known" : "training";
}

// One method, a line a seed.
std::string onePhase(const RunGroup& group, const LearningPhase& phase, PageCharts& charts) {
  Chart loss = emptyChart("Loss, " + phaseTitle(phase.name), "loss");
  const bool one_run = group.runs.size() == 1;
  std::vector<std::string> metrics;
  for (const auto& [metric, ignored] : phase.valid) {
    // With several runs a line each of the metric that chose the epoch.
    if (one_run || metrics.empty()) {
      metrics.push_back(metric);
    }
  }
  Chart valid = emptyChart("Validation, " + phaseTitle(phase.name),
                           one_run ? "validation" : "validation " + joinText(metrics, ", "));
  const auto add_line = [&](const std::string& name, const auto& curve_of) {
    if (const Curve curve = curve_of(""); !curve.epoch.empty()) {
      addCurve(loss, name, curve, lossText(name, curve));
    }
    for (const std::string& metric : metrics) {
      if (const Curve curve = curve_of(metric); !curve.epoch.empty()) {
        const std::string& line = one_run ? metric : name;
        addCurve(valid, line, curve, validText(line, curve));
      }
    }
  };
  if (group.runs.size() > kMostLines) {
    add_line(fmt::format("mean of {} seeds", group.runs.size()),
             [&](std::string_view metric) { return meanCurve(group, phase.name, metric); });
  } else {
    for (const RunRecord* run : group.runs) {
      add_line(one_run ? "loss" : fmt::format("seed {}", run->metrics.seed),
               [&](std::string_view metric) { return curveOf(*run, phase.name, metric); });
    }
  }
  return figureOf(loss, charts) + figureOf(valid, charts);
}

// The phase whose validation chose the weights.
std::string mainPhase(const RunRecord& run) {
  std::string name;
  for (const LearningPhase& phase : run.phases) {
    name = phase.name == "refit" ? name : phase.name;
  }
  return name;
}

// Several methods, a line each.
std::string manyMethods(RunGroups groups, PageCharts& charts) {
  std::string html;
  for (const std::string& metric : testMetrics(groups)) {
    Chart chart = emptyChart("Validation " + metric + " in training", "validation " + metric);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const Curve curve = meanCurve(groups[i], mainPhase(groups[i].first()), metric);
      if (!curve.epoch.empty()) {
        addCurve(chart, groups[i].name, curve, validText(groups[i].name, curve), i);
      }
    }
    html += figureOf(chart, charts);
  }
  return html;
}

}  // namespace

std::string learningSection(RunGroups groups, PageCharts& charts) {
  std::string figures;
  if (groups.size() > 1) {
    figures = manyMethods(groups, charts);
  } else {
    for (const LearningPhase& phase : groups.front().first().phases) {
      figures += onePhase(groups.front(), phase, charts);
    }
  }
  if (figures.empty()) {
    return "";
  }
  const bool means = groups.size() > 1 && std::ranges::any_of(groups, [](const RunGroup& group) {
                       return group.runs.size() > 1;
                     });
  return (means ? std::string("<p class=\"note\">Means over seeds, as far as all of them went."
                              "</p>\n")
                : std::string()) +
         "<div class=\"figures\">\n" + figures + "</div>\n";
}

}  // namespace edgewise
