// The one run that a command asks about.
#pragma once

#include <filesystem>

#include "commands.h"
#include "edgewise/training/stored_run.h"

namespace edgewise::app {

// Reads what the folder says and sets the threads that were asked for, or the run's. Throws
// DataError for a folder that holds no finished run, or several.
[[nodiscard]] StoredRun openOneRun(const Session& session, const std::filesystem::path& folder);

}  // namespace edgewise::app
