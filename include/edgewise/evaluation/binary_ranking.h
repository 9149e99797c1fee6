// Where each positive stands among the negatives. The distinct positive scores, each with the
// number of positives that have it and of negatives above and at it, are all that AUC, average
// precision, Hits@K, the reciprocal rank and the ROC and precision-recall curves need. Scores are
// sorted once for all of them, and negatives may come in pieces: the counts, and so every metric,
// are the same to the bit however the negatives were cut.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "edgewise/evaluation/score_span.h"

namespace edgewise {

// The positives of one distinct score. `greater` and `equal` count negatives.
struct PositiveGroup {
  double score = 0.0;
  std::uint64_t positives = 0;
  std::uint64_t greater = 0;
  std::uint64_t equal = 0;
  friend bool operator==(const PositiveGroup&, const PositiveGroup&) = default;
};

// Either class may be empty here; each metric says what it makes of that. Infinite scores are
// ordinary, -0 equals 0. A score that is not a number throws DataError with its list and index.
class BinaryRanking {
 public:
  // No negatives yet.
  explicit BinaryRanking(ScoreSpan positives);
  BinaryRanking(ScoreSpan positives, ScoreSpan negatives);
  // One label per score, 1 for a positive and 0 for a negative. Throws ShapeError for different
  // sizes and DataError for any other label.
  static BinaryRanking fromLabels(std::span<const std::uint8_t> labels, ScoreSpan scores);

  // Counts further negatives, in time O(groups + n) and 16 bytes a score. Many small pieces are
  // better given to StreamingRanking, which gathers them first. Nothing changes when it throws.
  void addNegatives(ScoreSpan scores);

  // Best score first.
  [[nodiscard]] std::span<const PositiveGroup> groups() const { return groups_; }
  [[nodiscard]] std::uint64_t positiveCount() const { return positive_count_; }
  [[nodiscard]] std::uint64_t negativeCount() const { return negative_count_; }

 private:
  // Counts negatives given as sorted keys (src/evaluation/score_keys.h).
  void countSorted(std::span<const std::uint64_t> keys);

  std::vector<PositiveGroup> groups_;
  std::uint64_t positive_count_ = 0;
  std::uint64_t negative_count_ = 0;
};

}  // namespace edgewise
