// Results beside the paper's, as tables.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "edgewise/experiments/experiment.h"
#include "edgewise/experiments/reproduction.h"
#include "edgewise/experiments/result_book.h"
#include "edgewise/report/grid.h"

namespace edgewise {

// The metrics by which the paper reports on a dataset, the first one first.
[[nodiscard]] std::vector<std::string> tableMetrics(const std::string& dataset);
// Those of them that one of its tables has; all where it says nothing of the dataset.
[[nodiscard]] std::vector<std::string> tableMetrics(const std::string& dataset,
                                                    const std::string& table);

// "92.25 ± 0.71" in percent; without ± for a single run.
[[nodiscard]] std::string percentText(const MeanStd& value);
// What the paper has for a cell, by metric with " / " between; empty where it has nothing.
[[nodiscard]] std::string paperText(const std::string& table, const Cell& cell);
// The same of a result; empty where there is none.
[[nodiscard]] std::string resultText(const CellResult* result,
                                     std::span<const std::string> metrics);
// "+1.88 (t 10.7)": the difference in the first metric, in points; empty without shared seeds.
[[nodiscard]] std::string differenceText(const CellResult* first, const CellResult* second);

// The fixed view that validates best among those that were run, the vanilla model's own included
// where it is one; null for none.
[[nodiscard]] const CellResult* bestFixed(const ResultBook& book, const Cell& like);

// One row a cell, then what PS2 gains over the others on the same seeds. Cells without runs say
// why.
[[nodiscard]] Grid comparisonGrid(const ExperimentPlan& plan, std::span<const CellStatus> cells,
                                  const ResultBook& book);
// Seconds an epoch, without and with PS2.
[[nodiscard]] Grid efficiencyGrid(const ExperimentPlan& plan, const ResultBook& book);
// Seconds that an epoch of the last phase takes, by the steps that were timed.
[[nodiscard]] std::optional<double> epochSeconds(const CellResult& result);

// All of it for programs.
[[nodiscard]] nlohmann::ordered_json resultsJson(const ExperimentPlan& plan,
                                                 std::span<const CellStatus> cells,
                                                 const ResultBook& book);

}  // namespace edgewise
