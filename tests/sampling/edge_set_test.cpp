#include "edgewise/sampling/edge_set.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "support/random_graphs.h"

namespace edgewise {
namespace {

TEST(EdgeSet, KnowsUndirectedEdgesInBothOrders) {
  const EdgeSet set = EdgeSet::fromEdges(std::vector<Edge>{makeEdge(2, 1), makeEdge(1, 2)});
  EXPECT_EQ(set.size(), 1U);
  EXPECT_TRUE(set.contains(makeEdge(1, 2)));
  EXPECT_TRUE(set.contains(makeEdge(2, 1)));
  EXPECT_FALSE(set.contains(makeEdge(1, 1)));
}

TEST(EdgeSet, KeepsTheOrderOfDirectedEdges) {
  EdgeSet set(Direction::kDirected);
  EXPECT_TRUE(set.empty());
  EXPECT_FALSE(set.contains(makeEdge(0, 0)));
  EXPECT_TRUE(set.insert(makeEdge(2, 1)));
  EXPECT_FALSE(set.insert(makeEdge(2, 1)));
  EXPECT_TRUE(set.contains(makeEdge(2, 1)));
  EXPECT_FALSE(set.contains(makeEdge(1, 2)));
}

TEST(EdgeSet, HoldsTheLargestIds) {
  const auto largest = static_cast<std::uint32_t>(kMaxNodes - 1);
  EdgeSet set;
  EXPECT_TRUE(set.insert(makeEdge(largest, largest - 1)));
  EXPECT_TRUE(set.insert(makeEdge(0, 0)));
  EXPECT_TRUE(set.contains(makeEdge(largest - 1, largest)));
  EXPECT_TRUE(set.contains(makeEdge(0, 0)));
  EXPECT_EQ(set.size(), 2U);
}

TEST(EdgeSet, AgreesWithAnOrderedSet) {
  for (const Direction direction : {Direction::kUndirected, Direction::kDirected}) {
    const std::vector<Edge> edges = testing::randomPairs(60, 1500, 3);
    std::set<Edge> reference;
    EdgeSet grown(direction);
    for (const Edge& edge : edges) {
      const Edge key = direction == Direction::kUndirected ? canonical(edge) : edge;
      EXPECT_EQ(grown.insert(edge), reference.insert(key).second);
    }
    const EdgeSet built = EdgeSet::fromEdges(edges, direction);
    EXPECT_EQ(built.size(), reference.size());
    EXPECT_EQ(grown.size(), reference.size());
    for (std::uint32_t u = 0; u < 60; ++u) {
      for (std::uint32_t v = 0; v < 60; ++v) {
        const Edge edge = makeEdge(u, v);
        const Edge key = direction == Direction::kUndirected ? canonical(edge) : edge;
        EXPECT_EQ(built.contains(edge), reference.contains(key));
        EXPECT_EQ(grown.contains(edge), reference.contains(key));
      }
    }
    std::set<Edge> visited;
    built.forEach([&](Edge edge) { visited.insert(edge); });
    EXPECT_EQ(visited, reference);
  }
}

}  // namespace
}  // namespace edgewise
