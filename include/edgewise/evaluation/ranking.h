// Ranking one positive against negatives of its own (sampled candidates, HeaRT) or against a shared
// pool. Its rank is 1 + the negatives strictly above it; among negatives of equal score its place
// is random, and every metric here is the exact expectation over that random order, so nothing
// depends on how ties happen to be laid out. With one relevant item the ideal DCG is 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "edgewise/evaluation/binary_ranking.h"
#include "edgewise/evaluation/score_span.h"

namespace edgewise {

// How many negatives stand strictly above a positive and beside it.
struct RankCounts {
  std::uint64_t greater = 0;
  std::uint64_t equal = 0;

  // Counts over disjoint pieces of the negatives add up.
  RankCounts& operator+=(const RankCounts& other) {
    greater += other.greater;
    equal += other.equal;
    return *this;
  }
  friend bool operator==(const RankCounts&, const RankCounts&) = default;
};

// The positive against one list of negatives (possibly empty). Throws DataError for a score that is
// not a number.
[[nodiscard]] RankCounts rankCounts(double positive, ScoreSpan negatives);
// Each positive against its own row of negatives: `negatives` is [positives.size(), per_positive],
// row by row. Throws ShapeError when the sizes do not fit.
[[nodiscard]] std::vector<RankCounts> rankCounts(ScoreSpan positives, ScoreSpan negatives,
                                                 std::size_t per_positive);

// P(rank <= k). O(1).
[[nodiscard]] double expectedHit(RankCounts counts, std::size_t k);
// E[1 / log2(rank + 1) where rank <= k, else 0]. O(min(k, ties)).
[[nodiscard]] double expectedNdcg(RankCounts counts, std::size_t k);
// E[1 / rank]. O(1): a difference of harmonic numbers, accurate to a few ulp.
[[nodiscard]] double expectedReciprocalRank(RankCounts counts);

// Means over many positives, summed in order. DataError when there are none; ConfigError for k = 0.
[[nodiscard]] double meanHit(std::span<const RankCounts> ranks, std::size_t k);
[[nodiscard]] double meanNdcg(std::span<const RankCounts> ranks, std::size_t k);
[[nodiscard]] double meanReciprocalRank(std::span<const RankCounts> ranks);

// The same where all positives face one pool of negatives.
[[nodiscard]] double meanHit(const BinaryRanking& ranking, std::size_t k);
[[nodiscard]] double meanNdcg(const BinaryRanking& ranking, std::size_t k);
[[nodiscard]] double meanReciprocalRank(const BinaryRanking& ranking);

}  // namespace edgewise
