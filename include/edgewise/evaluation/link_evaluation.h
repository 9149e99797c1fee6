// From a scorer and held-out edges to metrics: one place that knows which protocol a set of frozen
// negatives means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "edgewise/data/dataset.h"
#include "edgewise/data/link_split.h"
#include "edgewise/evaluation/full_ranking.h"
#include "edgewise/evaluation/metric_set.h"
#include "edgewise/evaluation/score_span.h"
#include "edgewise/graph/types.h"
#include "edgewise/util/progress.h"

namespace edgewise {

// Nodes first .. first + count - 1.
struct NodeRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

// Memory for scores, used again from block to block.
struct ScoreMemory {
  std::vector<float> floats;
  std::vector<double> doubles;
};

// Whatever can score pairs of nodes: a heuristic, a trained model.
class LinkScorer {
 public:
  LinkScorer() = default;
  LinkScorer(const LinkScorer&) = delete;
  LinkScorer& operator=(const LinkScorer&) = delete;
  LinkScorer(LinkScorer&&) = delete;
  LinkScorer& operator=(LinkScorer&&) = delete;
  virtual ~LinkScorer() = default;

  // One score a pair, in order.
  [[nodiscard]] virtual std::vector<double> score(std::span<const Edge> pairs,
                                                  ProgressSink& progress) const = 0;
  // out[i * node_count + v] = score(sources[i], v).
  virtual void scoreSources(std::span<const NodeId> sources, std::span<double> out,
                            ProgressSink& progress) const = 0;
  // Scores of every source with every target, [sources, targets.count] row by row, in `memory`. By
  // scoreSources, unless a scorer knows a quicker way.
  [[nodiscard]] virtual ScoreSpan scoreBlock(std::span<const NodeId> sources, NodeRange targets,
                                             std::size_t node_count, ScoreMemory& memory) const;
  // Of every source the targets, counted from the first, that score at least as high as its
  // `count`-th best of those that `known` does not mask; nothing where all scores are as quick.
  [[nodiscard]] virtual std::optional<TopLists> topBlock(std::span<const NodeId> /*sources*/,
                                                         NodeRange /*targets*/,
                                                         std::span<const UserItems> /*known*/,
                                                         std::size_t /*count*/) const {
    return std::nullopt;
  }
  // About how many pairs can be scored without keeping anybody waiting: what a full ranking that
  // nobody asked to be complete keeps to.
  [[nodiscard]] virtual std::uint64_t pairsWithinReach() const {
    return std::numeric_limits<std::uint64_t>::max();
  }
};

// Scores positives and frozen negatives. A shared pool gives auc, ap, hits@K and mrr; candidates of
// each positive's own give hit@K, ndcg@K and mrr. Throws ConfigError for a metric that the protocol
// cannot give.
[[nodiscard]] MetricSet evaluateHeldOut(const LinkScorer& scorer, const EdgeTable& positive,
                                        const FrozenNegatives& negative,
                                        std::span<const MetricRequest> requests,
                                        ProgressSink& progress = silentProgress());

// The same from scores: the first `positives` are those of positive edges, the others those of
// negatives (`per_positive` each in order, or 0 for one pool).
[[nodiscard]] MetricSet evaluateScores(std::span<const double> scores, std::size_t positives,
                                       std::size_t per_positive,
                                       std::span<const MetricRequest> requests);

// What a full ranking is asked for.
struct FullRankingRequest {
  // recall@K, precision@K, hit@K and ndcg@K.
  std::vector<MetricRequest> requests;
  // Users that are ranked, drawn at random where there are more; 0: all of them, -1: all, or as
  // many as are within the scorer's reach.
  std::int64_t users = 0;
};

// How many of `users` users a ranking of `items` items takes by this request.
[[nodiscard]] std::size_t usersToRank(const FullRankingRequest& request, const LinkScorer& scorer,
                                      std::size_t users, std::size_t items);

// Full ranking on bipartite data: every user with relevant items against all items not in `known`,
// a block of users at a time.
[[nodiscard]] MetricSet evaluateFullRanking(const LinkScorer& scorer, const Dataset& dataset,
                                            const MessageEdges& known, const EdgeTable& relevant,
                                            const FullRankingRequest& request,
                                            ProgressSink& progress = silentProgress());

}  // namespace edgewise
