// Negatives that look like links, in the style of HeaRT (Li et al. 2023): a positive is ranked
// against pairs that share an end with it and that simple heuristics favour, which uniform
// non-edges, mostly far apart, never are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "edgewise/graph/csr_graph.h"
#include "edgewise/graph/types.h"
#include "edgewise/sampling/edge_set.h"
#include "edgewise/sampling/negative_sampler.h"
#include "edgewise/util/progress.h"
#include "edgewise/util/rng.h"

namespace edgewise {

struct HardNegativeOptions {
  // Half of them (rounded up) keep the source of the positive, the others its target.
  std::size_t per_positive = 250;
  double ppr_restart = 0.15;
  // Bound on the error of the PPR scores; candidates closer than that may change places.
  double ppr_tolerance = 1e-10;
};

// For a positive (u, v) the candidates that keep u are all w with (u, w) unknown, other than u and
// v; they are ranked by resource allocation and by personalised PageRank on the message graph,
// equal scores sharing the mean of their ranks, and the best by mean of the two ranks are taken.
// Equal means are ordered by a hash of the pair and the random stream, so that candidates out of
// reach (both scores 0) come last and in random order. In the same way for those that keep v.
//
// Positives with the same end share its candidates. Time goes into exact PageRank from every
// distinct end: about 50 passes over the graph for each 16 of them.
class HardNegativeSampler {
 public:
  // Refers to `messages` and `known`, which must outlive it. Throws ShapeError for sizes or
  // directions that disagree and ConfigError for options out of range.
  HardNegativeSampler(const CsrGraph& messages, const PairSpace& space, const EdgeSet& known,
                      const HardNegativeOptions& options = {});

  // result[i * per_positive + j] is the j-th negative of positives[i], hardest first within each
  // half; undirected ones canonical; all of one positive distinct. Throws DataError naming a node
  // with too few candidates, ShapeError for a positive outside the space, InterruptedError.
  [[nodiscard]] std::vector<Edge> sample(std::span<const Edge> positives, const CounterRng& rng,
                                         ProgressSink& progress = silentProgress()) const;

 private:
  const CsrGraph* messages_;
  PairSpace space_;
  const EdgeSet* known_;
  HardNegativeOptions options_;
};

}  // namespace edgewise
