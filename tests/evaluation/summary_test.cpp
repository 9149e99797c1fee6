#include "edgewise/evaluation/summary.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "evaluation/brute_force.h"

namespace edgewise {
namespace {

using Values = std::vector<double>;
using testing::expectFailure;

TEST(MeanStd, DividesByOneLess) {
  const MeanStd summary = summarise(Values{2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_EQ(summary.mean, 5.0);
  EXPECT_DOUBLE_EQ(summary.std, std::sqrt(32.0 / 7.0));
  EXPECT_EQ(summary.count, 8U);
}

TEST(MeanStd, IsZeroForOneValueAndRefusesNone) {
  const MeanStd summary = summarise(Values{0.3});
  EXPECT_EQ(summary.mean, 0.3);
  EXPECT_EQ(summary.std, 0.0);
  expectFailure<DataError>([] { (void)summarise(Values{}); }, "no values");
  expectFailure<DataError>([] { (void)summarise(Values{1.0, INFINITY}); }, "values[1] is inf");
}

TEST(Summary, GoesMetricByMetric) {
  std::vector<MetricSet> runs(2);
  runs[0].set("auc", 0.9);
  runs[0].set("ap", 0.8);
  runs[1].set("ap", 0.6);
  runs[1].set("auc", 0.7);
  const auto summaries = summarise(runs);
  ASSERT_EQ(summaries.size(), 2U);
  EXPECT_EQ(summaries[0].name, "auc");
  EXPECT_DOUBLE_EQ(summaries[0].value.mean, 0.8);
  EXPECT_DOUBLE_EQ(summaries[1].value.std, 0.1 * std::numbers::sqrt2);
}

TEST(Summary, RefusesRunsThatDoNotMatch) {
  expectFailure<DataError>([] { (void)summarise(std::vector<MetricSet>{}); }, "no runs");
  std::vector<MetricSet> runs(2);
  runs[0].set("auc", 0.9);
  expectFailure<DataError>([&] { (void)summarise(runs); }, "run 1 lacks metric 'auc'");
  runs[1].set("auc", 0.9);
  runs[1].set("ap", 0.9);
  expectFailure<DataError>([&] { (void)summarise(runs); }, "run 0 lacks metric 'ap'");
  runs[1] = MetricSet("as they come");
  expectFailure<DataError>([&] { (void)summarise(runs); }, "'as they come'");
}

TEST(IncompleteBeta, MatchesClosedForms) {
  for (int sixteenths = 0; sixteenths <= 16; ++sixteenths) {
    const double x = sixteenths / 16.0;
    EXPECT_NEAR(incompleteBeta(1.0, 1.0, x), x, 1e-14);
    EXPECT_NEAR(incompleteBeta(2.0, 3.0, x), x * x * (6.0 - 8.0 * x + 3.0 * x * x), 1e-14);
    EXPECT_NEAR(incompleteBeta(0.5, 0.5, x), 2.0 / std::numbers::pi * std::asin(std::sqrt(x)),
                1e-14);
    EXPECT_NEAR(incompleteBeta(7.5, 0.5, x) + incompleteBeta(0.5, 7.5, 1.0 - x), 1.0, 1e-13);
  }
}

TEST(StudentT, MatchesClosedForms) {
  for (const double t : {0.0, 0.1, 0.7, 1.0, 2.5, -4.0, 12.0, 250.0}) {
    const double size = std::abs(t);
    EXPECT_NEAR(studentTwoSidedP(t, 1), 1.0 - 2.0 / std::numbers::pi * std::atan(size), 1e-13);
    EXPECT_NEAR(studentTwoSidedP(t, 2), 1.0 - size / std::sqrt(2.0 + t * t), 1e-13);
    const double angle = std::atan(size / std::sqrt(3.0));
    EXPECT_NEAR(studentTwoSidedP(t, 3),
                1.0 - 2.0 / std::numbers::pi * (angle + std::sin(angle) * std::cos(angle)), 1e-13);
  }
  // The series for odd degrees, and the familiar table's 5% at 2.262 for 9 degrees of freedom.
  const double angle = std::atan(2.262157 / 3.0);
  const double cosine = std::cos(angle);
  const double square = cosine * cosine;
  const double series =
      cosine * (1.0 + square * (2.0 / 3.0 + square * (8.0 / 15.0 + square * 48.0 / 105.0)));
  EXPECT_NEAR(studentTwoSidedP(2.262157, 9),
              1.0 - 2.0 / std::numbers::pi * (angle + std::sin(angle) * series), 1e-13);
  EXPECT_NEAR(studentTwoSidedP(2.262157, 9), 0.05, 1e-7);
  // Far tails keep their digits: for 2 degrees the tail is about 1/t^2.
  EXPECT_NEAR(studentTwoSidedP(1e6, 2) * 1e12, 1.0, 1e-9);
}

TEST(PairedTest, FollowsAHandWorkedCase) {
  // Differences 1, 2, 3: mean 2, std 1, t = 2 sqrt(3).
  const PairedTest test = pairedTest(Values{2, 4, 6}, Values{1, 2, 3});
  EXPECT_EQ(test.count, 3U);
  EXPECT_DOUBLE_EQ(test.mean_difference, 2.0);
  EXPECT_DOUBLE_EQ(test.t, 2.0 * std::sqrt(3.0));
  EXPECT_NEAR(test.t_test_p, 1.0 - test.t / std::sqrt(2.0 + test.t * test.t), 1e-13);
  // Only all signs kept or all flipped reach a sum of 6: 2 of 8.
  EXPECT_EQ(test.permutation_p, 0.25);
}

TEST(PairedTest, CountsSignFlipsAsFarOut) {
  // Differences 1, 1, -1 sum to 1; every flip of odd-sized ones has a sum of at least 1.
  EXPECT_EQ(pairedTest(Values{1, 1, 0}, Values{0, 0, 1}).permutation_p, 1.0);
  // Differences 3, 1, -1 sum to 3: +-3 with +1 -1 or -1 +1 (4 ways), +-5 (2 ways); not +-1.
  EXPECT_EQ(pairedTest(Values{3, 1, 0}, Values{0, 0, 1}).permutation_p, 6.0 / 8.0);
}

TEST(PairedTest, CountsEqualSumsDespiteRounding) {
  // Differences of exactly the same size in decimals are not so in binary.
  const Values first = {0.3, 0.7, 0.9, 1.1};
  const Values second = {0.2, 0.6, 0.8, 1.0};
  EXPECT_EQ(pairedTest(first, second).permutation_p, 2.0 / 16.0);
}

TEST(PairedTest, IsSymmetric) {
  const Values first = {0.91, 0.92, 0.90, 0.95, 0.93};
  const Values second = {0.90, 0.93, 0.88, 0.91, 0.92};
  const PairedTest there = pairedTest(first, second);
  const PairedTest back = pairedTest(second, first);
  EXPECT_EQ(there.t, -back.t);
  EXPECT_EQ(there.t_test_p, back.t_test_p);
  EXPECT_EQ(there.permutation_p, back.permutation_p);
}

TEST(PairedTest, HandlesDifferencesWithoutSpread) {
  const PairedTest same = pairedTest(Values{1, 2}, Values{1, 2});
  EXPECT_EQ(same.t, 0.0);
  EXPECT_EQ(same.t_test_p, 1.0);
  EXPECT_EQ(same.permutation_p, 1.0);
  const PairedTest shifted = pairedTest(Values{1, 2}, Values{2, 3});
  EXPECT_EQ(shifted.t, -INFINITY);
  EXPECT_EQ(shifted.t_test_p, 0.0);
  EXPECT_EQ(shifted.permutation_p, 0.5);
}

TEST(PairedTest, LeavesThePermutationOutForManyPairs) {
  const Values first(kMostPairsFlipped, 1.0);
  const Values second(kMostPairsFlipped, 0.0);
  EXPECT_EQ(pairedTest(first, second).permutation_p, std::exp2(1.0 - 12.0));
  EXPECT_FALSE(pairedTest(Values(13, 1.0), Values(13, 0.5)).permutation_p.has_value());
}

TEST(PairedTest, RefusesWhatCannotBePaired) {
  expectFailure<ShapeError>([] { (void)pairedTest(Values{1}, Values{1, 2}); }, "1 values");
  expectFailure<DataError>([] { (void)pairedTest(Values{1}, Values{1}); }, "two pairs");
  expectFailure<DataError>([] { (void)pairedTest(Values{1, NAN}, Values{1, 2}); }, "values[1]");
}

}  // namespace
}  // namespace edgewise
