#include "edgewise/sampling/enclosing_subgraph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "edgewise/util/error.h"
#include "edgewise/util/interrupt.h"
#include "edgewise/util/parallel.h"
#include "edgewise/util/rng.h"
#include "sampling/row_bits.h"
#include "sampling/subgraph_oracle.h"
#include "support/random_graphs.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using ::testing::ElementsAre;
using testing::expectFailure;
using ::testing::IsEmpty;
using testing::PlainSubgraph;
using testing::plainSubgraph;
using testing::SubgraphOracle;

constexpr NodeLabelling kLabellings[] = {NodeLabelling::kDrnl, NodeLabelling::kDistances,
                                         NodeLabelling::kZeroOne};

PlainSubgraph extractOne(const CsrGraph& graph, Edge pair, HopView view,
                         const ExtractionOptions& options = {}) {
  return plainSubgraph(SubgraphExtractor(graph, options).extract({&pair, 1}, view), 0);
}

std::vector<std::uint32_t> ids(std::span<const NodeId> nodes) {
  std::vector<std::uint32_t> numbers;
  for (const NodeId node : nodes) {
    numbers.push_back(index(node));
  }
  return numbers;
}

// A pair, a view and a graph around them, all small and at random.
struct RandomCase {
  explicit RandomCase(std::uint64_t seed) {
    RngStream random(seed, "subgraph case");
    const std::size_t nodes = 2 + random.below(11);
    graph = testing::randomGraph(nodes, random.below(3 * nodes), seed);
    pair = testing::randomPairs(nodes, 1, seed + 1'000'000).front();
    view = {static_cast<std::uint32_t>(random.below(4)),
            static_cast<std::uint32_t>(random.below(4))};
  }

  CsrGraph graph;
  Edge pair;
  HopView view;
};

void expectSameBits(const SubgraphBatch& got, const SubgraphBatch& want) {
  EXPECT_EQ(got.node_offsets, want.node_offsets);
  EXPECT_EQ(got.nodes, want.nodes);
  EXPECT_EQ(got.labels, want.labels);
  EXPECT_TRUE(std::ranges::equal(got.graph.offsets(), want.graph.offsets()));
  EXPECT_TRUE(std::ranges::equal(got.graph.targets(), want.graph.targets()));
}

std::vector<std::uint32_t> labelsIn(const nlohmann::json& golden) {
  return golden.is_array() ? golden.get<std::vector<std::uint32_t>>()
                           : std::vector<std::uint32_t>{golden.get<std::uint32_t>()};
}

PlainSubgraph goldenSubgraph(const nlohmann::json& golden, NodeLabelling labelling) {
  PlainSubgraph plain;
  plain.nodes = golden["subgraph_nodes"].get<testing::Ids>();
  plain.edges = golden["subgraph_edges"].get<testing::IdPairs>();
  for (const auto& [node, labels] : golden[std::string(labellingName(labelling))].items()) {
    plain.labels[static_cast<std::uint32_t>(std::stoul(node))] = labelsIn(labels);
  }
  return plain;
}

TEST(EnclosingSubgraph, AgreesWithGoldenValues) {
  std::ifstream file(testing::testFile("golden/enclosing_subgraphs.json"));
  const nlohmann::json cases = nlohmann::json::parse(file);
  ASSERT_FALSE(cases.empty());
  for (const auto& golden : cases) {
    std::vector<Edge> edges;
    for (const auto& edge : golden["edges"]) {
      edges.push_back(makeEdge(edge[0], edge[1]));
    }
    const CsrGraph graph = CsrGraph::fromEdges(golden["nodes"], edges);
    for (const NodeLabelling labelling : kLabellings) {
      EXPECT_EQ(extractOne(graph, makeEdge(golden["u"], golden["v"]), {golden["i"], golden["j"]},
                           {.labels = {.labelling = labelling}}),
                goldenSubgraph(golden, labelling));
    }
  }
}

// 0 and 1 are linked and share 2 and 3; 4 hangs on 2, 5 on 4, 6 on 1; 7 stands alone.
CsrGraph kiteWithTails() {
  return CsrGraph::fromEdges(
      8, std::vector<Edge>{makeEdge(0, 1), makeEdge(0, 2), makeEdge(0, 3), makeEdge(1, 2),
                           makeEdge(1, 3), makeEdge(2, 4), makeEdge(4, 5), makeEdge(1, 6)});
}

