// How work that takes long is shown to people. On a terminal a bar: label, bar, share done, time
// left; redrawn at most ten times a second, gone when done. Elsewhere (a log file, a batch system)
// a line of the same every half minute, which stays.
#pragma once

#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>

#include "edgewise/report/terminal.h"
#include "edgewise/util/progress.h"

namespace edgewise {

// How soon work is shown after it begins, and how often then.
struct ProgressPace {
  std::chrono::milliseconds patience;
  std::chrono::milliseconds pause;

  [[nodiscard]] static ProgressPace of(const TerminalStyle& style);
};

class TerminalProgress final : public ProgressSink {
 public:
  TerminalProgress(std::FILE* stream, TerminalStyle style)
      : TerminalProgress(stream, style, ProgressPace::of(style)) {}
  TerminalProgress(std::FILE* stream, TerminalStyle style, ProgressPace pace)
      : stream_(stream), style_(style), pace_(pace) {}

  void begin(std::string_view label, std::uint64_t total) override;
  void update(std::uint64_t done) override;
  void end() override;
  void remark(std::string_view text) override;

 private:
  using Clock = std::chrono::steady_clock;
  void draw(std::uint64_t done);
  void write(const std::string& text);

  std::FILE* stream_;
  TerminalStyle style_;
  ProgressPace pace_;
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

// One line of progress: "scoring [####----]  50%  1,000/2,000  3.0 s left  loss 0.31", cut to what
// a terminal can show.
[[nodiscard]] std::string progressBar(const ProgressState& state, std::size_t width);
// The same for a log: "scoring  50%  1,000/2,000  3.0 s left  loss 0.31".
[[nodiscard]] std::string progressLine(const ProgressState& state);

}  // namespace edgewise
