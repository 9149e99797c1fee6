#include "edgewise/experiments/reproduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "edgewise/data/catalogue.h"
#include "edgewise/data/sized_graph.h"
#include "edgewise/training/model_run.h"
#include "edgewise/training/run_estimate.h"
#include "edgewise/training/run_folder.h"
#include "edgewise/util/error.h"
#include "edgewise/util/text.h"
#include "edgewise/util/version.h"

namespace edgewise {
namespace {

// "training.epochs is 3 there and 100 now" for the first option that differs; empty for none.
std::string firstDifference(const nlohmann::json& stored, const nlohmann::json& wanted) {
  const nlohmann::json before = stored.flatten();
  const nlohmann::json now = wanted.flatten();
  for (const auto& [pointer, value] : now.items()) {
    const auto found = before.find(pointer);
    if (found == before.end() || *found != value) {
      std::string key = pointer.substr(1);
      std::ranges::replace(key, '/', '.');
      return fmt::format("{} is {} there and {} now", key,
                         found == before.end() ? "not told" : found->dump(), value.dump());
    }
  }
  return "";
}

// A run of other options is not this cell's, whatever its folder is called.
void checkOptions(const std::filesystem::path& folder, const RunOptions& wanted) {
  RunOptions stored;
  RunFolder::open(folder).readOptions(stored);
  const std::string difference = firstDifference(decidingOptions(stored), decidingOptions(wanted));
  if (!difference.empty()) {
    throw ConfigError(
        fmt::format("{} was made with other options: {}", folder.string(), difference),
        "choose another --out, or remove that folder");
  }
}

// Null where the store does not have it, or has other settings by that name.
const SeedResult* storedRun(const ResultBook& stored, const Cell& cell, std::int64_t seed) {
  const CellResult* const result = stored.find(cell.name());
  if (result == nullptr || result->cell.settings != cell.settings) {
    return nullptr;
  }
  const auto run =
      std::ranges::find(result->runs, static_cast<std::uint64_t>(seed), &SeedResult::seed);
  return run == result->runs.end() ? nullptr : &*run;
}

void countRuns(CellStatus& status, const ReproductionOptions& options) {
  for (std::int64_t seed = 0; seed < status.wanted; ++seed) {
    const std::filesystem::path folder = runFolderOf(status.cell, seed, options.out);
    const bool finished = holdsResult(folder);
    const bool begun = !finished && canGoOnWith(folder);
    if (finished || begun) {
      checkOptions(folder, resolveCell(status.cell, seed));
    }
    if (!finished && storedRun(options.stored, status.cell, seed) == nullptr) {
      status.open.push_back(seed);
      status.begun += begun ? 1 : 0;
    }
  }
}

void markAbsent(CellStatus& status) {
  status.absent = true;
  status.obstacle = fmt::format("{} is not at hand", status.cell.dataset);
  status.remedy =
      fmt::format("`edgewise datasets {}` says which files to put where", status.cell.dataset);
}

// A cell that this machine has no room for is told apart from one that nobody could run.
void estimate(CellStatus& status, const Dataset& dataset) {
  const RunOptions options = resolveCell(status.cell);
  try {
    checkModelRun(dataset, options);
  } catch (const ResourceError& error) {
    status.obstacle = error.what();
    status.remedy = error.hint();
    return;
  }
  const RunEstimate forecast = estimateRun(dataset, options);
  constexpr double kStart = 0.7;  // of a program with libtorch, and its dataset
  status.seconds = forecast.seconds + kStart;
  status.memory_bytes = forecast.memory_bytes;
}

}  // namespace

bool canGoOnWith(const std::filesystem::path& folder) {
  try {
    return RunFolder::open(folder).version() == versionText();
  } catch (const DataError&) {
    return false;
  }
}

bool isAtHand(const std::string& dataset, const std::filesystem::path& data_root) {
  if (dataset == "planted" || dataset.starts_with(kSizedPrefix)) {
    return true;
  }
  return inspect(findDataset(dataset), data_root).usable();
}

std::filesystem::path runFolderOf(const Cell& cell, std::int64_t seed,
                                  const std::filesystem::path& out) {
  return out / cell.name() / fmt::format("seed-{}", seed);
}

std::vector<CellStatus> inspectCells(const ExperimentPlan& plan, const ReproductionOptions& options,
                                     ProgressSink& progress) {
  const std::filesystem::path root = dataRoot(options.data_root);
  std::vector<CellStatus> cells;
  std::map<std::string, std::vector<std::size_t>> by_dataset;
  for (const Cell& cell : plan.cells) {
    CellStatus status{.cell = cell, .wanted = plan.experiment.seeds};
    countRuns(status, options);
    const bool to_make = status.left() > 0 && !options.collect;
    if (to_make && !isAtHand(cell.dataset, root)) {
      markAbsent(status);
    } else if (to_make) {
      by_dataset[cell.dataset].push_back(cells.size());
    }
    cells.push_back(std::move(status));
  }
  for (const auto& [name, members] : by_dataset) {
    const RunOptions first = resolveCell(cells[members.front()].cell);
    const Dataset dataset = openDataset(first.data, first.planted, root, progress);
    for (const std::size_t member : members) {
      estimate(cells[member], dataset);
    }
  }
  return cells;
}

double secondsLeft(std::span<const CellStatus> cells, int jobs) {
  double sum = 0;
  double longest = 0;
  for (const CellStatus& status : cells) {
    sum += static_cast<double>(status.left()) * status.seconds;
    longest = std::max(longest, status.left() > 0 ? status.seconds : 0);
  }
  return std::max(longest, sum / std::max(1, jobs));
}

ResultBook storedResults(std::span<const CellStatus> cells, const ReproductionOptions& options) {
  ResultBook book;
  for (const CellStatus& status : cells) {
    for (std::int64_t seed = 0; seed < status.wanted; ++seed) {
      if (const SeedResult* const run = storedRun(options.stored, status.cell, seed)) {
        book.add(status.cell, *run);
      }
    }
  }
  return book;
}

ResultBook collectResults(std::span<const CellStatus> cells, const std::filesystem::path& out) {
  ResultBook book;
  for (const CellStatus& status : cells) {
    for (std::int64_t seed = 0; seed < status.wanted; ++seed) {
      const std::filesystem::path folder = runFolderOf(status.cell, seed, out);
      if (holdsResult(folder)) {
        book.add(status.cell, readSeedResult(folder));
      }
    }
    if (status.absent) {
      book.setAbsent(status.cell.dataset, fmt::format("{}; {}", status.obstacle, status.remedy));
    }
  }
  return book;
}

}  // namespace edgewise
