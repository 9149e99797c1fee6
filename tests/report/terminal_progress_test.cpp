#include "edgewise/report/terminal_progress.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>

namespace edgewise {
namespace {

constexpr ProgressPace kAtOnce = {std::chrono::milliseconds(0), std::chrono::milliseconds(0)};
constexpr ProgressPace kLate = {std::chrono::hours(1), std::chrono::milliseconds(0)};

// What two steps of four look like on a stream of this style.
std::string shown(const TerminalStyle& style, const ProgressPace& pace) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::tmpfile(), &std::fclose);
  TerminalProgress progress(stream.get(), style, pace);
  {
    ProgressTask task(progress, "training", 4);
    task.advance();
    task.remark("loss 0.5");
    task.advance();
  }
  std::rewind(stream.get());
  std::array<char, 4096> text{};
  const std::size_t size = std::fread(text.data(), 1, text.size(), stream.get());
  return {text.data(), size};
}

TEST(ProgressBar, ShowsShareAndTimeLeft) {
  EXPECT_EQ(progressBar({"scoring", 50, 100, 3.0}, 100),
            "scoring [############------------]  50%  50/100  3.0 s left");
  EXPECT_EQ(progressBar({"training", 3, 0, 2.0, "loss 0.5"}, 100), "training 3  2.0 s  loss 0.5");
  EXPECT_EQ(progressBar({"reading", 1234, 0, 2.0}, 100), "reading 1,234  2.0 s");
  EXPECT_EQ(progressBar({"scoring", 50, 100, 3.0}, 10).size(), 9U);
}

TEST(ProgressLine, LeavesTheBarToTerminals) {
  EXPECT_EQ(progressLine({"scoring", 50, 100, 3.0, "loss 0.5"}),
            "scoring  50%  50/100  3.0 s left  loss 0.5");
}

TEST(TerminalProgress, DrawsABarThatGoesAwayOnATerminal) {
  const std::string text = shown({.interactive = true, .colour = false, .width = 100}, kAtOnce);
  EXPECT_NE(text.find("[############------------]  50%"), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\r\x1b[2K")) << text;
}

TEST(TerminalProgress, LeavesPlainLinesElsewhere) {
  const std::string text = shown({}, kAtOnce);
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
  EXPECT_EQ(text.find('['), std::string::npos) << text;
  EXPECT_TRUE(text.starts_with("training  25%  1/4  ")) << text;
  EXPECT_NE(text.find("\ntraining  50%  2/4  "), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("left  loss 0.5\n")) << text;
}

TEST(TerminalProgress, IsSilentAboutWorkThatEndsSoon) {
  EXPECT_EQ(shown({}, kLate), "");
  EXPECT_EQ(shown({.interactive = true}, kLate), "");
  EXPECT_GE(ProgressPace::of({}).patience, std::chrono::seconds(10));
}

}  // namespace
}  // namespace edgewise
