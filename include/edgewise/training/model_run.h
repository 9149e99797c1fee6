// A run that learns: train, keep the best epoch, score the test edges once. All it needs to go on
// after being killed lies in the run's folder.
#pragma once

#include <filesystem>

#include "edgewise/data/dataset.h"
#include "edgewise/data/link_split.h"
#include "edgewise/training/run_metrics.h"
#include "edgewise/training/run_options.h"
#include "edgewise/training/stored_model.h"
#include "edgewise/util/progress.h"

namespace edgewise {

// Names of the files in a run's folder.
inline constexpr const char* kCheckpointFile = "checkpoint.safetensors";
inline constexpr const char* kSearchFile = "search.safetensors";
inline constexpr const char* kRefitFile = "refit.safetensors";
inline constexpr const char* kViewsFile = "views.csv";
inline constexpr const char* kCurvesFile = "curves.csv";

// Trains in `folder`, from its checkpoint where there is one, and leaves model.safetensors and
// curves.csv there. The checkpoint stays until the caller has stored the result (finishModelRun).
// Throws ConfigError for options that do not go together, ResourceError when the run would need
// more memory than there is, InterruptedError after Ctrl-C, with a checkpoint left behind.
[[nodiscard]] RunMetrics runModel(const Dataset& dataset, const LinkSplit& split,
                                  RunOptions& options, const std::filesystem::path& folder,
                                  ProgressSink& progress = silentProgress());
// Whether these options make a model for this data, and one that fits into memory. Throws what
// runModel would.
void checkModelRun(const Dataset& dataset, const RunOptions& options);
// Removes what only resuming needs.
void finishModelRun(const std::filesystem::path& folder);

// Scores again with the stored model.safetensors.
[[nodiscard]] RunMetrics evaluateModel(const Dataset& dataset, const LinkSplit& split,
                                       RunOptions& options, const std::filesystem::path& folder,
                                       ProgressSink& progress = silentProgress());

}  // namespace edgewise