TEST(EnclosingSubgraph, IsRightOnAKiteWithTails) {
  const CsrGraph graph = kiteWithTails();
  const Edge pair = makeEdge(1, 0);
  const SubgraphBatch batch = SubgraphExtractor(graph).extract({&pair, 1}, {1, 2});
  // The ends, the other neighbours of 1, then what two hops from 0 add.
  EXPECT_THAT(ids(batch.nodesOf(0)), ElementsAre(1, 0, 2, 3, 6, 4));
  // 6 reaches 0 only through 1.
  EXPECT_THAT(batch.labelsOf(0), ElementsAre(1, 1, 2, 2, 0, 5));
  EXPECT_THAT(ids(batch.graph.neighbours(NodeId{0})), ElementsAre(2, 3, 4));
  EXPECT_THAT(ids(batch.graph.neighbours(NodeId{1})), ElementsAre(2, 3));
  EXPECT_THAT(ids(batch.graph.neighbours(NodeId{2})), ElementsAre(0, 1, 5));
}

TEST(EnclosingSubgraph, PutsSubgraphsSideBySide) {
  const CsrGraph graph = kiteWithTails();
  const std::vector<Edge> pairs = {makeEdge(0, 5), makeEdge(6, 7)};
  const SubgraphBatch batch = SubgraphExtractor(graph).extract(pairs, {1, 1});
  EXPECT_THAT(batch.node_offsets, ElementsAre(0, 6, 9));
  EXPECT_THAT(ids(batch.nodesOf(0)), ElementsAre(0, 5, 1, 2, 3, 4));
  EXPECT_THAT(ids(batch.nodesOf(1)), ElementsAre(6, 7, 1));
  EXPECT_EQ(batch.graph.nodeCount(), 9U);
  EXPECT_THAT(ids(batch.graph.neighbours(NodeId{6})), ElementsAre(8));
  EXPECT_THAT(ids(batch.graph.neighbours(NodeId{7})), IsEmpty());
  EXPECT_THAT(ids(batch.graph.neighbours(NodeId{8})), ElementsAre(6));
}

TEST(EnclosingSubgraph, OfIsolatedEndsIsTheTwoOfThem) {
  const CsrGraph alone = CsrGraph::fromEdges(3, {});
  const CsrGraph linked = CsrGraph::fromEdges(3, std::vector<Edge>{makeEdge(0, 2)});
  const Edge pair = makeEdge(2, 0);
  for (const CsrGraph* graph : {&alone, &linked}) {
    const SubgraphBatch batch = SubgraphExtractor(*graph).extract({&pair, 1}, {3, 3});
    EXPECT_THAT(ids(batch.nodes), ElementsAre(2, 0));
    EXPECT_THAT(batch.labels, ElementsAre(1, 1));
    EXPECT_EQ(batch.graph.entryCount(), 0U);
  }
}

TEST(EnclosingSubgraph, KeepsSelfLoops) {
  const CsrGraph graph = CsrGraph::fromEdges(
      3, std::vector<Edge>{makeEdge(0, 0), makeEdge(0, 1), makeEdge(1, 2), makeEdge(2, 2)});
  EXPECT_EQ(extractOne(graph, makeEdge(0, 1), {1, 1}).edges,
            (testing::IdPairs{{0, 0}, {1, 2}, {2, 2}}));
}

TEST(EnclosingSubgraph, FollowsItsDefinitionOnRandomGraphs) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const RandomCase tried(seed);
    const SubgraphOracle oracle(tried.graph, tried.pair);
    const NodeLabelling labelling = kLabellings[seed % 3];
    const LabelOptions options{.labelling = labelling,
                               .max_label = seed % 2 == 0 ? 1000U : 3U,
                               .max_distance = static_cast<std::uint32_t>(1 + seed % 4)};
    ASSERT_EQ(extractOne(tried.graph, tried.pair, tried.view, {.labels = options}),
              oracle.subgraph(tried.view, options))
        << "seed " << seed;
  }
}

