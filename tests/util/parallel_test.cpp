#include "edgewise/util/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

#include "edgewise/util/error.h"
#include "edgewise/util/interrupt.h"
#include "edgewise/util/progress.h"

namespace edgewise {
namespace {

class ParallelFor : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { setThreadCount(GetParam()); }
  void TearDown() override { setThreadCount(0); }
};

TEST_P(ParallelFor, VisitsEveryItemOnceInFixedBlocks) {
  std::vector<std::atomic<int>> visits(1003);
  parallelFor(visits.size(), 10, [&](std::size_t begin, std::size_t end) {
    EXPECT_EQ(begin % 10, 0U);
    EXPECT_LE(end - begin, 10U);
    for (std::size_t i = begin; i < end; ++i) {
      ++visits[i];
    }
  });
  for (const auto& count : visits) {
    EXPECT_EQ(count.load(), 1);
  }
}

TEST_P(ParallelFor, RethrowsTheErrorOfTheLowestBlock) {
  for (int round = 0; round < 20; ++round) {
    try {
      parallelFor(1000, 10, [](std::size_t begin, std::size_t) {
        if (begin >= 300) {
          throw DataError("block " + std::to_string(begin));
        }
      });
      FAIL() << "nothing was thrown";
    } catch (const DataError& error) {
      EXPECT_STREQ(error.what(), "block 300");
    }
  }
}

TEST_P(ParallelFor, DoesNothingForNothing) {
  parallelFor(0, 10, [](std::size_t, std::size_t) { FAIL() << "called"; });
  EXPECT_THROW(parallelFor(1, 0, [](std::size_t, std::size_t) {}), std::logic_error);
}

TEST_P(ParallelFor, NestsSerially) {
  std::atomic<int> total = 0;
  parallelFor(8, 1, [&](std::size_t, std::size_t) {
    parallelFor(8, 1, [&](std::size_t, std::size_t) { ++total; });
  });
  EXPECT_EQ(total.load(), 64);
}

INSTANTIATE_TEST_SUITE_P(Threads, ParallelFor, ::testing::Values(1, 2, 5));

TEST(ProgressTask, CountsFromManyThreads) {
  class Recorder : public ProgressSink {
   public:
    void begin(std::string_view label, std::uint64_t total) override {
      label_ = label;
      total_ = total;
    }
    void update(std::uint64_t done) override {
      std::uint64_t seen = most_.load();
      while (done > seen && !most_.compare_exchange_weak(seen, done)) {
      }
    }
    void end() override { ended_ = true; }
    std::string label_;                  // NOLINT: a test's record
    std::uint64_t total_ = 0;            // NOLINT
    std::atomic<std::uint64_t> most_{};  // NOLINT
    bool ended_ = false;                 // NOLINT
  } recorder;
  {
    ProgressTask task(recorder, "work", 100);
    parallelFor(100, 1, [&](std::size_t, std::size_t) { task.advance(); });
  }
  EXPECT_EQ(recorder.label_, "work");
  EXPECT_EQ(recorder.total_, 100U);
  EXPECT_EQ(recorder.most_.load(), 100U);
  EXPECT_TRUE(recorder.ended_);
}

TEST(Interrupt, ThrowsOnceAskedFor) {
  clearInterrupt();
  EXPECT_NO_THROW(throwIfInterrupted());
  requestInterrupt();
  EXPECT_THROW(throwIfInterrupted(), InterruptedError);
  clearInterrupt();
}

}  // namespace
}  // namespace edgewise
