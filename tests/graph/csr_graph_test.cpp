#include "edgewise/graph/csr_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "edgewise/util/parallel.h"
#include "edgewise/util/rng.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using testing::expectFailure;

std::vector<std::uint32_t> row(const CsrGraph& graph, std::uint32_t node) {
  std::vector<std::uint32_t> ids;
  for (const NodeId neighbour : graph.neighbours(NodeId{node})) {
    ids.push_back(index(neighbour));
  }
  return ids;
}

TEST(CsrGraph, EntersUndirectedEdgesAtBothEnds) {
  const std::vector<Edge> edges = {makeEdge(2, 0), makeEdge(0, 1), makeEdge(1, 0), makeEdge(3, 3)};
  const CsrGraph graph = CsrGraph::fromEdges(5, edges);
  EXPECT_THAT(row(graph, 0), ElementsAre(1, 2));
  EXPECT_THAT(row(graph, 1), ElementsAre(0));
  EXPECT_THAT(row(graph, 2), ElementsAre(0));
  EXPECT_THAT(row(graph, 3), ElementsAre(3));
  EXPECT_TRUE(row(graph, 4).empty());
  EXPECT_EQ(graph.entryCount(), 5U);
  EXPECT_TRUE(graph.hasEdge(NodeId{2}, NodeId{0}));
  EXPECT_FALSE(graph.hasEdge(NodeId{2}, NodeId{1}));
}

TEST(CsrGraph, KeepsDirectionsWhenAsked) {
  const std::vector<Edge> edges = {makeEdge(0, 1), makeEdge(0, 2), makeEdge(2, 1)};
  const CsrGraph graph = CsrGraph::fromEdges(3, edges, Direction::kDirected);
  EXPECT_THAT(row(graph, 0), ElementsAre(1, 2));
  EXPECT_TRUE(row(graph, 1).empty());
  const CsrGraph back = graph.transposed();
  EXPECT_THAT(row(back, 1), ElementsAre(0, 2));
  EXPECT_TRUE(row(back, 0).empty());
}

TEST(CsrGraph, AddsUpWeightsOfRepeats) {
  const std::vector<Edge> edges = {makeEdge(0, 1), makeEdge(0, 2), makeEdge(0, 1)};
  const std::vector<float> weights = {1.5F, 2.0F, 0.25F};
  const CsrGraph graph = CsrGraph::fromEdges(3, edges, Direction::kUndirected, weights);
  EXPECT_THAT(graph.weights(NodeId{0}), ElementsAre(1.75F, 2.0F));
  EXPECT_THAT(graph.weights(NodeId{1}), ElementsAre(1.75F));
}

TEST(CsrGraph, TransposeKeepsWeights) {
  const std::vector<Edge> edges = {makeEdge(1, 0), makeEdge(0, 2)};
  const std::vector<float> weights = {3.0F, 5.0F};
  const CsrGraph back = CsrGraph::fromEdges(3, edges, Direction::kDirected, weights).transposed();
  EXPECT_THAT(back.weights(NodeId{0}), ElementsAre(3.0F));
  EXPECT_THAT(back.weights(NodeId{2}), ElementsAre(5.0F));
}

TEST(CsrGraph, RefusesEndsOutsideAndLostWeights) {
  const std::vector<Edge> edges = {makeEdge(0, 7)};
  expectFailure<ShapeError>([&] { (void)CsrGraph::fromEdges(7, edges); }, "edge (0, 7)");
  expectFailure<ShapeError>(
      [&] {
        (void)CsrGraph::fromEdges(8, edges, Direction::kUndirected, std::vector<float>{1, 2});
      },
      "2 weights for 1 edges");
}

TEST(CsrGraph, TakesRowsThatAreReady) {
  const CsrGraph made = CsrGraph::fromEdges(3, std::vector<Edge>{makeEdge(0, 1), makeEdge(1, 2)});
  const CsrGraph taken =
      CsrGraph::fromRows({0, 1, 3, 4}, {NodeId{1}, NodeId{0}, NodeId{2}, NodeId{1}});
  EXPECT_THAT(taken.offsets(), ElementsAreArray(made.offsets()));
  EXPECT_THAT(taken.targets(), ElementsAreArray(made.targets()));
  EXPECT_EQ(CsrGraph::fromRows({0}, {}).nodeCount(), 0U);
}

TEST(CsrGraph, RefusesRowsThatAreNotRows) {
  const auto take = [](std::vector<std::uint64_t> offsets, std::vector<NodeId> neighbours) {
    return [=] { (void)CsrGraph::fromRows(offsets, neighbours); };
  };
  expectFailure<ShapeError>(take({}, {}), "offsets of 0 rows");
  expectFailure<ShapeError>(take({0, 1}, {}), "do not cut 0 entries");
  expectFailure<ShapeError>(take({0, 2, 1, 2}, {NodeId{0}, NodeId{1}}), "offsets of 3 rows");
  expectFailure<ShapeError>(take({0, 2, 2}, {NodeId{1}, NodeId{0}}), "row 0 of 2");
  expectFailure<ShapeError>(take({0, 0, 2}, {NodeId{1}, NodeId{1}}), "row 1 of 2");
  expectFailure<ShapeError>(take({0, 1}, {NodeId{1}}), "row 0 of 1");
}

TEST(CsrGraph, EmptyGraphsAreGraphs) {
  EXPECT_EQ(CsrGraph().nodeCount(), 0U);
  const CsrGraph lonely = CsrGraph::fromEdges(3, {});
  EXPECT_EQ(lonely.nodeCount(), 3U);
  EXPECT_EQ(lonely.degree(NodeId{2}), 0U);
}

TEST(CsrGraph, EqualsASetOfPairsOnRandomGraphsWithAnyThreadCount) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RngStream random(seed, "csr");
    const auto nodes = static_cast<std::uint32_t>(1 + random.below(3000));
    std::vector<Edge> edges;
    std::map<std::uint32_t, std::set<std::uint32_t>> expected;
    for (std::uint64_t i = 0; i < random.below(6000); ++i) {
      const auto u = static_cast<std::uint32_t>(random.below(nodes));
      const auto v = static_cast<std::uint32_t>(random.below(nodes));
      edges.push_back(makeEdge(u, v));
      expected[u].insert(v);
      expected[v].insert(u);
    }
    setThreadCount(static_cast<int>(1 + seed % 3));
    const CsrGraph graph = CsrGraph::fromEdges(nodes, edges);
    for (std::uint32_t node = 0; node < nodes; ++node) {
      EXPECT_EQ(row(graph, node),
                std::vector<std::uint32_t>(expected[node].begin(), expected[node].end()));
    }
  }
  setThreadCount(0);
}

}  // namespace
}  // namespace edgewise