// Nodes 2..n-1 all hang on node 0: rows far longer than the subgraph that is looked for in them.
TEST(EnclosingSubgraph, FindsEdgesOfHubsInSmallSubgraphs) {
  std::vector<Edge> edges = {makeEdge(1, 2), makeEdge(2, 3), makeEdge(1, 4)};
  for (std::uint32_t node = 2; node < 2000; ++node) {
    edges.push_back(makeEdge(0, node));
  }
  const CsrGraph graph = CsrGraph::fromEdges(2000, edges);
  const PlainSubgraph got = extractOne(graph, makeEdge(1, 0), {1, 0});
  EXPECT_EQ(got.edges, (testing::IdPairs{{0, 2}, {0, 4}, {1, 2}, {1, 4}}));
  const PlainSubgraph linked = extractOne(graph, makeEdge(2, 0), {1, 0});
  EXPECT_EQ(linked.edges, (testing::IdPairs{{0, 3}, {1, 2}, {2, 3}}));
}

// Rows long enough to be read as bits, nodes that are their own neighbours, and one extractor for
// subgraphs that are read so and, of two hops, those that are not.
TEST(EnclosingSubgraph, FollowsItsDefinitionOnCrowdedGraphs) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const std::size_t nodes = 256 + 77 * seed;
    std::vector<Edge> edges = testing::randomPairs(nodes, 30 * nodes, seed);
    for (std::uint32_t node = 0; node < nodes; node += 2) {
      edges.push_back(makeEdge(node, node));
    }
    const CsrGraph graph = CsrGraph::fromEdges(nodes, edges);
    ASSERT_NE(detail::RowBits::where(graph), nullptr);
    // Links, whose edges are hidden, and any others.
    std::vector<Edge> pairs(edges.begin(), edges.begin() + 3);
    const std::vector<Edge> others = testing::randomPairs(nodes, 2, seed + 100);
    pairs.insert(pairs.end(), others.begin(), others.end());
    std::vector<HopView> views;
    for (std::uint32_t i = 0; i < pairs.size(); ++i) {
      views.push_back({i % 3, 1});
    }
    const LabelOptions labels{.labelling = kLabellings[seed]};
    const SubgraphBatch batch = SubgraphExtractor(graph, {.labels = labels}).extract(pairs, views);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      ASSERT_EQ(plainSubgraph(batch, i), SubgraphOracle(graph, pairs[i]).subgraph(views[i], labels))
          << "seed " << seed << ", pair " << i;
    }
  }
}

TEST(EnclosingSubgraph, OfCrowdedGraphsHasTheSameBitsInAnyOrderAndForAnyThreads) {
  const CsrGraph graph = testing::randomGraph(400, 20'000, 5);
  ASSERT_NE(detail::RowBits::where(graph), nullptr);
  const std::vector<Edge> pairs = testing::randomPairs(400, 200, 6);
  const SubgraphExtractor extractor(graph, {.sampling = {.ratio = 0.2}});
  const SubgraphBatch want = extractor.extract(pairs, {1, 1});
  for (const int threads : {1, 2, 3}) {
    setThreadCount(threads);
    expectSameBits(extractor.extract(pairs, {1, 1}), want);
  }
  setThreadCount(0);
  for (std::size_t i = 0; i < pairs.size(); i += 17) {
    EXPECT_EQ(plainSubgraph(extractor.extract({&pairs[i], 1}, {1, 1}), 0), plainSubgraph(want, i));
  }
}

TEST(RowBits, AreMadeOfCrowdedGraphsOfMiddlingSizeOnly) {
  EXPECT_EQ(detail::RowBits::where(testing::randomGraph(300, 600, 1)), nullptr);
  EXPECT_EQ(detail::RowBits::where(testing::randomGraph(100, 3000, 1)), nullptr);
  const CsrGraph graph = testing::randomGraph(700, 40'000, 1);
  const auto bits = detail::RowBits::where(graph);
  ASSERT_NE(bits, nullptr);
  for (std::uint32_t node = 0; node < graph.nodeCount(); ++node) {
    for (std::uint32_t other = 0; other < graph.nodeCount(); ++other) {
      ASSERT_EQ(detail::RowBits::bit(bits->row(NodeId{node}), NodeId{other}),
                graph.hasEdge(NodeId{node}, NodeId{other}) ? 1U : 0U)
          << node << ", " << other;
    }
  }
}

TEST(EnclosingSubgraph, NeverShowsTheTargetEdge) {
  const CsrGraph graph = testing::randomGraph(60, 500, 4);
  std::vector<Edge> pairs;
  for (std::uint32_t node = 0; node < 60; ++node) {
    for (const NodeId neighbour : graph.neighbours(NodeId{node})) {
      pairs.push_back({NodeId{node}, neighbour});
    }
  }
  const SubgraphBatch batch = SubgraphExtractor(graph).extract(pairs, {2, 1});
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto source = NodeId{static_cast<std::uint32_t>(batch.node_offsets[i])};
    const auto target = NodeId{index(source) + 1};
    EXPECT_EQ(batch.nodes[index(source)], pairs[i].src);
    EXPECT_EQ(batch.nodes[index(target)], pairs[i].dst);
    EXPECT_FALSE(batch.graph.hasEdge(source, target));
    EXPECT_FALSE(batch.graph.hasEdge(target, source));
  }
}

TEST(EnclosingSubgraph, IsTheSameWithEndsAndHopsSwapped) {
  for (const std::size_t most : {std::numeric_limits<std::size_t>::max(), std::size_t{2}}) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
      const RandomCase tried(seed);
      const ExtractionOptions options{.sampling = {.max_nodes = most, .seed = seed}};
      EXPECT_EQ(extractOne(tried.graph, tried.pair, tried.view, options),
                extractOne(tried.graph, reversed(tried.pair),
                           {tried.view.target, tried.view.source}, options));
    }
  }
}

