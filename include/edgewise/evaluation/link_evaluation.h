// From a scorer and held-out edges to metrics: one place that knows which protocol a set of frozen
// negatives means.
#pragma once

#include <span>
#include <vector>

#include "edgewise/data/dataset.h"
#include "edgewise/data/link_split.h"
#include "edgewise/evaluation/metric_set.h"
#include "edgewise/graph/types.h"
#include "edgewise/util/progress.h"

namespace edgewise {

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

// Full ranking on bipartite data: every user with relevant items against all items not in `known`.
// Gives recall@K, precision@K, hit@K and ndcg@K, a block of users at a time.
[[nodiscard]] MetricSet evaluateFullRanking(const LinkScorer& scorer, const Dataset& dataset,
                                            const MessageEdges& known, const EdgeTable& relevant,
                                            std::span<const MetricRequest> requests,
                                            ProgressSink& progress = silentProgress());

}  // namespace edgewise
