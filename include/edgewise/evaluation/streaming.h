// Metrics over more negatives than fit in memory. The positives stay, the negatives pass through in
// blocks of any size and are counted against the positives.
//
// Exact when streamed, equal to the bit to the in-memory result: AUC, average precision, Hits@K for
// every K, mean reciprocal rank, Hit@K and NDCG@K against the shared pool, ROC and precision-recall
// curves: all of them are functions of the BinaryRanking that is kept here. Sampled ranking streams
// by adding up RankCounts, full ranking by FullRankingAccumulator, Hits@K alone in memory O(K) by
// BestScores. Not streamable in this way: anything about the negatives among themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "edgewise/evaluation/binary_ranking.h"
#include "edgewise/evaluation/score_span.h"

namespace edgewise {

// Memory: 32 bytes a distinct positive, and a buffer of as many negatives as there are distinct
// positives (at least a million) or of the largest block given, whichever is more.
class StreamingRanking {
 public:
  explicit StreamingRanking(ScoreSpan positives) : ranking_(positives) {}

  // Throws DataError for a score that is not a number, with its index in the whole stream; the
  // block is not counted then.
  void addNegatives(ScoreSpan block);
  // Everything added so far. More may be added afterwards.
  [[nodiscard]] const BinaryRanking& ranking();

 private:
  void flush();

  BinaryRanking ranking_;
  std::vector<double> pending_;
  std::uint64_t seen_ = 0;
};

}  // namespace edgewise
