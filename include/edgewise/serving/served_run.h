// A finished run opened to answer questions: what it was made with, its data, and the split it was
// cut by.
#pragma once

#include <filesystem>

#include "edgewise/data/dataset.h"
#include "edgewise/data/link_split.h"
#include "edgewise/training/stored_run.h"
#include "edgewise/util/progress.h"

namespace edgewise {

struct ServedRun {
  StoredRun stored;
  Dataset dataset;
  LinkSplit split;
};

// Loads the run's data from its own files or `data_root`. Throws DataError when it is not what the
// run was made with.
[[nodiscard]] ServedRun serveRun(StoredRun stored, const std::filesystem::path& data_root,
                                 ProgressSink& progress = silentProgress());

}  // namespace edgewise
