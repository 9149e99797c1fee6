// A run's result as a table, and several runs as mean ± std.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "console.h"
#include "edgewise/report/text_table.h"
#include "edgewise/training/run_metrics.h"

namespace edgewise::app {

// One line on the split and its audit.
[[nodiscard]] std::string describeSplit(const RunMetrics& run);
// What was learned from what, and for how long.
[[nodiscard]] std::string describeLearning(const RunMetrics& run, const LearningSummary& learning);
// Metrics down, validation and test across.
[[nodiscard]] TextTable metricsTable(const RunMetrics& run);
// One row a model: mean ± std over its runs of every test metric, best in bold.
[[nodiscard]] TextTable comparisonTable(std::span<const RunMetrics> runs);
// The same as JSON: model -> metric -> mean, std, count.
[[nodiscard]] nlohmann::ordered_json comparisonJson(std::span<const RunMetrics> runs);
// The result of one run or of several, as a table or as JSON.
void showRuns(const Console& console, std::span<const RunMetrics> runs);

}  // namespace edgewise::app