TEST(EnclosingSubgraph, HasTheSameBitsForAnyNumberOfThreads) {
  const CsrGraph graph = testing::randomGraph(500, 1500, 11);
  const std::vector<Edge> pairs = testing::randomPairs(500, 301, 12);
  std::vector<HopView> views;
  for (std::uint32_t i = 0; i < pairs.size(); ++i) {
    views.push_back({i % 3, i % 4});
  }
  const SubgraphExtractor extractor(graph, {.sampling = {.ratio = 0.7, .max_nodes = 20}});
  setThreadCount(1);
  const SubgraphBatch want = extractor.extract(pairs, views);
  for (const int threads : {2, 3}) {
    setThreadCount(threads);
    expectSameBits(extractor.extract(pairs, views), want);
  }
  setThreadCount(0);
}

TEST(EnclosingSubgraph, DoesNotDependOnTheBatch) {
  const CsrGraph graph = testing::randomGraph(200, 600, 21);
  const std::vector<Edge> pairs = testing::randomPairs(200, 50, 22);
  const ExtractionOptions options{.sampling = {.ratio = 0.5}};
  const SubgraphExtractor extractor(graph, options);
  const SubgraphBatch batch = extractor.extract(pairs, {2, 2});
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    EXPECT_EQ(plainSubgraph(batch, i), extractOne(graph, pairs[i], {2, 2}, options));
  }
}

TEST(HopSampling, KeepsAtMostSoManyNodesAHop) {
  const CsrGraph graph = testing::randomGraph(80, 900, 31);
  const std::vector<Edge> pairs = testing::randomPairs(80, 100, 32);
  for (const std::size_t most : {std::size_t{1}, std::size_t{3}, std::size_t{10}}) {
    const SubgraphExtractor extractor(graph, {.sampling = {.max_nodes = most}});
    const SubgraphBatch batch = extractor.extract(pairs, {2, 1});
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      EXPECT_LE(batch.nodeCount(i), 2 + 3 * most);
    }
  }
}

// 0 has ten neighbours of its own, and so has 1.
TEST(HopSampling, KeepsAShareOfEachHopRoundedButNeverNothing) {
  std::vector<Edge> edges;
  for (std::uint32_t node = 2; node < 12; ++node) {
    edges.push_back(makeEdge(0, node));
    edges.push_back(makeEdge(1, node + 10));
  }
  const CsrGraph graph = CsrGraph::fromEdges(22, edges);
  const auto count = [&](double ratio, std::size_t most) {
    const ExtractionOptions options{.sampling = {.ratio = ratio, .max_nodes = most}};
    return extractOne(graph, makeEdge(0, 1), {1, 1}, options).nodes.size();
  };
  constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(count(1.0, kAll), 22U);
  EXPECT_EQ(count(0.5, kAll), 12U);
  EXPECT_EQ(count(0.26, kAll), 8U);
  EXPECT_EQ(count(0.001, kAll), 4U);
  EXPECT_EQ(count(0.5, 2), 6U);
}

