// The top of one user's ranking, by two scans of the score row: the first finds the K-th best
// score, the second gathers what reaches it. Almost all blocks of a row are dismissed by one vector
// comparison.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "edgewise/evaluation/full_ranking.h"

namespace edgewise {

// Candidates of one score: they take the places begin+1 .. begin+size in random order, and
// `relevant` of them are test items.
struct TieRun {
  std::size_t begin = 0;
  std::size_t size = 0;
  std::size_t relevant = 0;
};

// Reused from user to user, so that a row costs no allocations.
class UserRanker {
 public:
  UserRanker(std::size_t item_count, std::size_t largest_k);

  // The tie runs, best first, that begin within the first K places; valid until the next call.
  // `row` names the user in errors: DataError as FullRankingAccumulator::add says, after which the
  // ranker must not be used again.
  template <class T>
  std::span<const TieRun> topRuns(std::span<const T> scores, const UserItems& user,
                                  std::uint64_t row);
  // The same from a list of all candidates that reach the K-th best score.
  std::span<const TieRun> listRuns(std::span<const std::uint32_t> items,
                                   std::span<const float> scores, const UserItems& user,
                                   std::uint64_t row);

 private:
  enum class ItemRole : std::uint8_t { kCandidate, kMasked, kRelevant };
  struct Candidate {
    double score = 0.0;
    bool relevant = false;
  };

  // Returns the number of candidates.
  std::size_t assignRoles(const UserItems& user, std::uint64_t row);
  void clearRoles(const UserItems& user);
  template <class T>
  T kthBest(std::span<const T> scores, std::size_t k);
  template <class T>
  void gather(std::span<const T> scores, T bar, std::uint64_t row);
  void makeRuns();

  std::size_t largest_k_;
  std::vector<ItemRole> roles_;
  std::vector<double> best_;
  std::vector<Candidate> above_;
  TieRun at_bar_;
  std::vector<TieRun> runs_;
};

extern template std::span<const TieRun> UserRanker::topRuns(std::span<const float>,
                                                            const UserItems&, std::uint64_t);
extern template std::span<const TieRun> UserRanker::topRuns(std::span<const double>,
                                                            const UserItems&, std::uint64_t);

// The expectations at k for a user with `relevant` test items. `discounts[r]` is 1/log2(r + 2) and
// `ideal[n]` the sum of the first n of them, for as many places as the runs and test items reach.
[[nodiscard]] TopKMetrics metricsAt(std::span<const TieRun> runs, std::size_t relevant,
                                    std::size_t k, std::span<const double> discounts,
                                    std::span<const double> ideal);

}  // namespace edgewise
