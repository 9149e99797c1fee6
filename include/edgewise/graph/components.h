// Which nodes hang together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "edgewise/graph/csr_graph.h"

namespace edgewise {

// `labels` has one entry a node, 0..count-1, numbered by the smallest node of each component;
// `sizes` has one entry a component. A graph without nodes has no components.
struct Components {
  std::size_t count = 0;
  std::vector<std::uint32_t> labels;
  std::vector<std::size_t> sizes;
};

// Directions of edges are ignored.
[[nodiscard]] Components connectedComponents(const CsrGraph& graph);

// Nodes that reach one another along edges; the same as above for an undirected graph.
[[nodiscard]] Components stronglyConnectedComponents(const CsrGraph& graph);

}  // namespace edgewise
