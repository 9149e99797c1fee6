// The figures, each from the results of its cells.
#pragma once

#include <filesystem>
#include <string>

#include "edgewise/experiments/experiment.h"
#include "edgewise/experiments/result_book.h"
#include "edgewise/report/grid.h"

namespace edgewise::detail {

struct Figure {
  std::string drawing = {};
  Grid table = {};
};

[[nodiscard]] Figure viewsFigure(const ExperimentPlan& plan, const ResultBook& book);
[[nodiscard]] Figure optimizationFigure(const ExperimentPlan& plan, const ResultBook& book);
[[nodiscard]] Figure hyperFigure(const ExperimentPlan& plan, const ResultBook& book);
// These two read what runs leave beside their metrics.
[[nodiscard]] Figure observationFigure(const ExperimentPlan& plan, const ResultBook& book,
                                       const std::filesystem::path& out);
[[nodiscard]] Figure curvesFigure(const ExperimentPlan& plan, const ResultBook& book,
                                  const std::filesystem::path& out);

}  // namespace edgewise::detail
