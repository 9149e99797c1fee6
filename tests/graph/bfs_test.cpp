#include "edgewise/graph/bfs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "support/random_graphs.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using ::testing::ElementsAre;

// 0 - 1 - 2 - 3 - 4, with a shortcut 1 - 3; 5 alone.
CsrGraph pathWithShortcut() {
  return CsrGraph::fromEdges(6, std::vector<Edge>{makeEdge(0, 1), makeEdge(1, 2), makeEdge(2, 3),
                                                  makeEdge(3, 4), makeEdge(1, 3)});
}

// Relaxes every edge until nothing changes: slow and simple.
std::vector<std::uint32_t> relaxedDistances(const CsrGraph& graph, NodeId source,
                                            std::uint32_t max_depth) {
  std::vector<std::uint32_t> distances(graph.nodeCount(), kUnreached);
  distances[index(source)] = 0;
  for (std::size_t round = 0; round < graph.nodeCount(); ++round) {
    for (std::uint32_t node = 0; node < graph.nodeCount(); ++node) {
      for (const NodeId next : graph.neighbours(NodeId{node})) {
        if (distances[node] < max_depth) {
          distances[index(next)] = std::min(distances[index(next)], distances[node] + 1);
        }
      }
    }
  }
  return distances;
}

TEST(Bfs, FindsHandWorkedDistances) {
  const CsrGraph graph = pathWithShortcut();
  EXPECT_THAT(bfsDistances(graph, NodeId{0}), ElementsAre(0, 1, 2, 2, 3, kUnreached));
  EXPECT_THAT(bfsDistances(graph, NodeId{5}),
              ElementsAre(kUnreached, kUnreached, kUnreached, kUnreached, kUnreached, 0));
}

TEST(Bfs, StopsAtTheDepthAskedFor) {
  EXPECT_THAT(bfsDistances(pathWithShortcut(), NodeId{0}, {.max_depth = 2, .without_edge = {}}),
              ElementsAre(0, 1, 2, 2, kUnreached, kUnreached));
}

TEST(Bfs, DoesNotCrossTheEdgeLeftOut) {
  const CsrGraph graph = pathWithShortcut();
  BfsOptions options;
  options.without_edge = makeEdge(3, 1);
  EXPECT_THAT(bfsDistances(graph, NodeId{0}, options), ElementsAre(0, 1, 2, 3, 4, kUnreached));
}

TEST(Bfs, LeavesTheOppositeDirectedEdgeOpen) {
  const CsrGraph graph = CsrGraph::fromEdges(2, std::vector<Edge>{makeEdge(0, 1), makeEdge(1, 0)},
                                             Direction::kDirected);
  BfsOptions options;
  options.without_edge = makeEdge(1, 0);
  EXPECT_THAT(bfsDistances(graph, NodeId{0}, options), ElementsAre(0, 1));
  EXPECT_THAT(bfsDistances(graph, NodeId{1}, options), ElementsAre(kUnreached, 0));
}

TEST(Bfs, OrdersABallByDistanceThenDiscovery) {
  const CsrGraph graph = pathWithShortcut();
  EXPECT_THAT(hopBall(graph, NodeId{3}, 0), ElementsAre(NodeId{3}));
  EXPECT_THAT(hopBall(graph, NodeId{3}, 1),
              ElementsAre(NodeId{3}, NodeId{1}, NodeId{2}, NodeId{4}));
  EXPECT_THAT(hopBall(graph, NodeId{3}, 9),
              ElementsAre(NodeId{3}, NodeId{1}, NodeId{2}, NodeId{4}, NodeId{0}));
}

TEST(Bfs, FollowsDirectedEdgesForward) {
  const CsrGraph graph = CsrGraph::fromEdges(3, std::vector<Edge>{makeEdge(0, 1), makeEdge(1, 2)},
                                             Direction::kDirected);
  EXPECT_THAT(bfsDistances(graph, NodeId{0}), ElementsAre(0, 1, 2));
  EXPECT_THAT(bfsDistances(graph, NodeId{2}), ElementsAre(kUnreached, kUnreached, 0));
}

TEST(Bfs, ReusedWorkspaceAgreesWithRelaxation) {
  for (const Direction direction : {Direction::kUndirected, Direction::kDirected}) {
    const CsrGraph graph = testing::randomGraph(40, 60, 3, direction);
    BfsWorkspace workspace(graph.nodeCount());
    for (std::uint32_t source = 0; source < graph.nodeCount(); ++source) {
      const std::uint32_t depth = source % 5;
      const auto reached =
          workspace.search(graph, NodeId{source}, {.max_depth = depth, .without_edge = {}});
      const auto expected = relaxedDistances(graph, NodeId{source}, depth);
      for (std::uint32_t node = 0; node < graph.nodeCount(); ++node) {
        EXPECT_EQ(workspace.distance(NodeId{node}), expected[node]);
      }
      EXPECT_EQ(reached.size(), static_cast<std::size_t>(std::ranges::count_if(
                                    expected, [](auto d) { return d != kUnreached; })));
      EXPECT_TRUE(std::ranges::is_sorted(reached, {},
                                         [&](NodeId node) { return workspace.distance(node); }));
    }
  }
}

// A wheel's spokes are thinned out to the even ones; the odd ones stay lost, though the rim leads
// to them.
TEST(Bfs, DoesNotComeBackToWhatAHopGaveUp) {
  std::vector<Edge> edges;
  for (std::uint32_t node = 1; node <= 6; ++node) {
    edges.push_back(makeEdge(0, node));
    edges.push_back(makeEdge(node, node % 6 + 1));
  }
  edges.push_back(makeEdge(2, 7));
  edges.push_back(makeEdge(3, 8));
  const CsrGraph graph = CsrGraph::fromEdges(9, edges);
  BfsWorkspace workspace(9);
  const auto even_first = [](std::span<NodeId> hop) {
    const auto odd = [](NodeId node) { return index(node) % 2 == 1 && index(node) != 7; };
    std::ranges::sort(hop, {}, [&](NodeId node) { return std::pair(odd(node), node); });
    return hop.size() - static_cast<std::size_t>(std::ranges::count_if(hop, odd));
  };
  EXPECT_THAT(workspace.search(graph, NodeId{0}, {.without_edge = {}, .thin_hop = even_first}),
              ElementsAre(NodeId{0}, NodeId{2}, NodeId{4}, NodeId{6}, NodeId{7}));
  EXPECT_EQ(workspace.distance(NodeId{7}), 2U);
  EXPECT_EQ(workspace.distance(NodeId{3}), kUnreached);
  EXPECT_EQ(workspace.search(graph, NodeId{0}).size(), 9U);
}

TEST(Bfs, RefusesNodesAndGraphsThatDoNotFit) {
  BfsWorkspace workspace(3);
  const CsrGraph graph = testing::randomGraph(4, 4, 1);
  testing::expectFailure<ShapeError>([&] { workspace.search(graph, NodeId{0}); }, "3 nodes");
  testing::expectFailure<ShapeError>([&] { (void)bfsDistances(graph, NodeId{4}); }, "node 4");
}

}  // namespace
}  // namespace edgewise
