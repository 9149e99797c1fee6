// Small random graphs for property tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "edgewise/graph/csr_graph.h"
#include "edgewise/graph/types.h"
#include "edgewise/util/rng.h"

namespace edgewise::testing {

// `count` pairs of distinct nodes; repeats may occur.
inline std::vector<Edge> randomPairs(std::size_t nodes, std::size_t count, std::uint64_t seed) {
  RngStream rng(seed, "random pairs");
  std::vector<Edge> pairs;
  while (pairs.size() < count) {
    const Edge pair = makeEdge(static_cast<std::uint32_t>(rng.below(nodes)),
                               static_cast<std::uint32_t>(rng.below(nodes)));
    if (pair.src != pair.dst) {
      pairs.push_back(pair);
    }
  }
  return pairs;
}

inline CsrGraph randomGraph(std::size_t nodes, std::size_t edges, std::uint64_t seed,
                            Direction direction = Direction::kUndirected) {
  return CsrGraph::fromEdges(nodes, randomPairs(nodes, edges, seed), direction);
}

}  // namespace edgewise::testing
