// All that a run's folder tells about a finished run, as a report needs it. Neither the data nor
// the model is opened.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "edgewise/training/run_metrics.h"
#include "edgewise/training/run_options.h"
#include "edgewise/training/test_curves.h"

namespace edgewise {

// One phase of curves.csv ("search", "apply", "train", ...), a value an epoch. NaN where a phase
// was not validated.
struct LearningPhase {
  std::string name;
  std::vector<double> epoch;
  std::vector<double> loss;
  // By metric.
  std::vector<std::pair<std::string, std::vector<double>>> valid;
};

struct RunRecord {
  std::filesystem::path folder;
  // The program that made it.
  std::string version;
  RunOptions options;
  RunMetrics metrics;
  std::vector<LearningPhase> phases;
  std::optional<TestCurves> curves;
  // What a report would show and the folder does not hold, each a sentence.
  std::vector<std::string> missing;
};

// Throws DataError for a folder that holds no run, or one that is unfinished, damaged or of a newer
// version. Files that only pictures need may be missing or damaged: the record says so.
[[nodiscard]] RunRecord readRunRecord(const std::filesystem::path& folder);

struct RunRecords {
  std::vector<RunRecord> runs;
  // Runs that were left out, each a sentence.
  std::vector<std::string> left_out;
};

// The finished runs at or below the folders, each once, in the order of the folders and below one
// by name and number. Throws DataError for a folder without any.
[[nodiscard]] RunRecords readRunRecords(std::span<const std::filesystem::path> folders);

}  // namespace edgewise
