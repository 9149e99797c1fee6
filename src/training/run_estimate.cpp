#include "edgewise/training/run_estimate.h"

#include <algorithm>

#include "edgewise/graph/heuristics.h"
#include "edgewise/util/parallel.h"

namespace edgewise {
namespace {

// Orders of magnitude of one core: neighbours compared, and matrix entries applied to one column,
// per second.
constexpr double kNeighboursPerSecond = 5e8;
constexpr double kEntriesPerSecond = 1e9;
// Iterations until Katz and PPR have converged at their defaults.
constexpr double kIterations = 45;

// Held-out edges and their negatives, by the usual shares.
double scoredPairs(const Dataset& dataset, const RunOptions& options) {
  const auto edges = static_cast<double>(dataset.edges.size());
  double held_out = (dataset.bipartite ? 0.3 : 0.15) * edges;
  if (dataset.official) {
    held_out = static_cast<double>(dataset.official->valid.size() + dataset.official->test.size());
  } else if (options.split.valid >= 0 && options.split.test >= 0) {
    held_out = (options.split.valid + options.split.test) * edges;
  }
  const std::int64_t usual = dataset.bipartite || options.negatives.kind == "hard" ? 100 : 1;
  const std::int64_t asked = options.negatives.per_positive;
  return held_out * static_cast<double>(1 + (asked > 0 ? asked : usual));
}

}  // namespace

RunEstimate estimateHeuristicRun(const Dataset& dataset, const RunOptions& options) {
  const auto nodes = static_cast<double>(dataset.node_count);
  const auto edges = static_cast<double>(dataset.edges.size());
  const double pairs = scoredPairs(dataset, options);
  const double cores = threadCount();
  const Heuristic heuristic = parseHeuristic(options.model);
  const bool spectral =
      heuristic == Heuristic::kKatz || heuristic == Heuristic::kPersonalizedPageRank;
  const double mean_degree = 2 * edges / std::max(1.0, nodes);
  RunEstimate estimate;
  if (spectral) {
    // One column a distinct source, at most one a node, in each of the two stages.
    const double sources = std::min(pairs, 2 * nodes);
    const double iterations = options.heuristic.katz_length > 0 && heuristic == Heuristic::kKatz
                                  ? static_cast<double>(options.heuristic.katz_length)
                                  : kIterations;
    estimate.seconds = sources * 2 * edges * iterations / (kEntriesPerSecond * cores);
  } else {
    estimate.seconds = pairs * mean_degree / (kNeighboursPerSecond * cores);
  }
  // Dataset, split and graph hold each edge about six times at 8 bytes; pairs are held with their
  // score.
  constexpr double kBytesPerEdge = 48;
  constexpr double kBytesPerPair = 40;
  const double features = static_cast<double>(dataset.features.values().size_bytes() +
                                              dataset.features.columnIndices().size_bytes());
  const double columns = spectral ? nodes * 8 * 3 * 16 : nodes * 8 * cores;
  estimate.memory_bytes = static_cast<std::uint64_t>(edges * kBytesPerEdge + pairs * kBytesPerPair +
                                                     features + columns);
  return estimate;
}

}  // namespace edgewise
