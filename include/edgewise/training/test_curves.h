// What pictures of a run's test scores need, in a bounded number of points: test_curves.json of a
// run's folder. The scores themselves may be millions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "edgewise/evaluation/curves.h"
#include "edgewise/evaluation/histogram.h"
#include "edgewise/evaluation/score_calibration.h"
#include "edgewise/training/run_metrics.h"

namespace edgewise {

inline constexpr const char* kTestCurvesFile = "test_curves.json";

// How probabilities learned from validation hold on the test pairs, both classes weighed alike.
struct TestCalibration {
  // "platt" or "isotonic", and from how many validation pairs.
  std::string method;
  std::size_t links = 0;
  std::size_t others = 0;
  Calibration test;
};

struct TestCurves {
  std::uint64_t positives = 0;
  std::uint64_t negatives = 0;
  // Of the scores; nothing where it is infinite.
  std::optional<double> median_positive;
  std::optional<double> median_negative;
  // 40 bins over the range of the finite scores.
  ScoreHistogram histogram;
  // 200 points at most each.
  std::vector<RocPoint> roc;
  std::vector<PrecisionRecallPoint> precision_recall;
  // Nothing where validation has no links, no others, or scores that are not finite.
  std::optional<TestCalibration> calibration;

  // Thresholds are left out: they may be infinite, and no picture shows them.
  [[nodiscard]] nlohmann::ordered_json toJson() const;
  // Throws nlohmann's exceptions or DataError for JSON that is none, or of a newer version.
  static TestCurves fromJson(const nlohmann::ordered_json& json);
};

// From the scores that a run carries after it was made or evaluated. Nothing where it has no test
// positives or no negatives.
[[nodiscard]] std::optional<TestCurves> testCurvesOf(const RunMetrics& run);

// The way scores of this model become probabilities: Platt's for logits, isotonic for formulas.
// Throws what ScoreCalibration does.
[[nodiscard]] ScoreCalibration calibrationFor(std::string_view model, std::span<const double> links,
                                              std::span<const double> others);

}  // namespace edgewise
