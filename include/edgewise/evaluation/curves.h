// ROC and precision-recall curves for reports, thinned to as many points as a picture can use.
#pragma once

#include <cstddef>
#include <vector>

#include "edgewise/evaluation/binary_ranking.h"

namespace edgewise {

// Rates of "score >= threshold means edge".
struct RocPoint {
  double false_positive_rate = 0.0;
  double true_positive_rate = 0.0;
  double threshold = 0.0;
};

struct PrecisionRecallPoint {
  double recall = 0.0;
  double precision = 0.0;
  double threshold = 0.0;
};

inline constexpr std::size_t kDefaultCurvePoints = 500;

// From (0, 0) at threshold +inf to (1, 1) at -inf; both ends are always there. Without thinning
// these are the corners of the exact curve, whose area by trapezoids is the AUC. With more corners
// than `max_points`, corners spread evenly along the curve are kept. Throws DataError when a class
// is missing, ConfigError for fewer than 2 points.
[[nodiscard]] std::vector<RocPoint> rocCurve(const BinaryRanking& ranking,
                                             std::size_t max_points = kDefaultCurvePoints);

// From recall 0 (precision 1 by convention, threshold +inf) to recall 1 at the lowest positive, one
// point per distinct positive score, thinned evenly by recall. Throws like rocCurve.
[[nodiscard]] std::vector<PrecisionRecallPoint> precisionRecallCurve(
    const BinaryRanking& ranking, std::size_t max_points = kDefaultCurvePoints);

}  // namespace edgewise
