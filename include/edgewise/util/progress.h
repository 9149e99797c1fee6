// Progress of long work. Libraries report to a `ProgressSink` they are given and never print; the
// program hands them a bar or a log, a test hands them a recorder, everyone else the silent one.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace edgewise {

class ProgressSink {
 public:
  ProgressSink() = default;
  ProgressSink(const ProgressSink&) = delete;
  ProgressSink& operator=(const ProgressSink&) = delete;
  ProgressSink(ProgressSink&&) = delete;
  ProgressSink& operator=(ProgressSink&&) = delete;
  virtual ~ProgressSink() = default;

  // Work begins; `total` 0 means unknown.
  virtual void begin(std::string_view label, std::uint64_t total) = 0;
  // `done` of the total so far. May be called from any thread.
  virtual void update(std::uint64_t done) = 0;
  virtual void end() = 0;
  // How the work stands, in a few words ("loss 0.312, valid auc 0.941"), shown with it.
  virtual void remark(std::string_view) {}
};

// Shows nothing.
[[nodiscard]] ProgressSink& silentProgress();

// One piece of work, shown from construction to destruction. `advance` is safe from parallel loops.
class ProgressTask {
 public:
  ProgressTask(ProgressSink& sink, std::string_view label, std::uint64_t total) : sink_(sink) {
    sink_.begin(label, total);
  }
  ProgressTask(const ProgressTask&) = delete;
  ProgressTask& operator=(const ProgressTask&) = delete;
  ProgressTask(ProgressTask&&) = delete;
  ProgressTask& operator=(ProgressTask&&) = delete;
  ~ProgressTask() { sink_.end(); }

  void remark(std::string_view text) { sink_.remark(text); }
  void advance(std::uint64_t amount = 1) {
    sink_.update(done_.fetch_add(amount, std::memory_order_relaxed) + amount);
  }

 private:
  ProgressSink& sink_;
  std::atomic<std::uint64_t> done_{0};
};

}  // namespace edgewise
