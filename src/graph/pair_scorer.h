// What stands behind HeuristicScorer: one class a family of heuristics. Nodes are checked by the
// caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "edgewise/graph/csr_graph.h"
#include "edgewise/graph/heuristics.h"
#include "edgewise/util/progress.h"

namespace edgewise::detail {

class PairScorer {
 public:
  PairScorer() = default;
  PairScorer(const PairScorer&) = delete;
  PairScorer& operator=(const PairScorer&) = delete;
  PairScorer(PairScorer&&) = delete;
  PairScorer& operator=(PairScorer&&) = delete;
  virtual ~PairScorer() = default;

  // `out` has one place a pair.
  virtual void score(std::span<const Edge> pairs, std::span<double> out,
                     ProgressTask& task) const = 0;
  // `out` has node_count places a source.
  virtual void scoreSources(std::span<const NodeId> sources, std::span<double> out,
                            ProgressTask& task) const = 0;
};

// Positions 0..keys.size()-1 gathered by their key: those of key k are
// order[offsets[k]..offsets[k+1]), ascending.
struct KeyGroups {
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint32_t> order;
};
// Throws ResourceError for more than 2^32 - 1 keys.
[[nodiscard]] KeyGroups groupByKey(std::span<const std::uint32_t> keys, std::size_t key_count);

// cn, aa, ra, jaccard.
[[nodiscard]] std::unique_ptr<const PairScorer> makeOverlapScorer(const CsrGraph& graph,
                                                                  Heuristic heuristic);
// Convergence of `beta` is the caller's to check: `radius_upper` bounds the spectral radius.
struct KatzPlan {
  double beta = 0.0;
  double radius_upper = 0.0;
  int max_length = 0;
  double tolerance = 0.0;
};
[[nodiscard]] std::unique_ptr<const PairScorer> makeKatzScorer(const CsrGraph& graph,
                                                               const KatzPlan& plan);
[[nodiscard]] std::unique_ptr<const PairScorer> makePageRankScorer(const CsrGraph& graph,
                                                                   double restart,
                                                                   double tolerance);

}  // namespace edgewise::detail
