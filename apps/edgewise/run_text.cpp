#include "run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "edgewise/evaluation/summary.h"
#include "edgewise/report/mean_text.h"
#include "edgewise/util/count_text.h"
#include "edgewise/util/text.h"

namespace edgewise::app {
namespace {

// Models in the order they were first run, each with its runs' test metrics.
struct ModelRuns {
  std::string model;
  std::vector<MetricSet> test;
  std::vector<MetricSet> valid;
};

std::vector<ModelRuns> groupByModel(std::span<const RunMetrics> runs) {
  std::vector<ModelRuns> groups;
  for (const RunMetrics& run : runs) {
    auto group = std::ranges::find(groups, run.label(), &ModelRuns::model);
    if (group == groups.end()) {
      groups.push_back({.model = run.label(), .test = {}, .valid = {}});
      group = groups.end() - 1;
    }
    group->test.push_back(run.test);
    group->valid.push_back(run.valid);
  }
  return groups;
}

nlohmann::ordered_json summaryJson(std::span<const MetricSet> runs) {
  nlohmann::ordered_json json;
  for (const MetricSummary& summary : summarise(runs)) {
    json[summary.name] = {
        {"mean", summary.value.mean}, {"std", summary.value.std}, {"count", summary.value.count}};
  }
  return json;
}

}  // namespace

std::string describeSplit(const RunMetrics& run) {
  const SplitSummary& split = run.split;
  const std::string negatives =
      split.negatives_per_positive > 0
          ? fmt::format("{} for each",
                        countText(split.negatives_per_positive, split.negatives + " negative"))
          : fmt::format("{} negatives {} / {}", split.negatives, groupedCount(split.valid_negative),
                        groupedCount(split.test_negative));
  const std::string audit = run.audit.clean()
                                ? fmt::format("{} checks, no leaks", run.audit.checks.size())
                                : countText(run.audit.leakCount(), "LEAK", "LEAKS");
  return fmt::format(
      "split {} (seed {}): {} message, {} valid, {}; {}; split {}\n"
      "messages at train: {}, at test: {}; audit: {}",
      split.kind, split.seed, groupedCount(split.message), groupedCount(split.valid),
      countText(split.test, "test edge"), negatives, split.hash.substr(0, 12),
      split.message_at_train, split.message_at_test, audit);
}

TextTable metricsTable(const RunMetrics& run) {
  TextTable table({{run.label()}, {"valid", Align::kRight}, {"test", Align::kRight}});
  for (const auto& [name, value] : run.test.values()) {
    const auto valid = run.valid.find(name);
    table.addRow({name, valid ? fmt::format("{:.4f}", *valid) : "-",
                  TextTable::Cell(fmt::format("{:.4f}", value), Ink::kBold)});
  }
  return table;
}

TextTable comparisonTable(std::span<const RunMetrics> runs) {
  const std::vector<ModelRuns> groups = groupByModel(runs);
  std::vector<TextTable::Column> columns = {{"model"}, {"runs", Align::kRight}};
  std::vector<std::vector<MetricSummary>> rows;
  std::vector<double> best;
  for (const ModelRuns& group : groups) {
    rows.push_back(summarise(group.test));
    for (std::size_t i = 0; i < rows.back().size(); ++i) {
      if (rows.size() == 1) {
        columns.push_back({"test " + rows.back()[i].name, Align::kRight});
        best.push_back(rows.back()[i].value.mean);
      }
      best[i] = std::max(best[i], rows.back()[i].value.mean);
    }
  }
  TextTable table(std::move(columns));
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::vector<TextTable::Cell> cells = {groups[row].model,
                                          std::to_string(groups[row].test.size())};
    for (std::size_t i = 0; i < rows[row].size(); ++i) {
      const MeanStd& value = rows[row][i].value;
      cells.emplace_back(meanText(value), value.mean == best[i] ? Ink::kBold : Ink::kPlain);
    }
    table.addRow(std::move(cells));
  }
  return table;
}

nlohmann::ordered_json comparisonJson(std::span<const RunMetrics> runs) {
  nlohmann::ordered_json json;
  for (const ModelRuns& group : groupByModel(runs)) {
    json[group.model] = {{"valid", summaryJson(group.valid)}, {"test", summaryJson(group.test)}};
  }
  return json;
}

std::string describeLearning(const RunMetrics& run, const LearningSummary& learning) {
  std::string text = fmt::format("{} on {}: {} parameters", run.label(), learning.input,
                                 groupedCount(static_cast<std::size_t>(learning.parameters)));
  if (learning.epochs > 0) {
    text += fmt::format(", {}, best {}",
                        countText(static_cast<std::uint64_t>(learning.epochs), "epoch"),
                        learning.best_epoch);
  }
  if (run.views) {
    text += fmt::format("\n{:.2f} views in use for the test links", run.views->effective);
    for (const auto& [name, share] : run.views->agreement) {
      text += fmt::format(", {} right {:.0f}%", name, 100 * share);
    }
  }
  if (run.by_view) {
    text += fmt::format("\nbest single view by validation: ({},{})", run.by_view->best.source,
                        run.by_view->best.target);
    for (const auto& [name, value] : run.by_view->best_test.values()) {
      text += fmt::format(", test {} {:.4f}", name, value);
    }
  }
  return text;
}

void showRuns(const Console& console, std::span<const RunMetrics> runs) {
  console.say(describeSplit(runs.front()) + "\n");
  if (runs.size() == 1) {
    if (const auto& learning = runs.front().learning) {
      console.say(describeLearning(runs.front(), *learning) + "\n");
    }
    console.show(metricsTable(runs.front()));
    console.showJson(runs.front().toJson());
  } else {
    console.show(comparisonTable(runs));
    console.showJson(comparisonJson(runs));
  }
}

}  // namespace edgewise::app
