// Pairs and views for tests of operations on views.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "edgewise/ops/view_pairs.h"
#include "support/random_graphs.h"

namespace edgewise::testing {

// All views of so many layers.
inline std::vector<LayerPair> viewsOf(std::uint32_t depth) {
  std::vector<LayerPair> views;
  for (std::uint32_t i = 0; i < depth; ++i) {
    for (std::uint32_t j = 0; j < depth; ++j) {
      views.push_back({i, j});
    }
  }
  return views;
}

// Repeated and turned pairs, one of a node with itself; the last of eleven nodes is in none.
inline std::vector<Edge> somePairs(std::size_t count) {
  std::vector<Edge> pairs = randomPairs(10, count, 7);
  pairs.push_back(pairs.front());
  pairs.push_back(reversed(pairs.front()));
  pairs.push_back(makeEdge(3, 3));
  return pairs;
}

}  // namespace edgewise::testing
