#include "edgewise/report/terminal_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "edgewise/util/text.h"

namespace edgewise {
namespace {

constexpr std::size_t kBarWidth = 24;
constexpr const char* kClearLine = "\r\x1b[2K";

std::string bar(double share) {
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(kBarWidth));
  return fmt::format(" [{}{}]", std::string(filled, '#'), std::string(kBarWidth - filled, '-'));
}

std::string describe(const ProgressState& state, bool with_bar) {
  const auto& [label, done, total, elapsed_seconds, remark] = state;
  std::string line(label);
  if (total == 0) {
    line += fmt::format(" {}  {}", groupedCount(done), readableSeconds(elapsed_seconds));
  } else {
    const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
    line += fmt::format("{} {:3.0f}%  {}/{}", with_bar ? bar(share) : "", share * 100,
                        groupedCount(done), groupedCount(total));
    if (share > 0) {
      line += fmt::format("  {} left", readableSeconds(elapsed_seconds * (1 - share) / share));
    }
  }
  if (!remark.empty()) {
    line += fmt::format("  {}", remark);
  }
  return line;
}

}  // namespace

std::string progressBar(const ProgressState& state, std::size_t width) {
  return describe(state, true).substr(0, width > 0 ? width - 1 : 0);
}

std::string progressLine(const ProgressState& state) { return describe(state, false); }

// Work that ends before the first showing needs none.
ProgressPace ProgressPace::of(const TerminalStyle& style) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  return style.interactive ? ProgressPace{milliseconds(300), milliseconds(100)}
                           : ProgressPace{seconds(30), seconds(30)};
}

void TerminalProgress::begin(std::string_view label, std::uint64_t total) {
  const std::lock_guard lock(mutex_);
  label_ = label;
  remark_.clear();
  total_ = total;
  started_ = Clock::now();
  drawn_ = started_;
}

void TerminalProgress::update(std::uint64_t done) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  const auto now = Clock::now();
  // Another thread is drawing, or it is too soon: this step will show with a later one.
  if (!lock.owns_lock() || now - started_ < pace_.patience || now - drawn_ < pace_.pause) {
    return;
  }
  drawn_ = now;
  draw(done);
}

void TerminalProgress::draw(std::uint64_t done) {
  const double elapsed = std::chrono::duration<double>(Clock::now() - started_).count();
  const ProgressState state = {label_, done, total_, elapsed, remark_};
  if (style_.interactive) {
    write(kClearLine + progressBar(state, style_.width));
    visible_ = true;
  } else {
    write(progressLine(state) + "\n");
  }
}

// Work goes on where its progress cannot be told (a log on a full disk).
void TerminalProgress::write(const std::string& text) {
  std::ignore = std::fwrite(text.data(), 1, text.size(), stream_);
  std::ignore = std::fflush(stream_);
}

void TerminalProgress::remark(std::string_view text) {
  const std::lock_guard lock(mutex_);
  remark_ = text;
}

void TerminalProgress::end() {
  const std::lock_guard lock(mutex_);
  if (visible_) {
    write(kClearLine);
    visible_ = false;
  }
}

}  // namespace edgewise
