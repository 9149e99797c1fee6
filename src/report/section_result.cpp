#include <fmt/format.h>

#include <algorithm>

#include "edgewise/report/html.h"
#include "edgewise/report/mean_text.h"
#include "report/sections.h"

namespace edgewise {
namespace {

using Cells = std::vector<HtmlTable::Cell>;

enum class Stage { kValid, kTest };

const MetricSet& metricsOf(const RunRecord& run, Stage stage) {
  return stage == Stage::kTest ? run.metrics.test : run.metrics.valid;
}

std::optional<MeanStd> meanOf(const RunGroup& group, const std::string& metric, Stage stage) {
  return meanOver(group, [&](const RunRecord& run) { return metricsOf(run, stage).find(metric); });
}

std::string textOf(const std::optional<MeanStd>& value) { return value ? meanText(*value) : "–"; }

// One method: metrics down.
std::string oneMethod(const RunGroup& group) {
  HtmlTable table(
      fmt::format("{} on {}, {}", group.name, group.first().metrics.dataset, seedsText(group)),
      {"metric", "validation", "test"});
  for (const std::string& metric : testMetrics(RunGroups(&group, 1))) {
    table.addRow({metric, textOf(meanOf(group, metric, Stage::kValid)),
                  HtmlTable::Cell::classed(textOf(meanOf(group, metric, Stage::kTest)), "best")});
  }
  return table.render("numbers");
}

// The best mean of each metric among the groups.
std::vector<std::optional<double>> bestOf(RunGroups groups, std::span<const std::string> metrics,
                                          Stage stage) {
  std::vector<std::optional<double>> best;
  for (const std::string& metric : metrics) {
    std::optional<double>& highest = best.emplace_back();
    for (const RunGroup& group : groups) {
      if (const auto value = meanOf(group, metric, stage)) {
        highest = std::max(highest.value_or(value->mean), value->mean);
      }
    }
  }
  return best;
}

// Several methods on one dataset: a row each.
std::string manyMethods(RunGroups groups, const std::string& dataset, Stage stage) {
  const std::vector<std::string> metrics = testMetrics(groups);
  const auto best = bestOf(groups, metrics, stage);
  Cells head = {"method", "runs"};
  head.insert(head.end(), metrics.begin(), metrics.end());
  const bool compared = whyNotCompared(groups).empty();
  HtmlTable table(
      fmt::format("{} on {}: mean ± std{}", stage == Stage::kTest ? "Test" : "Validation", dataset,
                  compared ? ", the best in bold" : ""),
      std::move(head));
  for (const RunGroup& group : groups) {
    Cells row = {group.name, std::to_string(group.runs.size())};
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      const auto value = meanOf(group, metrics[i], stage);
      const bool is_best = compared && value && best[i] == value->mean;
      row.push_back(HtmlTable::Cell::classed(textOf(value), is_best ? "best" : ""));
    }
    table.addRow(std::move(row));
  }
  return table.render("numbers");
}

std::string everyRun(RunGroups groups) {
  const std::vector<std::string> metrics = testMetrics(groups);
  Cells head = {"folder", "method", "seed"};
  for (const std::string& metric : metrics) {
    head.emplace_back("test " + metric);
  }
  HtmlTable table("Test metrics of every run", std::move(head));
  for (const RunGroup& group : groups) {
    for (const RunRecord* run : group.runs) {
      Cells row = {run->folder.string(), group.name, std::to_string(run->metrics.seed)};
      for (const std::string& metric : metrics) {
        const auto value = run->metrics.test.find(metric);
        row.emplace_back(value ? fmt::format("{:.4f}", *value) : "–");
      }
      table.addRow(std::move(row));
    }
  }
  return table.render("numbers");
}

// Groups of one dataset stand together, in the order the datasets first come.
std::vector<std::vector<RunGroup>> byDataset(RunGroups groups) {
  std::vector<std::vector<RunGroup>> datasets;
  for (const RunGroup& group : groups) {
    auto place = std::ranges::find_if(datasets, [&](const std::vector<RunGroup>& other) {
      return other.front().first().metrics.dataset == group.first().metrics.dataset;
    });
    if (place == datasets.end()) {
      datasets.emplace_back();
      place = datasets.end() - 1;
    }
    place->push_back(group);
  }
  return datasets;
}

std::string bestSingleView(RunGroups groups) {
  std::string html;
  for (const RunGroup& group : groups) {
    const auto& by_view = group.first().metrics.by_view;
    if (!by_view || by_view->best_test.empty()) {
      continue;
    }
    const auto& [metric, value] = by_view->best_test.values().front();
    html += fmt::format(
        "<p class=\"note\">{}: the best single view by validation, ({},{}), reaches a test {} of "
        "{:.4f} (seed {}).</p>\n",
        escapeMarkup(group.name), by_view->best.source, by_view->best.target, escapeMarkup(metric),
        value, group.first().metrics.seed);
  }
  return html;
}

}  // namespace

std::string folded(std::string_view summary, const std::string& content, OnPaper on_paper) {
  return fmt::format("<details{}><summary>{}</summary>\n{}</details>\n",
                     on_paper == OnPaper::kLeftOut ? " class=\"rest\"" : "", escapeMarkup(summary),
                     content);
}

std::vector<std::string> testMetrics(RunGroups groups) {
  std::vector<std::string> names;
  for (const RunGroup& group : groups) {
    for (const auto& [name, ignored] : group.first().metrics.test.values()) {
      if (std::ranges::find(names, name) == names.end()) {
        names.push_back(name);
      }
    }
  }
  return names;
}

std::string resultSection(RunGroups groups) {
  std::string html;
  if (groups.size() == 1) {
    html = oneMethod(groups.front());
  } else {
    std::string valid;
    for (const std::vector<RunGroup>& dataset : byDataset(groups)) {
      const std::string& name = dataset.front().first().metrics.dataset;
      html += manyMethods(dataset, name, Stage::kTest);
      valid += manyMethods(dataset, name, Stage::kValid);
    }
    html += folded("Validation", valid);
  }
  html += bestSingleView(groups);
  const bool several = groups.size() > 1 || groups.front().runs.size() > 1;
  return several ? html + folded("Every run", everyRun(groups)) : html;
}

}  // namespace edgewise
