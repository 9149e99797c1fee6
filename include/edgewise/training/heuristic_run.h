// A run without learning: score held-out edges by a heuristic on the message graph of the moment.
#pragma once

#include "edgewise/data/dataset.h"
#include "edgewise/data/link_split.h"
#include "edgewise/training/run_metrics.h"
#include "edgewise/training/run_options.h"
#include "edgewise/util/progress.h"

namespace edgewise {

// Scores validation edges over messagesAtValid and test edges over messagesAtTest; audits the split
// by what was really used. Throws ConfigError for a heuristic that cannot tell anything on
// bipartite data.
[[nodiscard]] RunMetrics runHeuristic(const Dataset& dataset, const LinkSplit& split,
                                      const RunOptions& options,
                                      ProgressSink& progress = silentProgress());

// Throws ConfigError where runHeuristic would: for a heuristic that does not fit the data, or a
// Katz index that diverges on its messages.
void checkHeuristicRun(const Dataset& dataset, const LinkSplit& split, const RunOptions& options);

}  // namespace edgewise
