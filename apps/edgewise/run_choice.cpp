#include "run_choice.h"

#include <fmt/format.h>

#include <system_error>

#include "edgewise/ops/backend.h"
#include "edgewise/training/run_folder.h"

namespace edgewise::app {
namespace {

// A folder of several runs is an easy slip: it is what --seeds leaves.
void requireOneRun(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (std::filesystem::exists(folder / "options.json", ignored)) {
    return;
  }
  const std::vector<std::filesystem::path> runs = runsBelow(folder);
  if (!runs.empty()) {
    throw DataError(FilePlace{folder},
                    fmt::format("is no run itself, but holds {} below", runs.size()),
                    "name one of them, such as " + runs.front().string());
  }
}

}  // namespace

StoredRun openOneRun(const Session& session, const std::filesystem::path& folder) {
  requireOneRun(folder);
  StoredRun stored = readStoredRun(folder);
  setBackendThreads(session.threads.value_or(static_cast<int>(stored.options.threads)));
  return stored;
}

}  // namespace edgewise::app
