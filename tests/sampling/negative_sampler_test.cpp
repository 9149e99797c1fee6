#include "edgewise/sampling/negative_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "edgewise/util/parallel.h"
#include "support/random_graphs.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using ::testing::HasSubstr;

const CounterRng kRng(7, "negatives");

std::vector<Edge> completeEdges(std::uint32_t nodes) {
  std::vector<Edge> edges;
  for (std::uint32_t u = 0; u < nodes; ++u) {
    for (std::uint32_t v = u + 1; v < nodes; ++v) {
      edges.push_back(makeEdge(u, v));
    }
  }
  return edges;
}

void expectNonEdges(const std::vector<Edge>& pairs, const PairSpace& space, const EdgeSet& known,
                    std::size_t count) {
  EXPECT_EQ(pairs.size(), count);
  EXPECT_EQ(std::set<Edge>(pairs.begin(), pairs.end()).size(), count);
  for (const Edge& pair : pairs) {
    EXPECT_TRUE(space.contains(pair));
    EXPECT_FALSE(known.contains(pair));
  }
}

// Pearson's statistic for equal expectations.
double chiSquare(const std::map<Edge, std::size_t>& counts, std::size_t cells, double expected) {
  double sum = static_cast<double>(cells - counts.size()) * expected;
  for (const auto& [pair, count] : counts) {
    const double difference = static_cast<double>(count) - expected;
    sum += difference * difference / expected;
  }
  return sum;
}

TEST(NegativeKinds, HaveNamesThatParseBack) {
  for (const NegativeKind kind :
       {NegativeKind::kUniform, NegativeKind::kDegree, NegativeKind::kHard}) {
    EXPECT_EQ(parseNegativeKind(negativeKindName(kind)), kind);
  }
  testing::expectFailure<ConfigError>([] { (void)parseNegativeKind("unifrom"); }, "unifrom");
}

TEST(PairSpace, CountsThePairsOfEachKindOfGraph) {
  EXPECT_EQ((PairSpace{.node_count = 5}).pairCount(), 10U);
  EXPECT_EQ((PairSpace{.node_count = 5, .direction = Direction::kDirected}).pairCount(), 20U);
  EXPECT_EQ((PairSpace{.node_count = 5, .users = 2}).pairCount(), 6U);
  EXPECT_EQ((PairSpace{.node_count = 0}).pairCount(), 0U);
  EXPECT_EQ((PairSpace{.node_count = 1}).pairCount(), 0U);
  EXPECT_EQ((PairSpace{.node_count = 4'000'000'000}).pairCount(), 7'999'999'998'000'000'000U);
}

TEST(NegativeSampler, NeverReturnsAKnownEdge) {
  for (const Direction direction : {Direction::kUndirected, Direction::kDirected}) {
    for (const NegativeKind kind : {NegativeKind::kUniform, NegativeKind::kDegree}) {
      const std::vector<Edge> edges = testing::randomPairs(100, 1500, 5);
      const EdgeSet known = EdgeSet::fromEdges(edges, direction);
      const CsrGraph graph = CsrGraph::fromEdges(100, edges, direction);
      const PairSpace space{.node_count = 100, .direction = direction};
      const NegativeSampler sampler(space, known, {.kind = kind}, &graph);
      expectNonEdges(sampler.sample(1200, kRng), space, known, 1200);
    }
  }
}

TEST(NegativeSampler, DependsOnSeedAloneAndExtendsItself) {
  const EdgeSet known = EdgeSet::fromEdges(testing::randomPairs(300, 2000, 5));
  const PairSpace space{.node_count = 300};
  const std::vector<Edge> drawn = uniformNonEdges(2000, space, known, kRng);
  EXPECT_EQ(uniformNonEdges(2000, space, known, CounterRng(7, "negatives")), drawn);
  EXPECT_NE(uniformNonEdges(2000, space, known, CounterRng(8, "negatives")), drawn);
  const std::vector<Edge> fewer = uniformNonEdges(700, space, known, kRng);
  EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), drawn.begin()));
}

