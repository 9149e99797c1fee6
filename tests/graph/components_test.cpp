#include "edgewise/graph/components.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "edgewise/graph/bfs.h"
#include "support/random_graphs.h"

namespace edgewise {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Components, NumbersPartsByTheirSmallestNode) {
  const CsrGraph graph =
      CsrGraph::fromEdges(6, std::vector<Edge>{makeEdge(5, 0), makeEdge(3, 1), makeEdge(1, 4)});
  const Components parts = connectedComponents(graph);
  EXPECT_EQ(parts.count, 3U);
  EXPECT_THAT(parts.labels, ElementsAre(0, 1, 2, 1, 1, 0));
  EXPECT_THAT(parts.sizes, ElementsAre(2, 3, 1));
}

TEST(Components, OfNothingAreNone) {
  EXPECT_EQ(connectedComponents(CsrGraph()).count, 0U);
  EXPECT_THAT(stronglyConnectedComponents(CsrGraph()).labels, IsEmpty());
}

TEST(Components, IgnoreDirectionsUnlessStrong) {
  // A cycle 0 -> 1 -> 2 -> 0 with a way out to 3.
  const CsrGraph graph = CsrGraph::fromEdges(
      4, std::vector<Edge>{makeEdge(0, 1), makeEdge(1, 2), makeEdge(2, 0), makeEdge(2, 3)},
      Direction::kDirected);
  EXPECT_EQ(connectedComponents(graph).count, 1U);
  EXPECT_THAT(stronglyConnectedComponents(graph).labels, ElementsAre(0, 0, 0, 1));
}

TEST(Components, StrongOnesAreThoseThatReachOneAnother) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const CsrGraph graph = testing::randomGraph(30, 40, seed, Direction::kDirected);
    const Components parts = stronglyConnectedComponents(graph);
    std::vector<std::vector<std::uint32_t>> distances;
    distances.reserve(graph.nodeCount());
    for (std::uint32_t node = 0; node < graph.nodeCount(); ++node) {
      distances.push_back(bfsDistances(graph, NodeId{node}));
    }
    for (std::uint32_t u = 0; u < graph.nodeCount(); ++u) {
      for (std::uint32_t v = 0; v < graph.nodeCount(); ++v) {
        const bool mutual = distances[u][v] != kUnreached && distances[v][u] != kUnreached;
        EXPECT_EQ(mutual, parts.labels[u] == parts.labels[v]);
      }
    }
  }
}

TEST(Components, StandLongPaths) {
  constexpr std::uint32_t kNodes = 200'000;
  std::vector<Edge> edges;
  for (std::uint32_t node = 0; node + 1 < kNodes; ++node) {
    edges.push_back(makeEdge(node, node + 1));
  }
  const CsrGraph path = CsrGraph::fromEdges(kNodes, edges, Direction::kDirected);
  EXPECT_EQ(stronglyConnectedComponents(path).count, kNodes);
  EXPECT_EQ(connectedComponents(path).count, 1U);
}

}  // namespace
}  // namespace edgewise
