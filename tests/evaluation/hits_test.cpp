#include "edgewise/evaluation/hits.h"

#include <limits>

#include "evaluation/brute_force.h"

namespace edgewise {
namespace {

using Scores = std::vector<double>;
using testing::expectFailure;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(HitsAtK, MatchesTheGoldenValues) {
  const auto golden = testing::goldenMetrics();
  ASSERT_FALSE(golden.at("ogb_hits").empty());
  for (const auto& entry : golden.at("ogb_hits")) {
    const auto positives = entry.at("positive").get<Scores>();
    const auto negatives = entry.at("negative").get<Scores>();
    const auto k = entry.at("k").get<std::size_t>();
    const auto expected = entry.at("hits").get<double>();
    EXPECT_NEAR(hitsAtK(positives, negatives, k), expected, testing::kTight);
    EXPECT_NEAR(hitsAtK(BinaryRanking(positives, negatives), k), expected, testing::kTight);
  }
}

TEST(HitsAtK, NeedsAPositiveStrictlyAboveTheKthBestNegative) {
  // The second best negative is 3: only 4 and 5 are above it, the tied 3 is not.
  EXPECT_EQ(hitsAtK(Scores{5, 4, 3, 2}, Scores{3, 3, 1}, 2), 0.5);
  EXPECT_EQ(hitsAtK(Scores{5, 4, 3, 2}, Scores{3, 3, 1}, 3), 1.0);
  EXPECT_EQ(hitsAtK(Scores{1, 1}, Scores{1, 1}, 1), 0.0);
  EXPECT_EQ(hitsAtK(Scores{kInfinity}, Scores{kInfinity, 0.0}, 1), 0.0);
  EXPECT_EQ(hitsAtK(Scores{kInfinity}, Scores{kInfinity, 0.0}, 2), 1.0);
}

TEST(HitsAtK, IsOneWithFewerThanKNegatives) {
  EXPECT_EQ(hitsAtK(Scores{-9.0}, Scores{1, 2}, 3), 1.0);
  EXPECT_EQ(hitsAtK(Scores{-9.0}, Scores{}, 1), 1.0);
  EXPECT_EQ(hitsAtK(Scores{-9.0}, Scores{1, 2}, std::numeric_limits<std::size_t>::max()), 1.0);
}

TEST(HitsAtK, RefusesWhatMeansNothing) {
  expectFailure<DataError>([] { (void)hitsAtK(Scores{}, Scores{1.0}, 1); }, "needs positives");
  expectFailure<ConfigError>([] { (void)hitsAtK(Scores{1.0}, Scores{1.0}, 0); }, "K = 0");
  expectFailure<ConfigError>([] { (void)hitsAtK(BinaryRanking(Scores{1.0}), 0); }, "K = 0");
  const Scores bad = {0.0, std::numeric_limits<double>::quiet_NaN()};
  expectFailure<DataError>([&] { (void)hitsAtK(bad, Scores{1.0}, 1); }, "positives[1]");
  expectFailure<DataError>([&] { (void)hitsAtK(Scores{1.0}, bad, 5); }, "negatives[1]");
  expectFailure<DataError>([&] { (void)hitsAtK(bad, Scores{}, 5); }, "positives[1]");
}

TEST(HitsAtK, EqualsTheDefinitionOnRandomTies) {
  RngStream rng(31, "hits");
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t levels = 1 + rng.below(10);
    const Scores positives = testing::tiedScores(rng, 1 + rng.below(15), levels);
    const Scores negatives = testing::tiedScores(rng, rng.below(40), levels);
    const std::size_t k = 1 + rng.below(12);
    const double expected = testing::bruteHits(positives, negatives, k);
    EXPECT_EQ(hitsAtK(positives, negatives, k), expected);
    EXPECT_EQ(hitsAtK(BinaryRanking(positives, negatives), k), expected);
  }
}

TEST(BestScores, KeepEveryKthBestOfAStream) {
  RngStream rng(32, "best");
  Scores all = testing::tiedScores(rng, 500, 40);
  BestScores best(10);
  BestScores left(10);
  BestScores right(10);
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t size = std::min<std::size_t>(all.size() - begin, rng.below(30));
    const auto block = std::span<const double>(all).subspan(begin, size);
    best.add(block);
    (begin < 200 ? left : right).add(block);
    begin += size;
  }
  left.merge(right);
  std::ranges::sort(all, std::greater<>());
  EXPECT_EQ(best.seen(), all.size());
  EXPECT_EQ(left.seen(), all.size());
  for (std::size_t k = 1; k <= 10; ++k) {
    EXPECT_EQ(best.kthBest(k), all[k - 1]);
    EXPECT_EQ(left.kthBest(k), all[k - 1]);
  }
}

TEST(BestScores, SayWhatTheyCannotKnow) {
  BestScores best(2);
  best.add(Scores{1.0});
  EXPECT_EQ(best.kthBest(1), 1.0);
  EXPECT_EQ(best.kthBest(2), std::nullopt);
  expectFailure<ConfigError>([&] { (void)best.kthBest(3); }, "only the best 2");
  expectFailure<ConfigError>([] { BestScores none(0); }, "K = 0");
  expectFailure<ShapeError>([&] { best.merge(BestScores(3)); }, "best 2");
  best.merge(best);
  EXPECT_EQ(best.seen(), 2U);
  EXPECT_EQ(best.kthBest(2), 1.0);
}

}  // namespace
}  // namespace edgewise
