// Full ranking for recommendation: every item a user has not met in training is a candidate, and
// the top K are compared with the user's test items. Equal scores are in random order and each
// metric is the exact expectation over that order. Users come in blocks of score rows, so memory is
// bounded by the block; a row is scanned for its K best, never sorted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "edgewise/evaluation/accurate_sum.h"
#include "edgewise/evaluation/score_span.h"

namespace edgewise {

// What is known of one user, as item numbers 0..item_count-1 in any order.
struct UserItems {
  // No candidates: the items seen in training. Repeats do no harm.
  std::span<const std::uint32_t> masked;
  // The test items: distinct and none of them masked.
  std::span<const std::uint32_t> relevant;
};

// Of some users the best candidates, in any order: all that score at least as high as the K-th best
// of them, for the largest K that is looked at.
struct TopLists {
  // Where each user's begin among the others, users + 1 numbers.
  std::vector<std::size_t> offsets = {0};
  std::vector<std::uint32_t> items;
  std::vector<float> scores;
};

// The metrics of one user, or their means over users, at one K. With h test items among the top K:
// recall h / test items, precision h / K, hit P(h >= 1), ndcg DCG / (ideal DCG over min(K, test
// items)). Where fewer than K candidates exist, all of them are the top K.
struct TopKMetrics {
  std::size_t k = 0;
  double recall = 0.0;
  double precision = 0.0;
  double hit = 0.0;
  double ndcg = 0.0;
};

struct FullRankingResult {
  // Users with at least one test item: those the means are over.
  std::uint64_t users = 0;
  // Users without test items.
  std::uint64_t skipped = 0;
  // In the order of the ks asked for.
  std::vector<TopKMetrics> at;
};

// Means over users. Users of a block are ranked in parallel and summed in their order, so the
// result depends neither on the number of threads nor on the cut into blocks.
class FullRankingAccumulator {
 public:
  // Throws ConfigError without a K, for K = 0 or a repeated K.
  FullRankingAccumulator(std::size_t item_count, std::vector<std::size_t> ks);

  // `scores` is [users.size(), item_count], row by row. Throws ShapeError when the sizes do not
  // fit; DataError for a score that is not a number, an item out of range, a repeated test item or
  // one that is also masked. Nothing is added when it throws.
  void add(ScoreSpan scores, std::span<const UserItems> users);
  void add(ScoreSpan scores, const UserItems& user) { add(scores, std::span(&user, 1)); }

  // The same from the best candidates alone.
  void add(const TopLists& best, std::span<const UserItems> users);

  // Throws DataError when no user had test items.
  [[nodiscard]] FullRankingResult result() const;
  [[nodiscard]] const std::vector<std::size_t>& ks() const { return ks_; }
  // The largest K, or all items where they are fewer.
  [[nodiscard]] std::size_t places() const { return places_; }

 private:
  struct Sums {
    AccurateSum recall;
    AccurateSum precision;
    AccurateSum hit;
    AccurateSum ndcg;
  };

  // `runs_of` gives user i's tie runs by a ranker of the thread's own.
  template <class RunsOf>
  void addRuns(std::span<const UserItems> users, const RunsOf& runs_of);
  void addUser(const UserItems& user, std::span<const TopKMetrics> metrics);

  std::size_t item_count_;
  std::vector<std::size_t> ks_;
  std::size_t places_ = 0;
  // 1 / log2(rank + 1) for ranks 1, 2, ... and their running sums.
  std::vector<double> discounts_;
  std::vector<double> ideal_;
  std::vector<Sums> sums_;
  std::uint64_t users_ = 0;
  std::uint64_t skipped_ = 0;
};

}  // namespace edgewise
