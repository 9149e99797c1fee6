#include "edgewise/util/prefetch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "edgewise/util/error.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using ::testing::ElementsAre;

TEST(Prefetch, GivesEveryThingInOrderAndThenNothing) {
  Prefetch<int> squares(4, [](std::size_t number) { return static_cast<int>(number * number); });
  std::vector<int> got;
  while (const auto square = squares.next()) {
    got.push_back(*square);
  }
  EXPECT_THAT(got, ElementsAre(0, 1, 4, 9));
  EXPECT_EQ(squares.next(), std::nullopt);
}

TEST(Prefetch, OfNothingGivesNothing) {
  Prefetch<int> nothing(0, [](std::size_t) { return 1; });
  EXPECT_EQ(nothing.next(), std::nullopt);
}

TEST(Prefetch, HandsOverWhatCannotBeCopied) {
  Prefetch<std::unique_ptr<int>> pointers(1, [](std::size_t) { return std::make_unique<int>(7); });
  EXPECT_EQ(**pointers.next(), 7);
}

// Each thing counts itself while it exists.
class Counted {
 public:
  explicit Counted(std::atomic<int>& alive) : alive_(&alive) { ++*alive_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  Counted(Counted&& other) noexcept : alive_(std::exchange(other.alive_, nullptr)) {}
  Counted& operator=(Counted&& other) noexcept {
    std::swap(alive_, other.alive_);
    return *this;
  }
  ~Counted() {
    if (alive_ != nullptr) {
      --*alive_;
    }
  }

 private:
  std::atomic<int>* alive_;
};

TEST(Prefetch, IsNeverMoreThanOneAhead) {
  std::atomic<int> alive = 0;
  std::atomic<int> most = 0;
  Prefetch<Counted> things(200, [&](std::size_t) {
    Counted thing(alive);
    most = std::max(most.load(), alive.load());
    return thing;
  });
  while (const auto thing = things.next()) {
    EXPECT_LE(alive, 2);
  }
  EXPECT_LE(most, 2);
  EXPECT_EQ(alive, 0);
}

TEST(Prefetch, PassesAFailureOnInItsPlace) {
  Prefetch<int> failing(5, [](std::size_t number) {
    if (number == 2) {
      throw DataError("the third one is broken");
    }
    return static_cast<int>(number);
  });
  EXPECT_EQ(failing.next(), 0);
  EXPECT_EQ(failing.next(), 1);
  testing::expectFailure<DataError>([&] { (void)failing.next(); }, "third");
  EXPECT_EQ(failing.next(), std::nullopt);
}

TEST(Prefetch, CanBeLeftBeforeTheEnd) {
  std::atomic<std::size_t> made = 0;
  {
    Prefetch<int> many(1000, [&](std::size_t) { return static_cast<int>(++made); });
    EXPECT_EQ(many.next(), 1);
  }
  EXPECT_LE(made, 2U);
}

TEST(Prefetch, KeepsTheCallersNumberOfThreads) {
  const int before = threadCount();
  setThreadCount(3);
  Prefetch<int> threads(1, [](std::size_t) { return threadCount(); });
  EXPECT_EQ(threads.next(), 3);
  setThreadCount(before);
}

}  // namespace
}  // namespace edgewise
