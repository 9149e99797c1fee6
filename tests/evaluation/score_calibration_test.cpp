#include "edgewise/evaluation/score_calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "edgewise/util/rng.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::expectFailure;

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

// Scores s of pairs that are links with probability logistic(slope * s + offset).
struct Drawn {
  std::vector<double> links;
  std::vector<double> others;
};

Drawn draw(double slope, double offset, std::size_t count) {
  const CounterRng random(7, "calibration");
  Drawn drawn;
  for (std::size_t i = 0; i < count; ++i) {
    const double score = -4 + 8 * static_cast<double>(i) / static_cast<double>(count);
    const double lot = static_cast<double>(random.below(i, 1'000'000)) / 1e6;
    (lot < logistic(slope * score + offset) ? drawn.links : drawn.others).push_back(score);
  }
  return drawn;
}

TEST(ScoreCalibration, PlattFindsTheCurveThatScoresWereDrawnBy) {
  // Scores are spread evenly, so with offset 0 half of all pairs are links.
  const Drawn drawn = draw(1.5, 0, 40'000);
  const ScoreCalibration fitted = ScoreCalibration::platt(drawn.links, drawn.others);
  EXPECT_EQ(fitted.method(), "platt");
  EXPECT_EQ(fitted.links(), drawn.links.size());
  EXPECT_EQ(fitted.others(), drawn.others.size());
  for (const double score : {-3.0, -1.0, 0.0, 0.5, 2.0}) {
    EXPECT_NEAR(fitted.probability(score), logistic(1.5 * score), 0.02) << score;
  }
}

TEST(ScoreCalibration, PlattLooksAtAMillionOfEachKindAtMost) {
  const Drawn drawn = draw(1.5, 0, 40'000);
  std::vector<double> others;
  for (int i = 0; i < 60; ++i) {
    others.insert(others.end(), drawn.others.begin(), drawn.others.end());
  }
  ASSERT_GT(others.size(), 1'000'000U);
  const ScoreCalibration some = ScoreCalibration::platt(drawn.links, others);
  EXPECT_EQ(some.links(), drawn.links.size());
  EXPECT_EQ(some.others(), (others.size() + 1) / 2);
  others.resize(1'000'001, others.front());
  EXPECT_EQ(ScoreCalibration::platt(drawn.links, others).others(), 500'001U);
  others.resize(2'000'001, others.front());
  EXPECT_EQ(ScoreCalibration::platt(drawn.links, others).others(), 666'667U);
  // What is passed over is looked at all the same.
  others[1] = std::numeric_limits<double>::quiet_NaN();
  expectFailure<DataError>([&] { (void)ScoreCalibration::platt(drawn.links, others); },
                           "not finite");
  const ScoreCalibration all = ScoreCalibration::platt(drawn.links, drawn.others);
  for (const double score : {-3.0, 0.0, 2.0}) {
    EXPECT_NEAR(some.probability(score), all.probability(score), 1e-3) << score;
  }
}

TEST(ScoreCalibration, IsotonicFindsItToo) {
  const Drawn drawn = draw(1.5, 0, 40'000);
  const ScoreCalibration fitted = ScoreCalibration::isotonic(drawn.links, drawn.others);
  EXPECT_EQ(fitted.method(), "isotonic");
  for (const double score : {-3.0, -1.0, 0.0, 0.5, 2.0}) {
    EXPECT_NEAR(fitted.probability(score), logistic(1.5 * score), 0.06) << score;
  }
}

std::vector<double> repeated(const std::vector<double>& values, int times) {
  std::vector<double> all;
  for (int i = 0; i < times; ++i) {
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

TEST(ScoreCalibration, WeighsLinksAndOthersAlike) {
  const std::vector<double> links = repeated({1, 2, 3, 4}, 100);
  const std::vector<double> others = repeated({-1, 0, 1.5, 2.5}, 100);
  const std::vector<double> many = repeated(others, 50);
  for (const double score : {0.0, 1.0, 1.75, 3.0}) {
    EXPECT_NEAR(ScoreCalibration::isotonic(links, others).probability(score),
                ScoreCalibration::isotonic(links, many).probability(score), 0.002);
    EXPECT_NEAR(ScoreCalibration::platt(links, others).probability(score),
                ScoreCalibration::platt(links, many).probability(score), 0.01);
  }
}

// Scores 1 and 2 are out of order: they share a step of one link in two, between sure ones.
TEST(ScoreCalibration, IsotonicPoolsWhatFalls) {
  const std::vector<double> links = {1, 3};
  const std::vector<double> others = {0, 2};
  const ScoreCalibration fitted = ScoreCalibration::isotonic(links, others);
  // Kept clear of 0 and 1 by 1 / (4 + 2).
  EXPECT_NEAR(fitted.probability(-5), 1.0 / 6, 1e-12);
  EXPECT_NEAR(fitted.probability(0), 1.0 / 6, 1e-12);
  EXPECT_NEAR(fitted.probability(1.5), 0.5, 1e-12);
  EXPECT_NEAR(fitted.probability(0.75), (1.0 / 6 + 0.5) / 2, 1e-12);
  EXPECT_NEAR(fitted.probability(3), 5.0 / 6, 1e-12);
  EXPECT_NEAR(fitted.probability(9), 5.0 / 6, 1e-12);
}

TEST(ScoreCalibration, NeverFalls) {
  const Drawn drawn = draw(0.7, 0.5, 500);
  for (const ScoreCalibration& fitted : {ScoreCalibration::platt(drawn.links, drawn.others),
                                         ScoreCalibration::isotonic(drawn.links, drawn.others),
                                         ScoreCalibration::platt(drawn.others, drawn.links),
                                         ScoreCalibration::isotonic(drawn.others, drawn.links)}) {
    double last = 0;
    for (double score = -10; score < 10; score += 0.1) {
      const double now = fitted.probability(score);
      EXPECT_GE(now, last);
      EXPECT_GT(now, 0);
      EXPECT_LT(now, 1);
      last = now;
    }
  }
}

TEST(ScoreCalibration, StaysFiniteWhereScoresSeparateAll) {
  const std::vector<double> links = {1e-9, 2e-9};
  const std::vector<double> others = {0, 0};
  const ScoreCalibration fitted = ScoreCalibration::platt(links, others);
  EXPECT_GT(fitted.probability(2e-9), 0.6);
  EXPECT_LT(fitted.probability(0), 0.4);
  EXPECT_EQ(ScoreCalibration::platt(others, others).probability(3), 0.5);
}

TEST(ScoreCalibration, RefusesWhatTellsNothing) {
  const std::vector<double> some = {1};
  const std::vector<double> nan = {std::numeric_limits<double>::quiet_NaN()};
  expectFailure<DataError>([&] { (void)ScoreCalibration::platt({}, some); }, "without links");
  expectFailure<DataError>([&] { (void)ScoreCalibration::isotonic(some, {}); },
                           "without non-links");
  expectFailure<DataError>([&] { (void)ScoreCalibration::platt(some, nan); }, "not finite");
}

}  // namespace
}  // namespace edgewise
