#include "edgewise/evaluation/curves.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "edgewise/util/error.h"
#include "evaluation/checks.h"

namespace edgewise {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void requirePoints(std::size_t max_points) {
  if (max_points < 2) {
    throw ConfigError(fmt::format("a curve needs two ends, so {} points are too few", max_points),
                      "ask for 2 points or more");
  }
}

// Calls visit(false positives, true positives, threshold) for every corner, from (0, 0) on.
template <class Visit>
void visitRocCorners(const BinaryRanking& ranking, const Visit& visit) {
  visit(std::uint64_t{0}, std::uint64_t{0}, kInfinity);
  std::uint64_t found = 0;
  std::uint64_t taken = 0;
  for (const PositiveGroup& group : ranking.groups()) {
    // Negatives between two positive scores make a level stretch; its end is a corner.
    if (group.greater > taken) {
      visit(group.greater, found, std::nextafter(group.score, kInfinity));
    }
    found += group.positives;
    taken = group.greater + group.equal;
    visit(taken, found, group.score);
  }
  if (taken < ranking.negativeCount()) {
    visit(ranking.negativeCount(), found, -kInfinity);
  }
}

// Keeps the first and last of `total` points and between them at most max_points - 2: one whenever
// the progress along the curve (0..1) has passed the next of as many equal steps.
class Thinner {
 public:
  Thinner(std::size_t total, std::size_t max_points)
      : total_(total), keep_all_(total <= max_points), steps_(max_points - 1) {}

  bool keeps(double progress) {
    const std::size_t position = seen_++;
    if (keep_all_ || position == 0 || position + 1 == total_) {
      return true;
    }
    const auto step = static_cast<std::size_t>(progress * static_cast<double>(steps_));
    // The last step belongs to the end of the curve.
    if (step <= reached_ || step >= steps_) {
      return false;
    }
    reached_ = step;
    return true;
  }

 private:
  std::size_t total_;
  bool keep_all_;
  std::size_t steps_;
  std::size_t seen_ = 0;
  std::size_t reached_ = 0;
};

}  // namespace

std::vector<RocPoint> rocCurve(const BinaryRanking& ranking, std::size_t max_points) {
  requirePoints(max_points);
  requireBothClasses(ranking, "the ROC curve");
  std::size_t total = 0;
  visitRocCorners(ranking, [&](auto...) { ++total; });
  Thinner thinner(total, max_points);
  const auto positives = static_cast<double>(ranking.positiveCount());
  const auto negatives = static_cast<double>(ranking.negativeCount());
  std::vector<RocPoint> points;
  visitRocCorners(ranking, [&](std::uint64_t taken, std::uint64_t found, double threshold) {
    const double false_rate = static_cast<double>(taken) / negatives;
    const double true_rate = static_cast<double>(found) / positives;
    if (thinner.keeps((false_rate + true_rate) / 2.0)) {
      points.push_back({false_rate, true_rate, threshold});
    }
  });
  // Reaching (1, 1) means taking everything, whichever corner came last.
  points.back().threshold = -kInfinity;
  return points;
}

std::vector<PrecisionRecallPoint> precisionRecallCurve(const BinaryRanking& ranking,
                                                       std::size_t max_points) {
  requirePoints(max_points);
  requireBothClasses(ranking, "the precision-recall curve");
  Thinner thinner(ranking.groups().size() + 1, max_points);
  const auto positives = static_cast<double>(ranking.positiveCount());
  std::vector<PrecisionRecallPoint> points;
  if (thinner.keeps(0.0)) {
    points.push_back({0.0, 1.0, kInfinity});
  }
  std::uint64_t found = 0;
  for (const PositiveGroup& group : ranking.groups()) {
    found += group.positives;
    const std::uint64_t taken = found + group.greater + group.equal;
    const double recall = static_cast<double>(found) / positives;
    if (thinner.keeps(recall)) {
      points.push_back(
          {recall, static_cast<double>(found) / static_cast<double>(taken), group.score});
    }
  }
  return points;
}

}  // namespace edgewise
