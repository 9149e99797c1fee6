#include "edgewise/graph/spectral.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "support/random_graphs.h"

namespace edgewise {
namespace {

void expectRadius(const CsrGraph& graph, double radius) {
  const SpectralRadiusBounds bounds = spectralRadiusBounds(graph);
  EXPECT_LE(bounds.lower, radius);
  EXPECT_GE(bounds.upper, radius);
  EXPECT_LE(bounds.upper - bounds.lower, 1e-4 * bounds.upper);
}

TEST(SpectralRadius, IsBoundedTightlyOnGraphsWithKnownRadius) {
  expectRadius(
      CsrGraph::fromEdges(3, std::vector<Edge>{makeEdge(0, 1), makeEdge(1, 2), makeEdge(0, 2)}),
      2.0);
  std::vector<Edge> star;
  for (std::uint32_t leaf = 1; leaf <= 1000; ++leaf) {
    star.push_back(makeEdge(0, leaf));
  }
  expectRadius(CsrGraph::fromEdges(1001, star), std::sqrt(1000.0));
  std::vector<Edge> path;
  path.reserve(19);
  for (std::uint32_t node = 0; node < 19; ++node) {
    path.push_back(makeEdge(node, node + 1));
  }
  expectRadius(CsrGraph::fromEdges(20, path), 2.0 * std::cos(std::numbers::pi / 21.0));
}

TEST(SpectralRadius, IsThatOfTheStrongestPart) {
  // A triangle, a lone edge and an isolated node.
  expectRadius(CsrGraph::fromEdges(6, std::vector<Edge>{makeEdge(0, 1), makeEdge(3, 4),
                                                        makeEdge(4, 5), makeEdge(3, 5)}),
               2.0);
}

TEST(SpectralRadius, OfDirectedGraphsComesFromTheirCycles) {
  const std::vector<Edge> cycle_with_tail = {makeEdge(0, 1), makeEdge(1, 2), makeEdge(2, 0),
                                             makeEdge(2, 3), makeEdge(3, 4)};
  expectRadius(CsrGraph::fromEdges(5, cycle_with_tail, Direction::kDirected), 1.0);
  const CsrGraph acyclic = CsrGraph::fromEdges(
      3, std::vector<Edge>{makeEdge(0, 1), makeEdge(0, 2), makeEdge(1, 2)}, Direction::kDirected);
  EXPECT_EQ(spectralRadiusBounds(acyclic).upper, 0.0);
}

TEST(SpectralRadius, IsNothingWithoutEdges) {
  EXPECT_EQ(spectralRadiusBounds(CsrGraph()).upper, 0.0);
  EXPECT_EQ(spectralRadiusBounds(CsrGraph::fromEdges(4, {})).upper, 0.0);
}

TEST(SpectralRadius, BoundsHoldAfterEveryNumberOfSteps) {
  const CsrGraph graph = testing::randomGraph(200, 700, 5);
  const SpectralRadiusBounds tight = spectralRadiusBounds(graph, {1e-8, 5000});
  for (int steps = 1; steps < 30; ++steps) {
    const SpectralRadiusBounds bounds = spectralRadiusBounds(graph, {0.0, steps});
    EXPECT_LE(bounds.lower, tight.upper);
    EXPECT_GE(bounds.upper, tight.lower);
  }
}

}  // namespace
}  // namespace edgewise
