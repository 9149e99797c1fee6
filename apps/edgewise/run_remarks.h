// What a finished run's numbers call for to be said beside them.
#pragma once

#include "console.h"
#include "edgewise/training/run_metrics.h"

namespace edgewise::app {

// A selector that gives nearly every pair the same view has not chosen.
void warnOfCollapse(const Console& console, const RunMetrics& run);
// Where a full ranking took some users only.
void noteRankedUsers(const Console& console, const RunMetrics& run);
void warnOfLeaks(const Console& console, const RunMetrics& run);

}  // namespace edgewise::app
