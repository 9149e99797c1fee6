#include "edgewise/training/stored_run.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "edgewise/training/run_folder.h"
#include "edgewise/util/error.h"

namespace edgewise {
namespace {

void requireSame(const std::string& what, const std::string& stored, const std::string& found,
                 const std::filesystem::path& folder) {
  if (stored != found) {
    throw DataError(fmt::format("{}: the {} has changed since the run (was {}, is {})",
                                folder.string(), what, stored.substr(0, 12), found.substr(0, 12)),
                    "restore the data the run was made with, or train again");
  }
}

}  // namespace

StoredRun readStoredRun(const std::filesystem::path& folder) {
  const RunFolder files = RunFolder::open(folder);
  StoredRun run;
  run.folder = folder;
  run.data_hash = files.readOptions(run.options);
  const nlohmann::ordered_json json = files.readJson("metrics.json");
  try {
    run.split_hash = json.at("split").at("hash").get<std::string>();
    run.valid = MetricSet::fromJson(json.at("valid"));
    run.test = MetricSet::fromJson(json.at("test"));
    run.device = json.value("device", run.device);
    run.precision = json.value("precision", run.precision);
  } catch (const nlohmann::json::exception& error) {
    throw DataError(FilePlace{folder / "metrics.json"},
                    fmt::format("is damaged ({})", error.what()), "run the training again");
  }
  return run;
}

LinkSplit splitAgain(const StoredRun& run, const Dataset& dataset, ProgressSink& progress) {
  requireSame("data", run.data_hash, dataset.hash, run.folder);
  const RunOptions& options = run.options;
  LinkSplit split =
      splitLinks(dataset, options.split, options.negatives, splitSeed(options), progress);
  requireSame("split", run.split_hash, split.hash, run.folder);
  return split;
}

}  // namespace edgewise
