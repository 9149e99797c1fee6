#include "edgewise/util/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

namespace edgewise {
namespace {

TEST(CounterRng, GivesTheSameNumbersForTheSameSeedStreamAndCounter) {
  const CounterRng first(7, "negatives");
  const CounterRng second(7, "negatives");
  for (std::uint64_t counter = 0; counter < 100; ++counter) {
    EXPECT_EQ(first.bits(counter), second.bits(counter));
  }
}

TEST(CounterRng, DiffersBetweenSeedsStreamsCountersAndLanes) {
  std::set<std::uint64_t> seen;
  for (const std::uint64_t seed : {0ULL, 1ULL, 2ULL}) {
    for (const char* purpose : {"split", "negatives"}) {
      const CounterRng rng(seed, purpose);
      for (std::uint64_t counter = 0; counter < 50; ++counter) {
        seen.insert(rng.bits(counter, 0));
        seen.insert(rng.bits(counter, 1));
      }
    }
  }
  EXPECT_EQ(seen.size(), 3U * 2U * 50U * 2U);
}

// Stored once: a change of these numbers would change every split and result.
TEST(CounterRng, KeepsItsNumbersForEver) {
  const CounterRng rng(42, "frozen");
  const std::vector<std::uint64_t> first = {rng.bits(0), rng.bits(1), rng.bits(0, 1)};
  EXPECT_EQ(first, (std::vector<std::uint64_t>{8411857235167038965ULL, 8816641195500498797ULL,
                                               9343307103536616742ULL}));
}

TEST(CounterRng, BelowIsUniformAndInBounds) {
  const CounterRng rng(3, "below");
  constexpr std::uint64_t kBound = 7;
  constexpr std::uint64_t kDraws = 70'000;
  std::vector<double> counts(kBound, 0);
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const std::uint64_t value = rng.below(i, kBound);
    ASSERT_LT(value, kBound);
    ++counts[value];
  }
  double chi_square = 0;
  for (const double count : counts) {
    chi_square += (count - 10'000) * (count - 10'000) / 10'000;
  }
  EXPECT_LT(chi_square, 22.5);  // the 0.999 quantile with 6 degrees of freedom
}

TEST(CounterRng, BelowHandlesTheLargestBound) {
  const CounterRng rng(3, "below");
  const std::uint64_t bound = (1ULL << 63) + 1;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    EXPECT_LT(rng.below(i, bound), bound);
  }
  EXPECT_EQ(rng.below(5, 1), 0U);
  EXPECT_THROW((void)rng.below(0, 0), std::logic_error);
}

TEST(CounterRng, NormalHasMeanZeroAndUnitVariance) {
  const CounterRng rng(9, "normal");
  constexpr int kDraws = 100'000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double value = rng.normal(static_cast<std::uint64_t>(i));
    ASSERT_TRUE(std::isfinite(value));
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / kDraws, 0.0, 0.015);
  EXPECT_NEAR(squares / kDraws, 1.0, 0.02);
}

TEST(RngStream, ContinuesFromAStoredPosition) {
  RngStream whole(1, "stream");
  std::vector<std::uint64_t> drawn;
  for (int i = 0; i < 10; ++i) {
    drawn.push_back(whole());
  }
  RngStream resumed(CounterRng(1, "stream"), 6);
  EXPECT_EQ(resumed(), drawn[6]);
  EXPECT_EQ(resumed.position(), 7U);
}

TEST(RngStream, ShuffleIsAPermutation) {
  std::vector<int> values(1000);
  std::iota(values.begin(), values.end(), 0);
  std::vector<int> shuffled = values;
  RngStream(5, "shuffle").shuffle(std::span(shuffled));
  EXPECT_NE(shuffled, values);
  std::ranges::sort(shuffled);
  EXPECT_EQ(shuffled, values);
}

}  // namespace
}  // namespace edgewise
