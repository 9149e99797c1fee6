// What an experiment ends in: its table, its figure where it is one, and files of both.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "edgewise/experiments/experiment.h"
#include "edgewise/experiments/reproduction.h"
#include "edgewise/experiments/result_book.h"
#include "edgewise/report/grid.h"

namespace edgewise {

struct ExperimentReport {
  std::string title = {};
  Grid table = {};
  // An SVG document; nothing for a table.
  std::optional<std::string> figure = {};
  std::vector<std::string> remarks = {};

  // A page that stands alone.
  [[nodiscard]] std::string html() const;
};

// From the results in the book; fig:observation and fig:curves also read the runs' own files below
// `out`.
[[nodiscard]] ExperimentReport makeReport(const ExperimentPlan& plan,
                                          std::span<const CellStatus> cells, const ResultBook& book,
                                          const std::filesystem::path& out);

// Writes NAME.html, NAME.md and NAME.svg (fig-views for fig:views) and returns their paths.
std::vector<std::filesystem::path> writeReport(const ExperimentReport& report,
                                               const std::string& experiment,
                                               const std::filesystem::path& out);

}  // namespace edgewise
