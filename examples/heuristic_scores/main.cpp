// A graph made by hand, and how much its unlinked pairs have in common. Shows what a program needs
// to use edgewise as a library: find_package(edgewise), edgewise::edgewise, and the headers of the
// layers it touches.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <string_view>
#include <vector>

#include "edgewise/graph/csr_graph.h"
#include "edgewise/util/rng.h"
#include "edgewise/util/version.h"

namespace {

using edgewise::NodeId;

std::size_t commonNeighbours(const edgewise::CsrGraph& graph, NodeId one, NodeId other) {
  std::vector<NodeId> shared;
  std::ranges::set_intersection(graph.neighbours(one), graph.neighbours(other),
                                std::back_inserter(shared));
  return shared.size();
}

}  // namespace

int main() {
  constexpr std::string_view kNames = "abcde";
  // a - b, a - c, b - d, c - d, d - e: a square with a tail.
  const std::array edges = {edgewise::makeEdge(0, 1), edgewise::makeEdge(0, 2),
                            edgewise::makeEdge(1, 3), edgewise::makeEdge(2, 3),
                            edgewise::makeEdge(3, 4)};
  const edgewise::CsrGraph graph = edgewise::CsrGraph::fromEdges(kNames.size(), edges);

  std::printf("edgewise %.*s\n", static_cast<int>(edgewise::version().size()),
              edgewise::version().data());
  for (std::uint32_t src = 0; src < graph.nodeCount(); ++src) {
    for (std::uint32_t dst = src + 1; dst < graph.nodeCount(); ++dst) {
      if (!graph.hasEdge(NodeId{src}, NodeId{dst})) {
        std::printf("%c and %c: %zu common neighbours\n", kNames[src], kNames[dst],
                    commonNeighbours(graph, NodeId{src}, NodeId{dst}));
      }
    }
  }

  edgewise::RngStream rng(7, "example");
  std::printf("a random node: %c\n", kNames[rng.below(kNames.size())]);
  return 0;
}
