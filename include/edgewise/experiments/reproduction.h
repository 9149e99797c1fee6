// An experiment's runs, made by `edgewise train` as a user would make them: one process a run,
// several at a time, each in an ordinary run folder OUT/CELL/seed-N. Whatever stops them, at any
// moment: what is finished is kept, what was begun goes on from its checkpoint.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "edgewise/experiments/experiment.h"
#include "edgewise/experiments/result_book.h"
#include "edgewise/util/progress.h"

namespace edgewise {

struct ReproductionOptions {
  std::filesystem::path out = {};
  std::optional<std::string> data_root = {};
  // The program that trains.
  std::filesystem::path program = "/proc/self/exe";
  // Runs at a time, and threads of each.
  int jobs = 1;
  int threads = 1;
  std::string device = "auto";
  // Run nothing: what is left is not estimated either.
  bool collect = false;
  // Runs that count as made although no folder has them, whatever version made them.
  ResultBook stored = {};
};

// How a cell stands.
struct CellStatus {
  Cell cell = {};
  // Why it cannot be run here, and what to do about it; empty where it can.
  std::string obstacle = {};
  std::string remedy = {};
  // The obstacle is that there is no data.
  bool absent = false;
  // Of its runs: how many there are to be, the seeds of those that are not made yet, and how many
  // of them were begun.
  std::int64_t wanted = 0;
  std::vector<std::int64_t> open = {};
  std::int64_t begun = 0;
  // Of one run; nothing is estimated for a cell that is finished.
  double seconds = 0;
  std::uint64_t memory_bytes = 0;

  [[nodiscard]] bool runnable() const { return obstacle.empty(); }
  [[nodiscard]] std::int64_t finished() const { return wanted - std::ssize(open); }
  [[nodiscard]] std::int64_t left() const { return runnable() ? std::ssize(open) : 0; }
};

// A run that ended otherwise than well.
struct RunFailure {
  std::string run = {};
  std::string reason = {};
  // What its program ended with.
  int code = 1;
};

// Told what happens, from the thread that called.
class ReproductionWatcher {
 public:
  ReproductionWatcher() = default;
  ReproductionWatcher(const ReproductionWatcher&) = delete;
  ReproductionWatcher& operator=(const ReproductionWatcher&) = delete;
  ReproductionWatcher(ReproductionWatcher&&) = delete;
  ReproductionWatcher& operator=(ReproductionWatcher&&) = delete;
  virtual ~ReproductionWatcher() = default;

  // How far the work is; `seconds_left` is a guess.
  struct Moment {
    std::size_t done = 0;
    std::size_t total = 0;
    double seconds_left = 0;
    std::vector<std::string> running = {};
  };
  // Several times a second.
  virtual void tick(const Moment& moment) = 0;
  virtual void finished(const Cell& cell, const SeedResult& result, double seconds,
                        const Moment& moment) = 0;
  virtual void failed(const RunFailure& failure) = 0;
};

// Whether a dataset is generated or on disk; nothing is downloaded.
[[nodiscard]] bool isAtHand(const std::string& dataset, const std::filesystem::path& data_root);

// Whether this version of the program began the run and can go on with it; what another one left
// unfinished is made anew.
[[nodiscard]] bool canGoOnWith(const std::filesystem::path& folder);

[[nodiscard]] std::filesystem::path runFolderOf(const Cell& cell, std::int64_t seed,
                                                const std::filesystem::path& out);

// Looks at what is on disk and asks every cell that has runs left whether it can be run here and
// how long it would take, for which its dataset is loaded. Throws ConfigError for options that do
// not go together, and for a run in the folder that was made with others than the plan's.
[[nodiscard]] std::vector<CellStatus> inspectCells(const ExperimentPlan& plan,
                                                   const ReproductionOptions& options,
                                                   ProgressSink& progress = silentProgress());

// Guessed seconds for all that is left.
[[nodiscard]] double secondsLeft(std::span<const CellStatus> cells, int jobs);

// Makes the runs that are left. Runs that fail do not stop the others. Throws InterruptedError
// after Ctrl-C, when all that ran have left their checkpoints; ConfigError when another process
// works in the folder.
[[nodiscard]] std::vector<RunFailure> makeRuns(std::span<const CellStatus> cells,
                                               const ReproductionOptions& options,
                                               ReproductionWatcher& watcher);

// The results of the cells' runs, of the seeds asked for, that are finished in their folders.
[[nodiscard]] ResultBook collectResults(std::span<const CellStatus> cells,
                                        const std::filesystem::path& out);
// And of those that options.stored counts as made.
[[nodiscard]] ResultBook storedResults(std::span<const CellStatus> cells,
                                       const ReproductionOptions& options);

}  // namespace edgewise
