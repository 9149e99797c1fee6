#include "edgewise/evaluation/binary_metrics.h"

#include <cmath>
#include <limits>

#include "edgewise/evaluation/hits.h"
#include "edgewise/evaluation/ranking.h"
#include "edgewise/util/parallel.h"
#include "evaluation/brute_force.h"
#include "evaluation/score_keys.h"

namespace edgewise {
namespace {

using Scores = std::vector<double>;
using testing::expectFailure;
using testing::kTight;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(BinaryMetrics, MatchTheGoldenValues) {
  const auto golden = testing::goldenMetrics();
  ASSERT_FALSE(golden.at("auc_ap").empty());
  for (const auto& entry : golden.at("auc_ap")) {
    const auto labels = entry.at("label").get<std::vector<std::uint8_t>>();
    const auto scores = entry.at("score").get<Scores>();
    EXPECT_NEAR(auc(labels, scores), entry.at("auc").get<double>(), kTight);
    EXPECT_NEAR(averagePrecision(labels, scores), entry.at("ap").get<double>(), kTight);
  }
}

TEST(Auc, CountsPairsAndHalvesTies) {
  // Pairs of (3, 1) against (2, 1): 3>2, 3>1, 1<2, 1=1: 2.5 of 4.
  EXPECT_EQ(auc(Scores{3, 1}, Scores{2, 1}), 0.625);
  EXPECT_EQ(auc(Scores{2}, Scores{1}), 1.0);
  EXPECT_EQ(auc(Scores{1}, Scores{2}), 0.0);
}

TEST(AveragePrecision, TakesOneThresholdPerDistinctScore) {
  // Threshold 3: recall 1/3, precision 1. Threshold 2 takes a negative along: recall 2/3, precision
  // 2/3. Threshold 1 only adds a negative. Threshold 0: recall 1, precision 3/5.
  EXPECT_NEAR(averagePrecision(Scores{3, 2, 0}, Scores{2, 1}), (1.0 + 2.0 / 3.0 + 3.0 / 5.0) / 3.0,
              kTight);
}

TEST(BinaryMetrics, GiveChanceWhenAllScoresAreEqual) {
  const Scores positives(7, 0.25);
  const Scores negatives(13, 0.25);
  EXPECT_EQ(auc(positives, negatives), 0.5);
  EXPECT_EQ(averagePrecision(positives, negatives), 7.0 / 20.0);
}

TEST(BinaryMetrics, TreatInfinitiesAsOrdinaryScoresAndZerosAsOne) {
  EXPECT_EQ(auc(Scores{kInfinity, -kInfinity}, Scores{kInfinity, 0.0}), 1.5 / 4.0);
  EXPECT_EQ(auc(Scores{-0.0}, Scores{0.0}), 0.5);
  EXPECT_EQ(averagePrecision(Scores{-kInfinity}, Scores{0.0}), 0.5);
}

TEST(BinaryMetrics, RefuseAMissingClass) {
  expectFailure<DataError>([] { (void)auc(Scores{}, Scores{1.0}); }, "AUC needs positives");
  expectFailure<DataError>([] { (void)auc(Scores{1.0}, Scores{}); }, "AUC needs negatives");
  expectFailure<DataError>([] { (void)averagePrecision(Scores{}, Scores{1.0}); },
                           "average precision needs positives");
  const std::vector<std::uint8_t> labels = {1, 1};
  expectFailure<DataError>([&] { (void)averagePrecision(labels, Scores{1.0, 2.0}); },
                           "needs negatives");
  expectFailure<DataError>([] { (void)auc(std::vector<std::uint8_t>{}, Scores{}); },
                           "needs positives");
}

TEST(BinaryMetrics, NameTheListAndIndexOfANan) {
  expectFailure<DataError>([] { (void)auc(Scores{1.0, 2.0, kNan}, Scores{1.0}); }, "positives[2]");
  Scores many(200'000, 0.5);
  many[150'001] = kNan;
  many[199'999] = kNan;
  expectFailure<DataError>([&] { (void)auc(Scores{1.0}, many); }, "negatives[150001]");
  const std::vector<float> floats = {0.0F, std::numeric_limits<float>::quiet_NaN()};
  expectFailure<DataError>([&] { (void)auc(floats, floats); }, "positives[1]");
  expectFailure<DataError>([] { (void)auc(std::vector<std::uint8_t>{0, 1}, Scores{1.0, kNan}); },
                           "scores[1]");
}

TEST(BinaryMetrics, RefuseOddLabels) {
  expectFailure<DataError>([] { (void)auc(std::vector<std::uint8_t>{0, 2}, Scores{1.0, 2.0}); },
                           "labels[1] is 2");
  expectFailure<ShapeError>([] { (void)auc(std::vector<std::uint8_t>{0}, Scores{1.0, 2.0}); },
                            "1 labels for 2 scores");
}

TEST(BinaryMetrics, EqualTheDefinitionsOnRandomTies) {
  RngStream rng(11, "binary");
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t levels = 1 + rng.below(6);
    const Scores positives = testing::tiedScores(rng, 1 + rng.below(20), levels);
    const Scores negatives = testing::tiedScores(rng, 1 + rng.below(20), levels);
    EXPECT_NEAR(auc(positives, negatives), testing::bruteAuc(positives, negatives), kTight);
    EXPECT_NEAR(averagePrecision(positives, negatives),
                testing::bruteAveragePrecision(positives, negatives), kTight);
  }
}

TEST(BinaryMetrics, DoNotDependOnTheNumberOfThreads) {
  RngStream rng(12, "threads");
  Scores positives = testing::normalScores(rng, 70'000, 0.3);
  const Scores tied = testing::tiedScores(rng, 30'000, 50);
  positives.insert(positives.end(), tied.begin(), tied.end());
  const Scores negatives = testing::normalScores(rng, 150'000);
  const int threads = threadCount();
  setThreadCount(1);
  const BinaryRanking serial(positives, negatives);
  for (const int count : {2, 3, 7}) {
    setThreadCount(count);
    const BinaryRanking parallel(positives, negatives);
    EXPECT_TRUE(std::ranges::equal(serial.groups(), parallel.groups()));
    EXPECT_EQ(auc(serial), auc(parallel));
    EXPECT_EQ(averagePrecision(serial), averagePrecision(parallel));
    EXPECT_EQ(meanReciprocalRank(serial), meanReciprocalRank(parallel));
  }
  setThreadCount(threads);
}

TEST(BinaryMetrics, TakeFloatsAsTheDoublesTheyAre) {
  RngStream rng(13, "floats");
  const Scores wide = testing::normalScores(rng, 20'000);
  const std::vector<float> positives(wide.begin(), wide.begin() + 9'000);
  const std::vector<float> negatives(wide.begin() + 9'000, wide.end());
  const Scores positives_wide(positives.begin(), positives.end());
  const Scores negatives_wide(negatives.begin(), negatives.end());
  EXPECT_EQ(auc(positives, negatives), auc(positives_wide, negatives_wide));
  EXPECT_EQ(auc(positives, negatives_wide), auc(positives_wide, negatives));
  EXPECT_EQ(averagePrecision(positives, negatives),
            averagePrecision(positives_wide, negatives_wide));
}

TEST(KeySorter, OrdersScoresBestFirstWhateverTheirOrder) {
  RngStream rng(14, "sort");
  Scores scores = testing::normalScores(rng, 50'000);
  scores.insert(scores.end(), {kInfinity, -kInfinity, 0.0, -0.0, 5e-324, -5e-324, 1e308});
  Scores expected = scores;
  std::ranges::sort(expected, std::greater<>());
  KeySorter sorter;
  for (const Scores& input : {scores, expected, Scores(expected.rbegin(), expected.rend())}) {
    Scores sorted;
    std::ranges::transform(sorter.sorted(input, "scores"), std::back_inserter(sorted), keyScore);
    EXPECT_EQ(sorted, expected);
  }
}

TEST(KeySorter, SortsMillionsAlikeOnAnyNumberOfThreads) {
  const CounterRng rng(16, "millions");
  std::vector<float> scores(3'300'000);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    scores[i] = static_cast<float>(rng.bits(i) % 1'000'003) - 500'000.0F;
  }
  std::vector<float> expected = scores;
  std::ranges::sort(expected, std::greater<>());
  const int threads = threadCount();
  for (const int count : {1, 2, 3, 8}) {
    setThreadCount(count);
    KeySorter sorter;
    EXPECT_TRUE(std::ranges::equal(sorter.sorted(scores, "scores"), expected, {}, keyScore));
  }
  setThreadCount(threads);
}

TEST(Confusion, CountsAtAThreshold) {
  const Confusion confusion = confusionAt(Scores{0.9, 0.5, 0.1}, Scores{0.5, 0.2}, 0.5);
  EXPECT_EQ(confusion, (Confusion{0.5, 2, 1, 1, 1}));
  EXPECT_DOUBLE_EQ(confusion.accuracy(), 3.0 / 5.0);
  EXPECT_DOUBLE_EQ(confusion.precision(), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(confusion.recall(), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(confusion.f1(), 2.0 / 3.0);
  EXPECT_EQ(confusionAt(Scores{}, Scores{}, 0.0).accuracy(), 0.0);
  EXPECT_EQ(confusionAt(Scores{0.1}, Scores{0.2}, kInfinity).precision(), 0.0);
  expectFailure<DataError>([] { (void)confusionAt(Scores{}, Scores{}, kNan); }, "threshold");
}

TEST(BestAccuracy, EqualsTheBestThresholdTried) {
  RngStream rng(15, "accuracy");
  for (int round = 0; round < 100; ++round) {
    const Scores positives = testing::tiedScores(rng, 1 + rng.below(8), 5);
    const Scores negatives = testing::tiedScores(rng, 1 + rng.below(8), 5);
    double best = 0.0;
    for (const double threshold : {-1.0, 0.0, 1.0, 2.0, 3.0, 4.0, kInfinity}) {
      best = std::max(best, confusionAt(positives, negatives, threshold).accuracy());
    }
    const Confusion found = bestAccuracy(BinaryRanking(positives, negatives));
    EXPECT_EQ(found, confusionAt(positives, negatives, found.threshold));
    EXPECT_EQ(found.accuracy(), best);
  }
}

TEST(BestAccuracy, CountsWhatAnInfiniteThresholdTakes) {
  const Scores positives = {kInfinity};
  const Scores negatives = {kInfinity, kInfinity, 1.0};
  EXPECT_EQ(bestAccuracy(BinaryRanking(positives, negatives)),
            confusionAt(positives, negatives, kInfinity));
}

}  // namespace
}  // namespace edgewise
