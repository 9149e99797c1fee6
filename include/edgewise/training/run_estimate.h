// A rough forecast of what a run will take, for --dry-run: from counts alone, nothing is computed.
#pragma once

#include <cstdint>

#include "edgewise/data/dataset.h"
#include "edgewise/training/run_options.h"

namespace edgewise {

struct RunEstimate {
  std::uint64_t memory_bytes = 0;
  double seconds = 0;
};

// By the model's kind.
[[nodiscard]] RunEstimate estimateRun(const Dataset& dataset, const RunOptions& options);
[[nodiscard]] RunEstimate estimateModelRun(const Dataset& dataset, const RunOptions& options);
[[nodiscard]] RunEstimate estimateHeuristicRun(const Dataset& dataset, const RunOptions& options);

}  // namespace edgewise
