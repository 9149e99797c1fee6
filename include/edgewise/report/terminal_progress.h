// A progress bar on a terminal: label, bar, share done, time left. Redrawn at most ten times a
// second, gone when done.
#pragma once

#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>

#include "edgewise/report/terminal.h"
#include "edgewise/util/progress.h"

namespace edgewise {

class TerminalProgress final : public ProgressSink {
 public:
  TerminalProgress(std::FILE* stream, TerminalStyle style) : stream_(stream), style_(style) {}

  void begin(std::string_view label, std::uint64_t total) override;
  void update(std::uint64_t done) override;
  void end() override;
  void remark(std::string_view text) override;

 private:
  using Clock = std::chrono::steady_clock;
  void draw(std::uint64_t done);

  std::FILE* stream_;
  TerminalStyle style_;
  std::mutex mutex_;
  std::string label_;
  std::string remark_;
  std::uint64_t total_ = 0;
  Clock::time_point started_;
  Clock::time_point drawn_;
  bool visible_ = false;
};

// How far some work is.
struct ProgressState {
  std::string_view label;
  std::uint64_t done = 0;
  // 0: unknown.
  std::uint64_t total = 0;
  double elapsed_seconds = 0;
  // What the work says of itself.
  std::string_view remark = {};
};

// One line of progress as shown: "scoring [####----]  50%  1,000/2,000  3.0 s left  loss 0.31".
[[nodiscard]] std::string progressLine(const ProgressState& state, std::size_t width);

}  // namespace edgewise
