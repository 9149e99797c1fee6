// A finished run as its folder tells it: what it was made with, and on which data and split. What
// opens a run again starts here, and is told when the data is no longer the run's.
#pragma once

#include <filesystem>
#include <string>

#include "edgewise/data/dataset.h"
#include "edgewise/data/link_split.h"
#include "edgewise/evaluation/metric_set.h"
#include "edgewise/training/run_options.h"
#include "edgewise/util/progress.h"

namespace edgewise {

struct StoredRun {
  std::filesystem::path folder;
  RunOptions options;
  std::string data_hash;
  std::string split_hash;
  MetricSet valid;
  MetricSet test;
  // What computed them, and how products were rounded.
  std::string device = "cpu";
  std::string precision = "fp32";
};

// Throws DataError for a folder that holds no run, or one that is unfinished or damaged.
[[nodiscard]] StoredRun readStoredRun(const std::filesystem::path& folder);

// Cuts the data as the run did. Throws DataError when it is not the run's data, or is cut
// differently today.
[[nodiscard]] LinkSplit splitAgain(const StoredRun& run, const Dataset& dataset,
                                   ProgressSink& progress = silentProgress());

}  // namespace edgewise
