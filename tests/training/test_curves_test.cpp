#include "edgewise/training/test_curves.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "edgewise/util/error.h"
#include "edgewise/util/rng.h"

namespace edgewise {
namespace {

// Two links above two others, and one of each turned around.
RunMetrics smallRun() {
  RunMetrics run;
  run.model = "gae";
  run.split.valid = 3;
  run.split.test = 3;
  run.valid_scores = {2, 1, -1, 0, -2, -3};
  run.test_scores = {3, 2, -1, 1, -2, -4};
  return run;
}

TEST(TestCurves, AreThoseOfTheScores) {
  const auto curves = testCurvesOf(smallRun());
  ASSERT_TRUE(curves);
  EXPECT_EQ(curves->positives, 3U);
  EXPECT_EQ(curves->negatives, 3U);
  EXPECT_EQ(curves->median_positive, 2);
  EXPECT_EQ(curves->median_negative, -2);
  EXPECT_EQ(curves->histogram.low, -4);
  EXPECT_EQ(curves->histogram.high, 3);
  const auto counted = [](const std::vector<std::uint64_t>& bins) {
    return std::accumulate(bins.begin(), bins.end(), std::uint64_t{0});
  };
  EXPECT_EQ(counted(curves->histogram.positives), 3U);
  EXPECT_EQ(counted(curves->histogram.negatives), 3U);
  // By trapezoids the area of 8 of 9 pairs in order.
  double area = 0;
  for (std::size_t i = 1; i < curves->roc.size(); ++i) {
    area += (curves->roc[i].false_positive_rate - curves->roc[i - 1].false_positive_rate) *
            (curves->roc[i].true_positive_rate + curves->roc[i - 1].true_positive_rate) / 2;
  }
  EXPECT_NEAR(area, 8.0 / 9, 1e-12);
  ASSERT_TRUE(curves->calibration);
  EXPECT_EQ(curves->calibration->method, "platt");
  EXPECT_EQ(curves->calibration->links, 3U);
  RunMetrics formula = smallRun();
  formula.model = "cn";
  EXPECT_EQ(testCurvesOf(formula)->calibration->method, "isotonic");
}

TEST(TestCurves, StayBounded) {
  RunMetrics run = smallRun();
  RngStream random(1, "scores");
  run.test_scores.resize(200'000);
  run.split.test = 100'000;
  for (std::size_t i = 0; i < run.test_scores.size(); ++i) {
    run.test_scores[i] = random.uniform() + (i < run.split.test ? 0.3 : 0);
  }
  const auto curves = testCurvesOf(run);
  EXPECT_LE(curves->roc.size(), 200U);
  EXPECT_LE(curves->precision_recall.size(), 200U);
  EXPECT_LT(curves->toJson().dump(2).size(), 64U << 10U);
}

TEST(TestCurves, ReadBackTheSame) {
  const auto curves = testCurvesOf(smallRun());
  const nlohmann::ordered_json json = curves->toJson();
  EXPECT_EQ(TestCurves::fromJson(json).toJson(), json);
  nlohmann::ordered_json newer = json;
  newer["format"] = 99;
  EXPECT_THROW((void)TestCurves::fromJson(newer), DataError);
  nlohmann::ordered_json uneven = json;
  uneven["roc"]["true_positive_rate"].push_back(1.0);
  EXPECT_THROW((void)TestCurves::fromJson(uneven), DataError);
}

TEST(TestCurves, MakeDoWithWhatThereIs) {
  RunMetrics run = smallRun();
  run.valid_scores = {};
  EXPECT_FALSE(testCurvesOf(run)->calibration);
  run = smallRun();
  run.test_scores[0] = std::numeric_limits<double>::infinity();
  run.test_scores[1] = std::numeric_limits<double>::infinity();
  const auto curves = testCurvesOf(run);
  EXPECT_FALSE(curves->calibration);
  EXPECT_FALSE(curves->median_positive);
  EXPECT_EQ(TestCurves::fromJson(curves->toJson()).toJson(), curves->toJson());
  run.split.test = 0;
  EXPECT_FALSE(testCurvesOf(run));
  run.test_scores = {};
  EXPECT_FALSE(testCurvesOf(run));
}

}  // namespace
}  // namespace edgewise
