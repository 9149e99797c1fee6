// How recent edges are among those they are listed with.
#pragma once

#include <cstddef>
#include <vector>

#include "edgewise/data/edge_table.h"

namespace edgewise {

// Which edges are listed together: all of them, or those of each source.
struct EdgeLists {
  std::size_t node_count = 0;
  bool by_source = false;
};

// Whether the table tells times or places; not for an empty one.
[[nodiscard]] bool knowsAges(const EdgeTable& table);

// The share of its list that came later than each edge, half of those that came at the same time
// and of the edge itself included: 1/(2n) for the latest of n, 1 - 1/(2n) for the first. By time,
// else by place; empty where neither is known.
[[nodiscard]] std::vector<double> edgeAges(const EdgeTable& table, EdgeLists lists);

}  // namespace edgewise
