#include "edgewise/evaluation/binary_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "edgewise/evaluation/accurate_sum.h"
#include "edgewise/util/error.h"
#include "evaluation/checks.h"

namespace edgewise {
namespace {

// Twice positives x negatives passes 64 bits from 3 billion of each.
__extension__ using WideCount = unsigned __int128;

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::uint64_t countAtLeast(ScoreSpan scores, double threshold) {
  return scores.visit([&](auto values) {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(values, [&](double score) { return score >= threshold; }));
  });
}

}  // namespace

double auc(const BinaryRanking& ranking) {
  requireBothClasses(ranking, "AUC");
  WideCount halves = 0;
  for (const PositiveGroup& group : ranking.groups()) {
    const std::uint64_t less = ranking.negativeCount() - group.greater - group.equal;
    halves += static_cast<WideCount>(group.positives) * (2 * less + group.equal);
  }
  const WideCount pairs = static_cast<WideCount>(ranking.positiveCount()) * ranking.negativeCount();
  return static_cast<double>(halves) / static_cast<double>(2 * pairs);
}

double auc(ScoreSpan positives, ScoreSpan negatives) {
  return auc(BinaryRanking(positives, negatives));
}

double auc(std::span<const std::uint8_t> labels, ScoreSpan scores) {
  return auc(BinaryRanking::fromLabels(labels, scores));
}

double averagePrecision(const BinaryRanking& ranking) {
  requireBothClasses(ranking, "average precision");
  AccurateSum sum;
  std::uint64_t found = 0;
  // Scores that only negatives have raise no recall, so the groups are all the thresholds needed.
  for (const PositiveGroup& group : ranking.groups()) {
    found += group.positives;
    const std::uint64_t taken = found + group.greater + group.equal;
    sum.add(static_cast<double>(group.positives) * ratio(found, taken));
  }
  return sum.value() / static_cast<double>(ranking.positiveCount());
}

double averagePrecision(ScoreSpan positives, ScoreSpan negatives) {
  return averagePrecision(BinaryRanking(positives, negatives));
}

double averagePrecision(std::span<const std::uint8_t> labels, ScoreSpan scores) {
  return averagePrecision(BinaryRanking::fromLabels(labels, scores));
}

double Confusion::accuracy() const { return ratio(true_positives + true_negatives, total()); }

double Confusion::precision() const {
  return ratio(true_positives, true_positives + false_positives);
}

double Confusion::recall() const { return ratio(true_positives, true_positives + false_negatives); }

double Confusion::f1() const {
  return ratio(2 * true_positives, 2 * true_positives + false_positives + false_negatives);
}

Confusion confusionAt(ScoreSpan positives, ScoreSpan negatives, double threshold) {
  requireNumbers(positives, "positives");
  requireNumbers(negatives, "negatives");
  if (std::isnan(threshold)) {
    throw DataError("the threshold is not a number (NaN)");
  }
  Confusion confusion{.threshold = threshold};
  confusion.true_positives = countAtLeast(positives, threshold);
  confusion.false_negatives = positives.size() - confusion.true_positives;
  confusion.false_positives = countAtLeast(negatives, threshold);
  confusion.true_negatives = negatives.size() - confusion.false_positives;
  return confusion;
}

Confusion bestAccuracy(const BinaryRanking& ranking) {
  requireBothClasses(ranking, "best accuracy");
  const std::uint64_t positives = ranking.positiveCount();
  const std::uint64_t negatives = ranking.negativeCount();
  Confusion best{.threshold = std::numeric_limits<double>::infinity(),
                 .true_negatives = negatives,
                 .false_negatives = positives};
  std::uint64_t found = 0;
  for (const PositiveGroup& group : ranking.groups()) {
    found += group.positives;
    const std::uint64_t taken = group.greater + group.equal;
    const std::uint64_t right = found + (negatives - taken);
    // Where a positive scores +inf, no threshold takes nothing.
    if (right > best.true_positives + best.true_negatives || group.score == best.threshold) {
      best = {group.score, found, taken, negatives - taken, positives - found};
    }
  }
  return best;
}

}  // namespace edgewise
