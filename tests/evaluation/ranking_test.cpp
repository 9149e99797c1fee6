#include "edgewise/evaluation/ranking.h"

#include <cmath>
#include <limits>

#include "edgewise/util/parallel.h"
#include "evaluation/brute_force.h"

namespace edgewise {
namespace {

using Scores = std::vector<double>;
using testing::expectFailure;
using testing::kTight;

TEST(SampledRanking, MatchesTheGoldenValues) {
  const auto golden = testing::goldenMetrics();
  ASSERT_FALSE(golden.at("sampled_ranking").empty());
  for (const auto& entry : golden.at("sampled_ranking")) {
    const RankCounts counts =
        rankCounts(entry.at("positive").get<double>(), entry.at("negative").get<Scores>());
    EXPECT_EQ(counts.greater, entry.at("greater").get<std::uint64_t>());
    EXPECT_EQ(counts.equal, entry.at("equal").get<std::uint64_t>());
    EXPECT_NEAR(expectedHit(counts, 10), entry.at("hit10").get<double>(), kTight);
    EXPECT_NEAR(expectedNdcg(counts, 50), entry.at("ndcg50").get<double>(), kTight);
    EXPECT_NEAR(expectedReciprocalRank(counts), entry.at("reciprocal_rank").get<double>(), kTight);
  }
}

TEST(SampledRanking, FollowsAHandWorkedTie) {
  // One above, two beside: ranks 2, 3 and 4 are equally likely.
  const RankCounts counts = rankCounts(5.0, Scores{5, 9, 5, 1});
  EXPECT_EQ(counts, (RankCounts{1, 2}));
  EXPECT_EQ(expectedHit(counts, 1), 0.0);
  EXPECT_DOUBLE_EQ(expectedHit(counts, 2), 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(expectedHit(counts, 3), 2.0 / 3.0);
  EXPECT_EQ(expectedHit(counts, 4), 1.0);
  EXPECT_EQ(expectedHit(counts, 100), 1.0);
  EXPECT_DOUBLE_EQ(expectedNdcg(counts, 3), (1.0 / std::log2(3.0) + 1.0 / 2.0) / 3.0);
  EXPECT_DOUBLE_EQ(expectedReciprocalRank(counts), (1.0 / 2 + 1.0 / 3 + 1.0 / 4) / 3.0);
}

TEST(SampledRanking, IsPerfectWithoutNegatives) {
  const RankCounts counts = rankCounts(0.0, Scores{});
  EXPECT_EQ(expectedHit(counts, 1), 1.0);
  EXPECT_EQ(expectedNdcg(counts, 1), 1.0);
  EXPECT_EQ(expectedReciprocalRank(counts), 1.0);
}

TEST(SampledRanking, IsTheMeanOverAllOrdersOfTies) {
  RngStream rng(41, "orders");
  for (int round = 0; round < 60; ++round) {
    // Item 0 is the positive.
    const Scores scores = testing::tiedScores(rng, 1 + rng.below(6), 1 + rng.below(4));
    const std::size_t k = 1 + rng.below(7);
    double orders = 0.0;
    double hit = 0.0;
    double ndcg = 0.0;
    double reciprocal = 0.0;
    testing::visitRankings(scores, [&](const std::vector<std::size_t>& order) {
      const auto rank =
          static_cast<double>(std::ranges::find(order, std::size_t{0}) - order.begin()) + 1.0;
      const bool within = rank <= static_cast<double>(k);
      orders += 1.0;
      hit += within ? 1.0 : 0.0;
      ndcg += within ? 1.0 / std::log2(rank + 1.0) : 0.0;
      reciprocal += 1.0 / rank;
    });
    const RankCounts counts = rankCounts(scores[0], std::span(scores).subspan(1));
    EXPECT_NEAR(expectedHit(counts, k), hit / orders, kTight);
    EXPECT_NEAR(expectedNdcg(counts, k), ndcg / orders, kTight);
    EXPECT_NEAR(expectedReciprocalRank(counts), reciprocal / orders, kTight);
  }
}

TEST(ExpectedReciprocalRank, StaysExactForManyTies) {
  for (const std::uint64_t greater : {0, 1, 5, 63, 64, 65, 1000, 123'456}) {
    for (const std::uint64_t equal : {0, 1, 62, 63, 64, 65, 100, 5000, 300'000}) {
      long double sum = 0.0L;
      for (std::uint64_t rank = greater + equal + 1; rank > greater; --rank) {
        sum += 1.0L / static_cast<long double>(rank);
      }
      const auto expected = static_cast<double>(sum / static_cast<long double>(equal + 1));
      EXPECT_NEAR(expectedReciprocalRank({greater, equal}) / expected, 1.0, 1e-14)
          << greater << " above, " << equal << " beside";
    }
  }
}

TEST(RankCounts, AddUpOverPiecesAndThreads) {
  RngStream rng(42, "pieces");
  const Scores negatives = testing::tiedScores(rng, 100'000, 300);
  const RankCounts whole = rankCounts(150.0, negatives);
  EXPECT_EQ(whole.greater, static_cast<std::uint64_t>(std::ranges::count_if(
                               negatives, [](double score) { return score > 150.0; })));
  EXPECT_EQ(whole.equal, static_cast<std::uint64_t>(std::ranges::count(negatives, 150.0)));
  RankCounts sum;
  for (std::size_t begin = 0; begin < negatives.size(); begin += 12'345) {
    const std::size_t size = std::min<std::size_t>(12'345, negatives.size() - begin);
    sum += rankCounts(150.0, std::span(negatives).subspan(begin, size));
  }
  EXPECT_EQ(sum, whole);
  const int threads = threadCount();
  setThreadCount(3);
  EXPECT_EQ(rankCounts(150.0, negatives), whole);
  setThreadCount(threads);
  const std::vector<float> floats(negatives.begin(), negatives.end());
  EXPECT_EQ(rankCounts(150.0, floats), whole);
}

TEST(RankCounts, TakeEachPositivesOwnRow) {
  const Scores positives = {2, 5};
  const Scores negatives = {1, 2, 3, 6, 7, 5};
  const auto ranks = rankCounts(positives, negatives, 3);
  ASSERT_EQ(ranks.size(), 2U);
  EXPECT_EQ(ranks[0], (RankCounts{1, 1}));
  EXPECT_EQ(ranks[1], (RankCounts{2, 1}));
  EXPECT_DOUBLE_EQ(meanReciprocalRank(ranks), ((0.5 + 1.0 / 3) / 2 + (1.0 / 3 + 0.25) / 2) / 2);
  EXPECT_DOUBLE_EQ(meanHit(ranks, 3), (1.0 + 0.5) / 2);
  EXPECT_DOUBLE_EQ(meanNdcg(ranks, 2), (0.5 / std::log2(3.0)) / 2);
  EXPECT_EQ(rankCounts(positives, Scores{}, 0), std::vector<RankCounts>(2));
  expectFailure<ShapeError>([&] { (void)rankCounts(positives, negatives, 2); },
                            "6 negatives are not 2");
  expectFailure<ShapeError>([&] { (void)rankCounts(positives, negatives, 0); }, "6 negatives");
}

TEST(MeanRanks, AgainstAPoolEqualRanksOneByOne) {
  RngStream rng(43, "pool");
  const Scores positives = testing::tiedScores(rng, 80, 30);
  const Scores negatives = testing::tiedScores(rng, 200, 30);
  std::vector<RankCounts> ranks;
  for (const double positive : positives) {
    ranks.push_back(rankCounts(positive, negatives));
  }
  const BinaryRanking pool(positives, negatives);
  EXPECT_NEAR(meanReciprocalRank(pool), meanReciprocalRank(ranks), kTight);
  EXPECT_NEAR(meanHit(pool, 20), meanHit(ranks, 20), kTight);
  EXPECT_NEAR(meanNdcg(pool, 20), meanNdcg(ranks, 20), kTight);
}

TEST(MeanRanks, RefuseNothingAndNans) {
  expectFailure<DataError>([] { (void)meanReciprocalRank(std::vector<RankCounts>{}); },
                           "MRR needs positives");
  expectFailure<DataError>([] { (void)meanReciprocalRank(BinaryRanking(Scores{})); },
                           "MRR needs positives");
  expectFailure<ConfigError>([] { (void)meanHit(std::vector<RankCounts>(1), 0); }, "K = 0");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expectFailure<DataError>([&] { (void)rankCounts(nan, Scores{}); }, "positives[0]");
  expectFailure<DataError>([&] { (void)rankCounts(0.0, Scores{1, nan}); }, "negatives[1]");
}

}  // namespace
}  // namespace edgewise
