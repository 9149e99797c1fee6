// The best targets of many sources: exact, a tile of pairs at a time, so that memory follows from
// what is kept and not from how many pairs there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "edgewise/graph/csr_graph.h"
#include "edgewise/graph/types.h"
#include "edgewise/serving/run_scorer.h"
#include "edgewise/util/progress.h"

namespace edgewise {

struct ScoredTarget {
  NodeId target{};
  double score = 0;
};

struct TopRequest {
  std::vector<NodeId> sources;
  // Ascending.
  std::vector<NodeId> targets;
  // As many of them as there are, where they are fewer.
  std::size_t top = 10;
  // Sources and targets are the same nodes and (u, v) scores as (v, u): each pair is scored once.
  bool mutual = false;

  // How many pairs are to be scored.
  [[nodiscard]] std::uint64_t pairCount() const;
};

// For each source its best targets, best first; of equal scores the lower node first. A source is
// no target of itself, nor are its neighbours in `known`. Scores are those of RunScorer::score;
// among scores closer than rounding the choice at the end of a list may be either.
[[nodiscard]] std::vector<std::vector<ScoredTarget>> topTargets(
    const RunScorer& scorer, const CsrGraph& known, const TopRequest& request,
    ProgressSink& progress = silentProgress());

// What it will take, from a sample of the work.
struct SearchEstimate {
  std::uint64_t pairs = 0;
  double seconds = 0;
  std::uint64_t memory_bytes = 0;
};
[[nodiscard]] SearchEstimate estimateSearch(const RunScorer& scorer, const TopRequest& request);

}  // namespace edgewise
