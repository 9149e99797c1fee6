// Bounds on the spectral radius of the adjacency matrix, which limit how strongly Katz scores may
// weigh long paths. Bounds and not an estimate: a promise of convergence must not rest on a guess.
#pragma once

#include "edgewise/graph/csr_graph.h"

namespace edgewise {

// lower <= spectral radius <= upper.
struct SpectralRadiusBounds {
  double lower = 0.0;
  double upper = 0.0;
};

struct SpectralOptions {
  // Ends when (upper - lower) / upper is this small, or after `max_iterations`.
  double relative_gap = 1e-4;
  int max_iterations = 400;
};

// Power iteration on A + sI with a small shift s, which forbids the oscillation of bipartite graphs
// and directed cycles. Every iterate gives Collatz-Wielandt bounds (the least and the largest
// (Ax)_i / x_i, within each strongly connected part), and on undirected graphs a Rayleigh quotient
// as a further lower bound. Edge weights are ignored. A graph without cycles (no edges at all, or
// directed and acyclic) has radius 0, exactly.
[[nodiscard]] SpectralRadiusBounds spectralRadiusBounds(const CsrGraph& graph,
                                                        const SpectralOptions& options = {});

}  // namespace edgewise