TEST(NegativeSampler, DoesNotDependOnThreads) {
  const int before = threadCount();
  const CsrGraph graph = testing::randomGraph(2000, 9000, 5);
  const std::vector<Edge> edges = testing::randomPairs(2000, 9000, 5);
  const EdgeSet known = EdgeSet::fromEdges(edges);
  const PairSpace space{.node_count = 2000};
  for (const NegativeKind kind : {NegativeKind::kUniform, NegativeKind::kDegree}) {
    const NegativeSampler sampler(space, known, {.kind = kind}, &graph);
    setThreadCount(1);
    const std::vector<Edge> alone = sampler.sample(20'000, kRng);
    const std::vector<NodeId> targets = corruptTargets(edges, 3, space, known, kRng);
    setThreadCount(4);
    EXPECT_EQ(sampler.sample(20'000, kRng), alone);
    EXPECT_EQ(corruptTargets(edges, 3, space, known, kRng), targets);
  }
  setThreadCount(before);
}

TEST(NegativeSampler, DrawsEveryNonEdgeAlike) {
  for (const Direction direction : {Direction::kUndirected, Direction::kDirected}) {
    const EdgeSet known = EdgeSet::fromEdges(testing::randomPairs(12, 15, 2), direction);
    const PairSpace space{.node_count = 12, .direction = direction};
    const NegativeSampler sampler(space, known, {.distinct = false});
    const auto cells = static_cast<std::size_t>(sampler.available());
    const std::size_t draws = 400 * cells;
    std::map<Edge, std::size_t> counts;
    for (const Edge& pair : sampler.sample(draws, kRng)) {
      ++counts[pair];
    }
    // Five standard deviations above the mean of the chi-square distribution.
    const auto freedom = static_cast<double>(cells - 1);
    EXPECT_LT(chiSquare(counts, cells, 400.0), freedom + 5.0 * std::sqrt(2.0 * freedom));
  }
}

TEST(NegativeSampler, DrawsEveryNonEdgeAlikeFromAList) {
  // Half of the non-edges and more are taken from a list; over many seeds each is in as often.
  const EdgeSet known = EdgeSet::fromEdges(testing::randomPairs(12, 15, 2));
  const PairSpace space{.node_count = 12};
  const NegativeSampler sampler(space, known);
  const auto cells = static_cast<std::size_t>(sampler.available());
  std::map<Edge, std::size_t> counts;
  constexpr std::size_t kRounds = 2000;
  for (std::size_t seed = 0; seed < kRounds; ++seed) {
    for (const Edge& pair : sampler.sample(cells - 10, CounterRng(seed, "list"))) {
      ++counts[pair];
    }
  }
  const double share = static_cast<double>(cells - 10) / static_cast<double>(cells);
  const double deviation = std::sqrt(kRounds * share * (1.0 - share));
  for (const auto& [pair, count] : counts) {
    EXPECT_NEAR(static_cast<double>(count), kRounds * share, 5.0 * deviation);
  }
}

TEST(NegativeSampler, FollowsDegrees) {
  // Node i has degree 40, 20 or 10 by thirds, built between two halves that do not mix, so that
  // pairs across them are all free.
  std::vector<Edge> edges;
  const auto link = [&](std::uint32_t node, std::uint32_t degree) {
    for (std::uint32_t i = 0; i < degree; ++i) {
      edges.push_back(makeEdge(node, 100 + (node * 7 + i * 3) % 300));
    }
  };
  for (std::uint32_t node = 0; node < 60; ++node) {
    link(node, node < 20 ? 40 : (node < 40 ? 20 : 10));
  }
  const CsrGraph graph = CsrGraph::fromEdges(400, edges);
  const EdgeSet nothing;
  const PairSpace space{.node_count = 400};
  for (const double power : {0.0, 0.75, 1.0}) {
    const NegativeSampler sampler(
        space, nothing, {.kind = NegativeKind::kDegree, .degree_power = power, .distinct = false},
        &graph);
    double total = 0.0;
    for (std::uint32_t node = 0; node < 400; ++node) {
      total += std::pow(static_cast<double>(graph.degree(NodeId{node})), power);
    }
    std::vector<double> ends(400, 0.0);
    constexpr std::size_t kDraws = 400'000;
    for (const Edge& pair : sampler.sample(kDraws, kRng)) {
      ends[index(pair.src)] += 1.0;
      ends[index(pair.dst)] += 1.0;
    }
    for (const std::uint32_t node : {0U, 25U, 59U}) {
      const double weight = std::pow(static_cast<double>(graph.degree(NodeId{node})), power);
      const double expected = 2.0 * kDraws * weight / total;
      // Leaving out self-pairs shifts it by about the node's own share.
      EXPECT_NEAR(ends[node], expected, 5.0 * std::sqrt(expected) + 0.02 * expected);
    }
    EXPECT_EQ(ends[99] > 0.0, power == 0.0) << "node 99 has no edges";
  }
}

TEST(NegativeSampler, FindsTheLastNonEdges) {
  std::vector<Edge> edges = completeEdges(60);
  const Edge left_out = edges[123];
  edges.erase(edges.begin() + 123);
  const EdgeSet known = EdgeSet::fromEdges(edges);
  const CsrGraph graph = CsrGraph::fromEdges(60, edges);
  const PairSpace space{.node_count = 60};
  EXPECT_EQ(uniformNonEdges(1, space, known, kRng), std::vector<Edge>{left_out});
  const NegativeSampler by_degree(space, known, {.kind = NegativeKind::kDegree}, &graph);
  EXPECT_EQ(by_degree.sample(1, kRng), std::vector<Edge>{left_out});
  const NegativeSampler again(space, known, {.distinct = false});
  EXPECT_EQ(again.sample(3, kRng), std::vector<Edge>(3, left_out));
}

TEST(NegativeSampler, ReturnsAllNonEdgesWhenAskedForAll) {
  const std::vector<Edge> edges = testing::randomPairs(40, 300, 9);
  const EdgeSet known = EdgeSet::fromEdges(edges);
  const CsrGraph graph = CsrGraph::fromEdges(40, edges);
  const PairSpace space{.node_count = 40};
  for (const NegativeKind kind : {NegativeKind::kUniform, NegativeKind::kDegree}) {
    const NegativeSampler sampler(space, known, {.kind = kind}, &graph);
    EXPECT_EQ(sampler.available(), space.pairCount() - known.size());
    const auto all = static_cast<std::size_t>(sampler.available());
    expectNonEdges(sampler.sample(all, kRng), space, known, all);
    testing::expectFailure<DataError>([&] { (void)sampler.sample(all + 1, kRng); },
                                      std::to_string(all));
  }
}

TEST(NegativeSampler, SaysWhenACompleteGraphHasNone) {
  const EdgeSet known = EdgeSet::fromEdges(completeEdges(10));
  const PairSpace space{.node_count = 10};
  testing::expectFailure<DataError>([&] { (void)uniformNonEdges(1, space, known, kRng); },
                                    "only 0");
  EXPECT_TRUE(uniformNonEdges(0, space, known, kRng).empty());
  const EdgeSet nothing;
  testing::expectFailure<DataError>(
      [&] { (void)uniformNonEdges(1, PairSpace{.node_count = 1}, nothing, kRng); }, "only 0");
}

TEST(NegativeSampler, RespectsTheSidesOfBipartiteGraphs) {
  const std::vector<Edge> edges = {makeEdge(0, 3), makeEdge(1, 4), makeEdge(2, 6), makeEdge(0, 5),
                                   makeEdge(2, 3)};
  const EdgeSet known = EdgeSet::fromEdges(edges);
  const CsrGraph graph = CsrGraph::fromEdges(7, edges);
  const PairSpace space{.node_count = 7, .users = 3};
  const NegativeSampler sampler(space, known);
  EXPECT_EQ(sampler.available(), 7U);
  expectNonEdges(sampler.sample(7, kRng), space, known, 7);
  expectNonEdges(sampler.sample(2, kRng), space, known, 2);
  const NegativeSampler by_degree(space, known, {.kind = NegativeKind::kDegree}, &graph);
  expectNonEdges(by_degree.sample(7, kRng), space, known, 7);
}

TEST(NegativeSampler, IgnoresKnownEdgesOutsideTheSpace) {
  // A self-pair, and a pair of users.
  const EdgeSet known = EdgeSet::fromEdges(std::vector<Edge>{makeEdge(1, 1), makeEdge(0, 1)});
  EXPECT_EQ(NegativeSampler({.node_count = 4}, known).available(), 5U);
  EXPECT_EQ(NegativeSampler({.node_count = 4, .users = 2}, known).available(), 4U);
}

TEST(NegativeSampler, RefusesWhatCannotWork) {
  const EdgeSet known;
  const PairSpace space{.node_count = 4};
  const CsrGraph graph = testing::randomGraph(4, 3, 1);
  const auto make = [&](const NegativeOptions& options, const CsrGraph* messages) {
    return [=, &known] { const NegativeSampler sampler(space, known, options, messages); };
  };
  testing::expectFailure<ConfigError>(make({.kind = NegativeKind::kHard}, &graph), "hard");
  testing::expectFailure<ShapeError>(make({.kind = NegativeKind::kDegree}, nullptr), "graph");
  testing::expectFailure<ConfigError>(
      make({.kind = NegativeKind::kDegree, .degree_power = -1.0}, &graph), "-1");
  testing::expectFailure<ShapeError>(
      [&] {
        const NegativeSampler sampler({.node_count = 4, .direction = Direction::kDirected}, known);
      },
      "directed");
}

TEST(CorruptTargets, GivesDistinctUnknownPartners) {
  for (const Direction direction : {Direction::kUndirected, Direction::kDirected}) {
    const std::vector<Edge> edges = testing::randomPairs(80, 900, 4);
    const EdgeSet known = EdgeSet::fromEdges(edges, direction);
    const PairSpace space{.node_count = 80, .direction = direction};
    constexpr std::size_t kEach = 30;
    const std::vector<NodeId> targets = corruptTargets(edges, kEach, space, known, kRng);
    ASSERT_EQ(targets.size(), edges.size() * kEach);
    for (std::size_t i = 0; i < edges.size(); ++i) {
      std::set<NodeId> distinct;
      for (std::size_t j = 0; j < kEach; ++j) {
        const NodeId target = targets[i * kEach + j];
        distinct.insert(target);
        EXPECT_NE(target, edges[i].src);
        EXPECT_NE(target, edges[i].dst);
        EXPECT_FALSE(known.contains({edges[i].src, target}));
      }
      EXPECT_EQ(distinct.size(), kEach);
    }
  }
}

TEST(CorruptTargets, TakesItemsForUsers) {
  const std::vector<Edge> edges = {makeEdge(0, 3), makeEdge(1, 4)};
  const EdgeSet known = EdgeSet::fromEdges(edges);
  const PairSpace space{.node_count = 8, .users = 3};
  const std::vector<NodeId> targets = corruptTargets(edges, 4, space, known, kRng);
  EXPECT_THAT(std::vector<NodeId>(targets.begin(), targets.begin() + 4),
              ::testing::UnorderedElementsAre(NodeId{4}, NodeId{5}, NodeId{6}, NodeId{7}));
  testing::expectFailure<ShapeError>(
      [&] { (void)corruptTargets(std::vector<Edge>{makeEdge(5, 6)}, 1, space, known, kRng); },
      "(5, 6)");
}

TEST(CorruptTargets, NamesANodeWithTooFewPartners) {
  const EdgeSet known = EdgeSet::fromEdges(
      std::vector<Edge>{makeEdge(2, 0), makeEdge(2, 1), makeEdge(2, 3), makeEdge(0, 1)});
  const PairSpace space{.node_count = 6};
  const std::vector<Edge> positives = {makeEdge(0, 1), makeEdge(2, 3)};
  EXPECT_EQ(corruptTargets(positives, 2, space, known, kRng).size(), 4U);
  testing::expectFailure<DataError>([&] { (void)corruptTargets(positives, 3, space, known, kRng); },
                                    "node 2 has only 2");
  testing::expectFailure<DataError>([&] { (void)corruptTargets(positives, 7, space, known, kRng); },
                                    "among 6 nodes");
}

TEST(CorruptTargets, DrawsEveryPartnerAlike) {
  const EdgeSet known = EdgeSet::fromEdges(std::vector<Edge>{makeEdge(0, 1), makeEdge(0, 2)});
  const PairSpace space{.node_count = 23};
  const std::vector<Edge> positives(8000, makeEdge(0, 1));
  // One draw is made blindly; fifteen of the twenty left need a list now and then.
  for (const std::size_t each : {1U, 15U}) {
    std::map<Edge, std::size_t> counts;
    for (const NodeId target : corruptTargets(positives, each, space, known, kRng)) {
      ++counts[{NodeId{0}, target}];
    }
    const double share = static_cast<double>(each) / 20.0;
    EXPECT_LT(chiSquare(counts, 20, 8000.0 * share), 19.0 + 5.0 * std::sqrt(38.0));
  }
}

}  // namespace
}  // namespace edgewise
