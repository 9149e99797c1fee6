#include "edgewise/util/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <span>
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

// Word i of a fill that starts at block `first`, by the slow way.
std::uint32_t wordOf(const CounterRng& rng, std::uint64_t first, std::uint64_t high,
                     std::size_t i) {
  return rng.block(first + i / 4, high)[i % 4];
}

TEST(CounterRng, FillGivesTheBlocksWordForWord) {
  const CounterRng rng(11, "fill");
  constexpr std::uint32_t kUntouched = 0xDEADBEEF;
  // Starts where the low half and the whole counter carry; sizes around the 64 words made at once.
  for (const std::uint64_t first : {0ULL, 5ULL, 0xFFFFFFF7ULL, 0xFFFFFFFFFFFFFFFBULL}) {
    for (const std::uint64_t high : {0ULL, 9ULL, 0x1234567890ULL}) {
      for (const std::size_t count :
           {0U, 1U, 2U, 3U, 4U, 5U, 15U, 16U, 31U, 63U, 64U, 65U, 67U, 128U, 129U, 1000U}) {
        std::vector<std::uint32_t> words(count + 3, kUntouched);
        rng.fill(first, high, std::span(words).first(count));
        for (std::size_t i = 0; i < count; ++i) {
          ASSERT_EQ(words[i], wordOf(rng, first, high, i)) << first << " + " << i << "/" << count;
        }
        for (std::size_t i = count; i < words.size(); ++i) {
          ASSERT_EQ(words[i], kUntouched) << "written past the end of " << count;
        }
      }
    }
  }
}

TEST(CounterRng, FillDoesNotDependOnTheCut) {
  const CounterRng rng(12, "fill");
  constexpr std::size_t kWords = 4000;
  std::vector<std::uint32_t> whole(kWords);
  rng.fill(3, 1, whole);
  RngStream cuts(1, "cuts");
  for (int round = 0; round < 20; ++round) {
    std::vector<std::uint32_t> pieces(kWords);
    for (std::size_t done = 0; done < kWords;) {
      const std::size_t blocks = 1 + cuts.below(60);
      const std::size_t count = std::min(4 * blocks, kWords - done);
      rng.fill(3 + done / 4, 1, std::span(pieces).subspan(done, count));
      done += count;
    }
    ASSERT_EQ(pieces, whole);
  }
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
