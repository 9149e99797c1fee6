#include "edgewise/evaluation/curves.h"

#include <limits>

#include "edgewise/evaluation/binary_metrics.h"
#include "evaluation/brute_force.h"

namespace edgewise {
namespace {

using Scores = std::vector<double>;
using testing::expectFailure;
using testing::kTight;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double areaUnder(const std::vector<RocPoint>& curve) {
  double area = 0.0;
  for (std::size_t i = 1; i < curve.size(); ++i) {
    area += (curve[i].false_positive_rate - curve[i - 1].false_positive_rate) *
            (curve[i].true_positive_rate + curve[i - 1].true_positive_rate) / 2.0;
  }
  return area;
}

TEST(RocCurve, HasTheCornersOfASmallCase) {
  // Best first: + at 4, - at 3, then + and - tied at 2, - at 1.
  const auto curve = rocCurve(BinaryRanking(Scores{4, 2}, Scores{3, 2, 1}));
  ASSERT_EQ(curve.size(), 5U);
  const std::vector<std::pair<double, double>> expected = {
      {0, 0}, {0, 0.5}, {1.0 / 3, 0.5}, {2.0 / 3, 1}, {1, 1}};
  for (std::size_t i = 0; i < curve.size(); ++i) {
    EXPECT_DOUBLE_EQ(curve[i].false_positive_rate, expected[i].first);
    EXPECT_DOUBLE_EQ(curve[i].true_positive_rate, expected[i].second);
  }
  EXPECT_EQ(curve.front().threshold, kInfinity);
  EXPECT_EQ(curve[1].threshold, 4.0);
  EXPECT_EQ(curve.back().threshold, -kInfinity);
}

TEST(RocCurve, EnclosesTheAucAndFollowsItsThresholds) {
  RngStream rng(21, "roc");
  for (int round = 0; round < 50; ++round) {
    const Scores positives = testing::tiedScores(rng, 1 + rng.below(30), 12);
    const Scores negatives = testing::tiedScores(rng, 1 + rng.below(30), 12);
    const auto curve = rocCurve(BinaryRanking(positives, negatives));
    EXPECT_NEAR(areaUnder(curve), auc(positives, negatives), kTight);
    for (const RocPoint& point : curve) {
      const Confusion confusion = confusionAt(positives, negatives, point.threshold);
      EXPECT_DOUBLE_EQ(confusion.recall(), point.true_positive_rate);
      EXPECT_DOUBLE_EQ(
          static_cast<double>(confusion.false_positives) / static_cast<double>(negatives.size()),
          point.false_positive_rate);
    }
  }
}

TEST(Curves, ThinWithoutLosingTheirEnds) {
  RngStream rng(22, "thin");
  const BinaryRanking ranking(testing::normalScores(rng, 5'000, 1.0),
                              testing::normalScores(rng, 5'000));
  for (const std::size_t most : {2U, 3U, 50U, 500U}) {
    const auto roc = rocCurve(ranking, most);
    EXPECT_LE(roc.size(), most);
    EXPECT_GE(roc.size(), most * 9 / 10);
    EXPECT_EQ(roc.front().true_positive_rate, 0.0);
    EXPECT_EQ(roc.back().true_positive_rate, 1.0);
    EXPECT_EQ(roc.back().false_positive_rate, 1.0);
    const auto precision_recall = precisionRecallCurve(ranking, most);
    EXPECT_LE(precision_recall.size(), most);
    EXPECT_EQ(precision_recall.front().recall, 0.0);
    EXPECT_EQ(precision_recall.front().precision, 1.0);
    EXPECT_EQ(precision_recall.back().recall, 1.0);
  }
  EXPECT_NEAR(areaUnder(rocCurve(ranking, 500)), auc(ranking), 1e-4);
}

TEST(PrecisionRecallCurve, StepsUpToTheAveragePrecision) {
  RngStream rng(23, "pr");
  const BinaryRanking ranking(testing::tiedScores(rng, 60, 20), testing::tiedScores(rng, 90, 20));
  const auto curve = precisionRecallCurve(ranking);
  double area = 0.0;
  for (std::size_t i = 1; i < curve.size(); ++i) {
    area += (curve[i].recall - curve[i - 1].recall) * curve[i].precision;
  }
  EXPECT_NEAR(area, averagePrecision(ranking), kTight);
}

TEST(Curves, RefuseAMissingClassAndTooFewPoints) {
  expectFailure<DataError>([] { (void)rocCurve(BinaryRanking(Scores{}, Scores{1.0})); },
                           "needs positives");
  expectFailure<DataError>([] { (void)precisionRecallCurve(BinaryRanking(Scores{1.0})); },
                           "needs negatives");
  expectFailure<ConfigError>([] { (void)rocCurve(BinaryRanking(Scores{1}, Scores{1}), 1); },
                             "two ends");
}

}  // namespace
}  // namespace edgewise
