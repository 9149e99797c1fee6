// Link scores that need no training: the baselines every learned model has to beat, and the measure
// of how hard a negative is. Exact up to a stated tolerance, parallel, and the same for any number
// of threads. Edge weights are ignored. A self-loop is an entry of the adjacency matrix like any
// other.
//
// N(u) are the neighbours of u and d(u) their number. On a directed graph a pair (u, v) asks for
// u -> v: N(u) are then the targets of u, N(v) the sources of v, and d(w) of a node between them
// counts both kinds.
//
//   cn       |N(u) & N(v)|
//   aa       sum over common w of 1 / log d(w); a w of degree 1 adds nothing
//   ra       sum over common w of 1 / d(w)
//   jaccard  |N(u) & N(v)| / |N(u) | N(v)|, 0 where both are empty
//   pa       d(u) * d(v)
//   katz     sum over lengths l >= 1 of beta^l times the number of walks of length l from u to v
//   ppr      p_u(v) + p_v(u), where p_s is the stationary distribution of a walk that returns to s
//            with probability `ppr_restart` before each step, and always from a node without
//            (out-)edges
//
// The same formulas hold for a pair (u, u).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "edgewise/graph/csr_graph.h"
#include "edgewise/graph/types.h"
#include "edgewise/util/progress.h"

namespace edgewise {

enum class Heuristic : std::uint8_t {
  kCommonNeighbours,
  kAdamicAdar,
  kResourceAllocation,
  kJaccard,
  kPreferentialAttachment,
  kKatz,
  kPersonalizedPageRank,
};

// All of them, in the order above.
[[nodiscard]] std::span<const Heuristic> allHeuristics();
// "cn", "aa", "ra", "jaccard", "pa", "katz", "ppr".
[[nodiscard]] std::string_view heuristicName(Heuristic heuristic);
// Throws ConfigError with the nearest known name.
[[nodiscard]] Heuristic parseHeuristic(std::string_view name);

struct HeuristicOptions {
  // 0: the smaller of 0.05 and half of what the graph allows.
  double katz_beta = 0.0;
  // Walks up to this length alone count; any beta is allowed then. 0: all lengths.
  int katz_max_length = 0;
  // Between 0.0001 and 1, 1 excluded.
  double ppr_restart = 0.15;
  // Bound on the error of a PPR score, and of a Katz score in units of beta.
  double tolerance = 1e-12;
};

namespace detail {
class PairScorer;
}

// Scores pairs of nodes by one heuristic on one graph. Refers to the graph, which must outlive it.
class HeuristicScorer {
 public:
  // Throws ConfigError for options out of range, and for a Katz beta at which the sum over all
  // lengths diverges (beta >= 1 / spectral radius), with a beta that is safe.
  HeuristicScorer(const CsrGraph& messages, Heuristic heuristic,
                  const HeuristicOptions& options = {});
  HeuristicScorer(CsrGraph&&, Heuristic, const HeuristicOptions& = {}) = delete;
  HeuristicScorer(const HeuristicScorer&) = delete;
  HeuristicScorer& operator=(const HeuristicScorer&) = delete;
  HeuristicScorer(HeuristicScorer&&) noexcept;
  HeuristicScorer& operator=(HeuristicScorer&&) noexcept;
  ~HeuristicScorer();

  [[nodiscard]] Heuristic heuristic() const { return heuristic_; }
  // The beta in use, given or chosen; 0 for other heuristics than Katz.
  [[nodiscard]] double katzBeta() const { return katz_beta_; }

  // One score a pair, in order; pairs may repeat. On undirected graphs (u, v) and (v, u) get the
  // same bits. Katz and PPR scores of a pair may differ within the tolerance when it is scored
  // among other pairs. Throws ShapeError for a node outside the graph and InterruptedError.
  [[nodiscard]] std::vector<double> score(std::span<const Edge> pairs,
                                          ProgressSink& progress = silentProgress()) const;

  // Each source against every node: out[i * node_count + v] = score(sources[i], v), 8 bytes an
  // entry. Throws ShapeError unless `out` has sources x node_count entries.
  void scoreSources(std::span<const NodeId> sources, std::span<double> out,
                    ProgressSink& progress = silentProgress()) const;

 private:
  const CsrGraph* graph_;
  Heuristic heuristic_;
  double katz_beta_ = 0.0;
  std::unique_ptr<const detail::PairScorer> scorer_;
};

}  // namespace edgewise
