// Hits@K as the OGB evaluators define it: the share of positives strictly above the K-th best
// negative. With fewer than K negatives it is 1. A positive that ties with the K-th best negative
// is no hit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "edgewise/evaluation/binary_ranking.h"
#include "edgewise/evaluation/score_span.h"

namespace edgewise {

// Each throws DataError without positives or for a score that is not a number, ConfigError for
// k = 0.
[[nodiscard]] double hitsAtK(ScoreSpan positives, ScoreSpan negatives, std::size_t k);
[[nodiscard]] double hitsAtK(const BinaryRanking& ranking, std::size_t k);

// The best scores of a stream, in memory O(capacity) whatever the length of the stream.
class BestScores {
 public:
  // Throws ConfigError for capacity 0. Memory grows with the scores seen, up to twice the capacity.
  explicit BestScores(std::size_t capacity);

  // Throws DataError for a score that is not a number and changes nothing then.
  void add(ScoreSpan scores);
  // As if the other's stream had been added here. Throws ShapeError for another capacity.
  void merge(const BestScores& other);

  // All scores seen, kept or not.
  [[nodiscard]] std::uint64_t seen() const { return seen_; }
  // The k-th best score seen (k = 1 is the best), nothing when fewer were seen. Throws ConfigError
  // for k outside 1..capacity.
  [[nodiscard]] std::optional<double> kthBest(std::size_t k) const;

 private:
  void keep(ScoreSpan scores);
  void prune();

  std::size_t capacity_;
  std::uint64_t seen_ = 0;
  std::vector<double> kept_;
  // The capacity-th best when kept_ was last pruned: nothing at or below it can matter any more.
  std::optional<double> bar_;
};

// Hits@K against negatives that were streamed; the positives too may come in pieces (weigh the
// results by their sizes). `k` must not exceed the capacity of `negatives`.
[[nodiscard]] double hitsAtK(ScoreSpan positives, const BestScores& negatives, std::size_t k);

}  // namespace edgewise
