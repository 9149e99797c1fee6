// A loop over the nodes that pairs touch, for sums into rows of nodes.
#pragma once

#include <cstddef>

#include "edgewise/ops/pair_index.h"
#include "edgewise/util/parallel.h"

namespace edgewise::detail {

// Calls body(i) for every i of pairs.nodes(). A node belongs to one block, so no two threads write
// to the same row. `nanoseconds` as for parallelFor.
template <class Body>
void forEachNode(const PairIndex& pairs, const Body& body, double nanoseconds = kUnknownWork) {
  const auto blocks = pairs.blocks();
  parallelFor(
      blocks.size() - 1, 1,
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = blocks[begin]; i < blocks[end]; ++i) {
          body(i);
        }
      },
      nanoseconds);
}

}  // namespace edgewise::detail