TEST(HopSampling, KeepsEdgesBetweenWhatStays) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const RandomCase tried(seed);
    const PlainSubgraph whole = extractOne(tried.graph, tried.pair, tried.view);
    const PlainSubgraph part =
        extractOne(tried.graph, tried.pair, tried.view, {.sampling = {.ratio = 0.6}});
    EXPECT_TRUE(std::ranges::includes(whole.nodes, part.nodes));
    testing::IdPairs among;
    for (const auto& [a, b] : whole.edges) {
      if (part.nodes.contains(a) && part.nodes.contains(b)) {
        among.insert({a, b});
      }
    }
    EXPECT_EQ(part.edges, among);
  }
}

TEST(HopSampling, DrawsEveryNodeAlikeAndAnewForEachSeedAndPair) {
  std::vector<Edge> edges;
  for (std::uint32_t node = 2; node < 12; ++node) {
    edges.push_back(makeEdge(0, node));
  }
  const CsrGraph graph = CsrGraph::fromEdges(2012, edges);
  std::vector<Edge> pairs;
  for (std::uint32_t other = 12; other < 2012; ++other) {
    pairs.push_back(makeEdge(0, other));
  }
  const auto counts = [&](std::uint64_t seed) {
    const SubgraphExtractor extractor(graph, {.sampling = {.max_nodes = 3, .seed = seed}});
    std::vector<std::size_t> drawn(12, 0);
    for (const NodeId node : extractor.extract(pairs, {1, 1}).nodes) {
      if (index(node) < drawn.size()) {
        ++drawn[index(node)];
      }
    }
    return drawn;
  };
  const std::vector<std::size_t> drawn = counts(1);
  for (std::size_t node = 2; node < 12; ++node) {
    // 600 are expected, with a deviation of 20.
    EXPECT_NEAR(static_cast<double>(drawn[node]), 600.0, 100.0);
  }
  EXPECT_NE(drawn, counts(2));
}

TEST(SubgraphExtractor, GivesAnEmptyBatchForNoPairs) {
  const CsrGraph graph = kiteWithTails();
  const SubgraphBatch batch = SubgraphExtractor(graph).extract({}, HopView{2, 2});
  EXPECT_EQ(batch.pairCount(), 0U);
  EXPECT_TRUE(batch.nodes.empty());
  EXPECT_EQ(batch.graph.nodeCount(), 0U);
}

TEST(SubgraphExtractor, RefusesWhatDoesNotFit) {
  const CsrGraph graph = kiteWithTails();
  const CsrGraph directed = testing::randomGraph(5, 5, 1, Direction::kDirected);
  const SubgraphExtractor extractor(graph);
  const std::vector<Edge> outside = {makeEdge(0, 8)};
  const std::vector<Edge> self = {makeEdge(3, 3)};
  const std::vector<HopView> views(2);
  expectFailure<ShapeError>([&] { (void)extractor.extract(outside, {1, 1}); }, "(0, 8)");
  expectFailure<ShapeError>([&] { (void)extractor.extract(self, {1, 1}); }, "(3, 3)");
  expectFailure<ShapeError>([&] { (void)extractor.extract(self, views); }, "2 views for 1 pairs");
  expectFailure<ShapeError>([&] { SubgraphExtractor made(directed); }, "undirected");
  for (const double ratio : {0.0, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    expectFailure<ConfigError>(
        [&] { SubgraphExtractor made(graph, {.sampling = {.ratio = ratio}}); }, "share of");
  }
  expectFailure<ConfigError>([&] { SubgraphExtractor made(graph, {.sampling = {.max_nodes = 0}}); },
                             "0 nodes");
}

TEST(SubgraphExtractor, StopsWhenAskedToAndWorksAgainAfterwards) {
  const CsrGraph graph = kiteWithTails();
  const SubgraphExtractor extractor(graph);
  const std::vector<Edge> pairs = {makeEdge(0, 1)};
  requestInterrupt();
  EXPECT_THROW((void)extractor.extract(pairs, {1, 1}), InterruptedError);
  clearInterrupt();
  EXPECT_EQ(extractor.extract(pairs, {1, 1}).pairCount(), 1U);
}

}  // namespace
}  // namespace edgewise
