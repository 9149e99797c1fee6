// Telling edges from non-edges: area under the ROC curve, average precision, and the confusion
// counts of a threshold. Equal scores never depend on their order: a positive and a negative with
// the same score count half in the AUC, and average precision has one threshold per distinct score
// (scikit-learn's definitions).
#pragma once

#include <cstdint>
#include <span>

#include "edgewise/evaluation/binary_ranking.h"

namespace edgewise {

// P(positive above negative) + P(equal) / 2, counted in integers. Throws DataError when a class is
// missing.
[[nodiscard]] double auc(const BinaryRanking& ranking);
[[nodiscard]] double auc(ScoreSpan positives, ScoreSpan negatives);
[[nodiscard]] double auc(std::span<const std::uint8_t> labels, ScoreSpan scores);

// Sum over distinct scores, best first, of (growth of recall) x precision. Throws DataError when a
// class is missing.
[[nodiscard]] double averagePrecision(const BinaryRanking& ranking);
[[nodiscard]] double averagePrecision(ScoreSpan positives, ScoreSpan negatives);
[[nodiscard]] double averagePrecision(std::span<const std::uint8_t> labels, ScoreSpan scores);

// What "score >= threshold means edge" gets right and wrong.
struct Confusion {
  double threshold = 0.0;
  std::uint64_t true_positives = 0;
  std::uint64_t false_positives = 0;
  std::uint64_t true_negatives = 0;
  std::uint64_t false_negatives = 0;

  [[nodiscard]] std::uint64_t total() const {
    return true_positives + false_positives + true_negatives + false_negatives;
  }
  // Each is 0 where its denominator is 0.
  [[nodiscard]] double accuracy() const;
  [[nodiscard]] double precision() const;
  [[nodiscard]] double recall() const;
  [[nodiscard]] double f1() const;
  friend bool operator==(const Confusion&, const Confusion&) = default;
};

// Either class may be empty. Throws DataError for a score or a threshold that is not a number.
[[nodiscard]] Confusion confusionAt(ScoreSpan positives, ScoreSpan negatives, double threshold);

// The threshold of highest accuracy: a positive's score, or infinity (nothing is an edge). The
// highest such threshold when several are equally good. Throws DataError when a class is missing.
[[nodiscard]] Confusion bestAccuracy(const BinaryRanking& ranking);

}  // namespace edgewise
