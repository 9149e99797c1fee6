// What follows a training: its summary, its pages, its result on the screen and what to do next.
#pragma once

#include <filesystem>
#include <vector>

#include "commands.h"
#include "edgewise/training/run_metrics.h"

namespace edgewise::app {

// Of the runs at or below `out`.
void closeRuns(const Session& session, const std::vector<RunMetrics>& runs,
               const std::filesystem::path& out, bool with_report);

}  // namespace edgewise::app
