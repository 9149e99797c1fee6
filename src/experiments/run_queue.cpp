#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <system_error>
#include <thread>

#include "edgewise/experiments/reproduction.h"
#include "edgewise/training/run_folder.h"
#include "edgewise/util/child_process.h"
#include "edgewise/util/error.h"
#include "edgewise/util/file.h"
#include "edgewise/util/interrupt.h"
#include "edgewise/util/process.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

struct QueuedRun {
  const CellStatus* status = nullptr;
  std::int64_t seed = 0;
  std::filesystem::path folder;
  std::string label;
};

std::vector<QueuedRun> unfinishedRuns(std::span<const CellStatus> cells,
                                      const std::filesystem::path& out) {
  std::vector<QueuedRun> runs;
  for (const CellStatus& status : cells) {
    if (!status.runnable()) {
      continue;
    }
    for (const std::int64_t seed : status.open) {
      runs.push_back({.status = &status,
                      .seed = seed,
                      .folder = runFolderOf(status.cell, seed, out),
                      .label = fmt::format("{} seed {}", status.cell.name(), seed)});
    }
  }
  return runs;
}

// What the program said went wrong, or how it ended when it said nothing.
std::string reasonIn(const std::filesystem::path& log, int code) {
  std::string reason;
  if (isThere(log)) {
    const FileBytes bytes = readFile(log);
    for (const std::string_view line : splitText(bytes.view(), '\n')) {
      constexpr std::string_view kMark = "edgewise: ";
      if (line.starts_with(kMark)) {
        reason = trimmed(line.substr(kMark.size()));
      }
    }
  }
  return reason.empty() ? fmt::format("ended with code {}", code) : reason;
}

class Queue {
 public:
  Queue(std::span<const CellStatus> cells, const ReproductionOptions& options,
        ReproductionWatcher& watcher)
      : options_(options),
        watcher_(watcher),
        lock_(options.out),
        runs_(unfinishedRuns(cells, options.out)),
        memory_(availableMemoryBytes()) {
    for (const QueuedRun& run : runs_) {
      forecast_left_ += run.status->seconds;
    }
    std::error_code ignored;
    std::filesystem::create_directories(options_.out / kLogs, ignored);
  }

  std::vector<RunFailure> work() {
    while (next_ < runs_.size() || !active_.empty()) {
      if (interruptRequested()) {
        stop();
      }
      while (mayStart()) {
        start(runs_[next_++]);
      }
      const bool ended = endFinished();
      watcher_.tick(moment());
      if (!ended) {
        std::this_thread::sleep_for(std::chrono::milliseconds(kPollMs));
      }
    }
    std::error_code ignored;
    std::filesystem::remove(options_.out / kLogs, ignored);  // unless failures left something there
    return std::move(failures_);
  }

 private:
  static constexpr const char* kLogs = "logs";
  static constexpr int kPollMs = 50;

  struct Active {
    const QueuedRun* run;
    std::filesystem::path log;
    Stopwatch watch;
    ChildProcess process;
  };

  [[nodiscard]] bool mayStart() const {
    if (next_ == runs_.size() || std::ssize(active_) >= options_.jobs) {
      return false;
    }
    std::uint64_t taken = runs_[next_].status->memory_bytes;
    for (const Active& active : active_) {
      taken += active.run->status->memory_bytes;
    }
    return active_.empty() || memory_ == 0 || taken <= memory_;
  }

  [[nodiscard]] std::vector<std::string> wordsFor(const QueuedRun& run) const {
    std::vector<std::string> words;
    if (canGoOnWith(run.folder)) {
      words = {"train", "--resume", run.folder.string()};
    } else {
      // Such as what a run leaves that was killed before it had written its options.
      std::error_code ignored;
      std::filesystem::remove_all(run.folder, ignored);
      words = run.status->cell.trainWords();
      // Before --set, which takes all that follows.
      words.insert(words.begin() + 1, {"--seed", std::to_string(run.seed), "--out",
                                       run.folder.string(), "--device", options_.device});
    }
    words.insert(words.begin() + 1, {"--quiet", "--threads", std::to_string(options_.threads)});
    if (options_.data_root) {
      words.insert(words.begin() + 1, {"--data", *options_.data_root});
    }
    return words;
  }

  void start(const QueuedRun& run) {
    std::filesystem::path log =
        options_.out / kLogs / fmt::format("{}-seed-{}.txt", run.status->cell.name(), run.seed);
    ChildProcess process({.program = options_.program, .words = wordsFor(run), .output = log});
    active_.push_back(
        {.run = &run, .log = std::move(log), .watch = {}, .process = std::move(process)});
  }

  bool endFinished() {
    bool ended = false;
    for (auto active = active_.begin(); active != active_.end();) {
      if (active->process.running()) {
        ++active;
        continue;
      }
      ended = true;
      std::list<Active> done;
      done.splice(done.end(), active_, active++);
      close(done.front(), done.front().process.wait());
    }
    return ended;
  }

  void close(const Active& done, int code) {
    const double seconds = done.watch.seconds();
    ++done_;
    forecast_left_ -= done.run->status->seconds;
    forecast_done_ += done.run->status->seconds;
    taken_ += seconds;
    if (code == 0 && holdsResult(done.run->folder)) {
      std::error_code ignored;
      std::filesystem::remove(done.log, ignored);
      watcher_.finished(done.run->status->cell, readSeedResult(done.run->folder), seconds,
                        moment());
      return;
    }
    failures_.push_back({done.run->label, reasonIn(done.log, code), code});
    watcher_.failed(failures_.back());
  }

  // What was forecast, corrected by how forecasts have fared so far.
  [[nodiscard]] ReproductionWatcher::Moment moment() const {
    ReproductionWatcher::Moment now{.done = done_, .total = runs_.size()};
    double spent = 0;
    for (const Active& active : active_) {
      now.running.push_back(active.run->label);
      spent += active.watch.seconds();
    }
    const double ratio = forecast_done_ > 0 ? taken_ / forecast_done_ : 1;
    now.seconds_left = std::max(0.0, forecast_left_ * ratio - spent) / options_.jobs;
    return now;
  }

  [[noreturn]] void stop() {
    for (const Active& active : active_) {
      active.process.interrupt();
    }
    for (Active& active : active_) {
      active.process.wait();
    }
    throw InterruptedError(
        fmt::format("interrupted with {} of {} runs done; nothing is lost", done_, runs_.size()),
        "the same command goes on from here");
  }

  ReproductionOptions options_;
  ReproductionWatcher& watcher_;
  FolderLock lock_;
  std::vector<QueuedRun> runs_;
  std::uint64_t memory_;
  std::list<Active> active_;
  std::size_t next_ = 0;
  std::size_t done_ = 0;
  double forecast_left_ = 0;
  double forecast_done_ = 0;
  double taken_ = 0;
  std::vector<RunFailure> failures_;
};

}  // namespace

std::vector<RunFailure> makeRuns(std::span<const CellStatus> cells,
                                 const ReproductionOptions& options, ReproductionWatcher& watcher) {
  return Queue(cells, options, watcher).work();
}

}  // namespace edgewise
