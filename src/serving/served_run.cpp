#include "edgewise/serving/served_run.h"

#include <utility>

#include "edgewise/data/open_dataset.h"

namespace edgewise {

ServedRun serveRun(StoredRun stored, const std::filesystem::path& data_root,
                   ProgressSink& progress) {
  Dataset dataset = openDataset(stored.options.data, stored.options.planted, data_root, progress);
  LinkSplit split = splitAgain(stored, dataset, progress);
  return {std::move(stored), std::move(dataset), std::move(split)};
}

}  // namespace edgewise
