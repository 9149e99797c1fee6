#include "edgewise/ops/machine_rates.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "edgewise/util/parallel.h"

namespace edgewise {
namespace {

// Short enough for a test; the numbers mean nothing then.
constexpr double kHasty = 1e-4;

TEST(MachineRates, ArePositiveForAnySizesAndThreads) {
  const int before = threadCount();
  for (const int threads : {1, 3}) {
    setThreadCount(threads);
    EXPECT_GT(productRate({.rows = 1, .inner = 1, .columns = 1}, kHasty), 0);
    EXPECT_GT(productRate({.rows = 300, .inner = 7, .columns = 5}, kHasty), 0);
    EXPECT_GT(streamRate(0, kHasty), 0);
    EXPECT_GT(streamRate(4001, kHasty), 0);
    const std::vector<std::uint32_t> one = {0};
    EXPECT_GT(gatherRate(one, 1, 3, kHasty), 0);
    const std::vector<std::uint32_t> many(1000, 4);
    EXPECT_GT(gatherRate(many, 5, 33, kHasty), 0);
    EXPECT_GT(gatherRate(many, 5000, 64, kHasty), 0);
  }
  setThreadCount(before);
}

TEST(MachineRates, LargeMeansWorkForEveryThread) {
  const int before = threadCount();
  setThreadCount(8);
  EXPECT_GE(largeProduct().rows, 8 * 256U);
  setThreadCount(before);
  EXPECT_GE(beyondCaches(), std::size_t{64} << 20);
}

TEST(MachineRates, HandOverOnlyBetweenThreads) {
  const int before = threadCount();
  setThreadCount(1);
  EXPECT_EQ(handoverSeconds(kHasty), 0);
  setThreadCount(2);
  EXPECT_GT(handoverSeconds(kHasty), 0);
  setThreadCount(before);
}

TEST(MachineRates, RefuseRowsThatAreNotThere) {
  const std::vector<std::uint32_t> picks = {0, 5};
  EXPECT_THROW((void)gatherRate(picks, 5, 4, kHasty), std::logic_error);
  EXPECT_THROW((void)gatherRate({}, 5, 4, kHasty), std::logic_error);
}

}  // namespace
}  // namespace edgewise
