#include "edgewise/report/terminal_progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "edgewise/util/text.h"

namespace edgewise {
namespace {

constexpr std::size_t kBarWidth = 24;
constexpr auto kRedrawPause = std::chrono::milliseconds(100);
// Work that ends sooner than this needs no bar.
constexpr auto kPatience = std::chrono::milliseconds(300);
constexpr const char* kClearLine = "\r\x1b[2K";

}  // namespace

std::string progressLine(const ProgressState& state, std::size_t width) {
  const auto& [label, done, total, elapsed_seconds, remark] = state;
  std::string line;
  if (total == 0) {
    line = fmt::format("{} {}  {}", label, groupedCount(done), readableSeconds(elapsed_seconds));
  } else {
    const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
    const auto filled = static_cast<std::size_t>(share * static_cast<double>(kBarWidth));
    line = fmt::format("{} [{}{}] {:3.0f}%  {}/{}", label, std::string(filled, '#'),
                       std::string(kBarWidth - filled, '-'), share * 100, groupedCount(done),
                       groupedCount(total));
    if (share > 0) {
      line += fmt::format("  {} left", readableSeconds(elapsed_seconds * (1 - share) / share));
    }
  }
  if (!remark.empty()) {
    line += fmt::format("  {}", remark);
  }
  return line.substr(0, width > 0 ? width - 1 : 0);
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
  if (!lock.owns_lock() || now - started_ < kPatience || now - drawn_ < kRedrawPause) {
    return;
  }
  drawn_ = now;
  draw(done);
}

void TerminalProgress::draw(std::uint64_t done) {
  const double elapsed = std::chrono::duration<double>(Clock::now() - started_).count();
  fmt::print(stream_, "{}{}", kClearLine,
             progressLine({label_, done, total_, elapsed, remark_}, style_.width));
  std::fflush(stream_);
  visible_ = true;
}

void TerminalProgress::remark(std::string_view text) {
  const std::lock_guard lock(mutex_);
  remark_ = text;
}

void TerminalProgress::end() {
  const std::lock_guard lock(mutex_);
  if (visible_) {
    fmt::print(stream_, "{}", kClearLine);
    std::fflush(stream_);
    visible_ = false;
  }
}

}  // namespace edgewise
