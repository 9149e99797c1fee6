#include "edgewise/evaluation/histogram.h"

#include <gmock/gmock.h>

#include <limits>
#include <numeric>

#include "evaluation/brute_force.h"

namespace edgewise {
namespace {

using Scores = std::vector<double>;
using ::testing::ElementsAre;
using testing::expectFailure;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ScoreHistogram, CountsEveryScoreOnce) {
  const auto histogram =
      scoreHistogram(Scores{0.0, 0.24, 0.25, 0.99, 1.0}, Scores{-kInfinity, 5.0, 0.5}, 4, 0.0, 1.0);
  EXPECT_THAT(histogram.positives, ElementsAre(2, 1, 0, 2));
  EXPECT_THAT(histogram.negatives, ElementsAre(1, 0, 1, 1));
}

TEST(ScoreHistogram, FindsItsRange) {
  const auto spread = scoreHistogram(Scores{-2.0, kInfinity}, Scores{6.0}, 2);
  EXPECT_EQ(spread.low, -2.0);
  EXPECT_EQ(spread.high, 6.0);
  EXPECT_THAT(spread.positives, ElementsAre(1, 1));
  const auto level = scoreHistogram(Scores(3, 7.0), Scores{}, 1);
  EXPECT_EQ(level.low, 6.5);
  EXPECT_EQ(level.high, 7.5);
  const auto none = scoreHistogram(Scores{}, Scores{}, 3);
  EXPECT_THAT(none.positives, ElementsAre(0, 0, 0));
  const double huge = std::numeric_limits<double>::max();
  const auto wide = scoreHistogram(Scores{-huge, 0.0, huge}, Scores{}, 3);
  EXPECT_THAT(wide.positives, ElementsAre(1, 1, 1));
  const auto top = scoreHistogram(Scores{huge}, Scores{}, 2);
  EXPECT_EQ(std::accumulate(top.positives.begin(), top.positives.end(), std::uint64_t{0}), 1U);
}

TEST(ScoreHistogram, RefusesNoBinsNoWidthAndNans) {
  expectFailure<ConfigError>([] { (void)scoreHistogram(Scores{1}, Scores{}, 0); }, "one bin");
  expectFailure<ConfigError>([] { (void)scoreHistogram(Scores{1}, Scores{}, 2, 1.0, 1.0); },
                             "no width");
  expectFailure<ConfigError>([] { (void)scoreHistogram(Scores{1}, Scores{}, 2, 0, kInfinity); },
                             "no width");
  expectFailure<DataError>([] { (void)scoreHistogram(Scores{}, Scores{NAN}, 2); }, "negatives[0]");
}

TEST(Calibration, ComparesProbabilityWithFrequency) {
  // First bin: 0.2 and 0.4, one of two an edge: |0.3 - 0.5|. Second: 0.9 thrice, two edges.
  const auto result = calibration(Scores{0.4, 0.9, 0.9}, Scores{0.2, 0.9}, 2);
  ASSERT_EQ(result.bins.size(), 2U);
  EXPECT_EQ(result.bins[0].count, 2U);
  EXPECT_DOUBLE_EQ(result.bins[0].mean_probability, 0.3);
  EXPECT_DOUBLE_EQ(result.bins[0].positive_share, 0.5);
  EXPECT_NEAR(result.expected_error, (2 * 0.2 + 3 * (0.9 - 2.0 / 3.0)) / 5.0, 1e-15);
  EXPECT_DOUBLE_EQ(result.largest_error, 0.9 - 2.0 / 3.0);
}

TEST(Calibration, WeighsClassesAlikeWhenAsked) {
  // One edge against four non-edges: the edge counts 5/2, each non-edge 5/8.
  const auto result = calibration(Scores{0.9}, Scores{0.9, 0.9, 0.9, 0.1}, 2, ClassWeight::kAlike);
  EXPECT_EQ(result.bins[1].count, 4U);
  EXPECT_DOUBLE_EQ(result.bins[1].mean_probability, 0.9);
  EXPECT_DOUBLE_EQ(result.bins[1].positive_share, 2.5 / (2.5 + 3 * 0.625));
  EXPECT_DOUBLE_EQ(result.bins[0].positive_share, 0.0);
  EXPECT_NEAR(result.expected_error, (4.375 * (0.9 - 2.5 / 4.375) + 0.625 * 0.1) / 5, 1e-15);
  // Nothing to balance.
  EXPECT_DOUBLE_EQ(calibration(Scores{0.9, 0.8}, Scores{}, 2, ClassWeight::kAlike).expected_error,
                   calibration(Scores{0.9, 0.8}, Scores{}, 2).expected_error);
}

TEST(Calibration, RefusesScoresThatAreNoProbabilities) {
  expectFailure<DataError>([] { (void)calibration(Scores{0.5, 1.5}, Scores{}, 10); },
                           "positives[1] is 1.5");
  expectFailure<DataError>([] { (void)calibration(Scores{0.5}, Scores{NAN}, 10); },
                           "negatives[0] is nan");
  expectFailure<DataError>([] { (void)calibration(Scores{}, Scores{}, 10); }, "no probabilities");
  expectFailure<ConfigError>([] { (void)calibration(Scores{0.5}, Scores{}, 0); }, "one bin");
}

}  // namespace
}  // namespace edgewise
