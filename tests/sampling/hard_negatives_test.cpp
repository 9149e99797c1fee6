#include "edgewise/sampling/hard_negatives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "edgewise/graph/heuristics.h"
#include "edgewise/util/parallel.h"
#include "support/random_graphs.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using ::testing::ElementsAre;

const CounterRng kRng(3, "hard negatives");

// Mean ranks by the definition: one plus how many are better, plus half of the other equals.
std::map<NodeId, double> rankSums(const std::vector<NodeId>& candidates,
                                  const std::vector<double>& ra, const std::vector<double>& ppr) {
  std::map<NodeId, double> sums;
  for (const std::vector<double>* scores : {&ra, &ppr}) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      for (std::size_t j = 0; j < candidates.size(); ++j) {
        sums[candidates[i]] += (*scores)[j] > (*scores)[i]    ? 1.0
                               : (*scores)[j] == (*scores)[i] ? 0.5
                                                              : 0.0;
      }
    }
  }
  return sums;
}

TEST(HardNegatives, PreferPartnersThatShareNeighbours) {
  // 0 and 1 share two neighbours, 0 and 4 one; 5 - 6 stands apart.
  const std::vector<Edge> edges = {makeEdge(0, 2), makeEdge(1, 2), makeEdge(0, 3),
                                   makeEdge(1, 3), makeEdge(4, 3), makeEdge(5, 6)};
  const CsrGraph graph = CsrGraph::fromEdges(7, edges);
  const EdgeSet known = EdgeSet::fromEdges(edges);
  const HardNegativeSampler sampler(graph, {.node_count = 7}, known, {.per_positive = 4});
  EXPECT_THAT(sampler.sample(std::vector<Edge>{makeEdge(0, 2)}, kRng),
              ElementsAre(makeEdge(0, 1), makeEdge(0, 4), makeEdge(2, 3), makeEdge(2, 4)));
}

TEST(HardNegatives, PassOverThePositiveItself) {
  // As at test time: the positive is neither in the graph nor known.
  const std::vector<Edge> edges = {makeEdge(0, 2), makeEdge(1, 2), makeEdge(2, 3)};
  const CsrGraph graph = CsrGraph::fromEdges(4, edges);
  const EdgeSet known = EdgeSet::fromEdges(edges);
  const HardNegativeSampler sampler(graph, {.node_count = 4}, known, {.per_positive = 2});
  EXPECT_THAT(sampler.sample(std::vector<Edge>{makeEdge(1, 0)}, kRng),
              ElementsAre(makeEdge(1, 3), makeEdge(0, 3)));
}

TEST(HardNegatives, FollowTheDefinitionOnRandomGraphs) {
  for (const Direction direction : {Direction::kUndirected, Direction::kDirected}) {
    const std::vector<Edge> edges = testing::randomPairs(70, 110, 6);
    const CsrGraph graph = CsrGraph::fromEdges(70, edges, direction);
    const EdgeSet known = EdgeSet::fromEdges(edges, direction);
    const HeuristicScorer ra(graph, Heuristic::kResourceAllocation);
    const HeuristicScorer ppr(graph, Heuristic::kPersonalizedPageRank, {.tolerance = 1e-10});
    const HardNegativeSampler sampler(graph, {.node_count = 70, .direction = direction}, known,
                                      {.per_positive = 20});
    for (const Edge& positive : {edges[0], edges[17], edges[60]}) {
      const std::vector<Edge> negatives = sampler.sample(std::vector<Edge>{positive}, kRng);
      ASSERT_EQ(negatives.size(), 20U);
      for (const bool keep_source : {true, false}) {
        const NodeId kept = keep_source ? positive.src : positive.dst;
        std::vector<NodeId> candidates;
        std::vector<Edge> pairs;
        for (std::uint32_t node = 0; node < 70; ++node) {
          const Edge pair = keep_source ? Edge{kept, NodeId{node}} : Edge{NodeId{node}, kept};
          if (pair.src != pair.dst && !known.contains(pair)) {
            candidates.push_back(NodeId{node});
            pairs.push_back(pair);
          }
        }
        std::vector<double> ppr_all(70);
        ppr.scoreSources(std::vector<NodeId>{kept}, ppr_all);
        std::vector<double> ppr_scores;
        for (const NodeId node : candidates) {
          ppr_scores.push_back(ppr_all[index(node)]);
        }
        const auto sums = rankSums(candidates, ra.score(pairs), ppr_scores);
        std::vector<double> best;
        for (const auto& [node, sum] : sums) {
          best.push_back(sum);
        }
        std::ranges::sort(best);
        for (std::size_t i = 0; i < 10; ++i) {
          const Edge negative = negatives[(keep_source ? 0 : 10) + i];
          const NodeId partner = negative.src == kept ? negative.dst : negative.src;
          EXPECT_EQ(sums.at(partner), best[i]);
        }
      }
    }
  }
}

TEST(HardNegatives, AreUnknownDistinctAndShareAnEnd) {
  const std::vector<Edge> edges = testing::randomPairs(120, 500, 8);
  // Only part of the edges carries messages.
  const CsrGraph graph = CsrGraph::fromEdges(120, std::span(edges).first(300));
  const EdgeSet known = EdgeSet::fromEdges(edges);
  const std::span<const Edge> positives = std::span(edges).subspan(300);
  const HardNegativeSampler sampler(graph, {.node_count = 120}, known, {.per_positive = 41});
  const std::vector<Edge> negatives = sampler.sample(positives, kRng);
  ASSERT_EQ(negatives.size(), positives.size() * 41);
  for (std::size_t i = 0; i < positives.size(); ++i) {
    const auto own = std::span(negatives).subspan(i * 41, 41);
    EXPECT_EQ(std::set<Edge>(own.begin(), own.end()).size(), 41U);
    for (std::size_t j = 0; j < own.size(); ++j) {
      const NodeId kept = j < 21 ? positives[i].src : positives[i].dst;
      EXPECT_FALSE(known.contains(own[j]));
      EXPECT_LT(own[j].src, own[j].dst);
      EXPECT_TRUE(own[j].src == kept || own[j].dst == kept);
    }
  }
}

TEST(HardNegatives, FillUpAtRandomBeyondReach) {
  // One edge in a graph of isolated nodes: every candidate is out of reach.
  const std::vector<Edge> edges = {makeEdge(0, 1)};
  const CsrGraph graph = CsrGraph::fromEdges(200, edges);
  const EdgeSet known = EdgeSet::fromEdges(edges);
  const HardNegativeSampler sampler(graph, {.node_count = 200}, known, {.per_positive = 20});
  const std::vector<Edge> one = sampler.sample(edges, kRng);
  const std::vector<Edge> other = sampler.sample(edges, CounterRng(4, "hard negatives"));
  EXPECT_EQ(one.size(), 20U);
  EXPECT_NE(one, other);
  EXPECT_FALSE(std::ranges::is_sorted(std::span(one).first(10)));
}

TEST(HardNegatives, RespectTheSidesOfBipartiteGraphs) {
  const std::vector<Edge> edges = {makeEdge(0, 4), makeEdge(1, 4), makeEdge(1, 5), makeEdge(2, 5),
                                   makeEdge(3, 6)};
  const CsrGraph graph = CsrGraph::fromEdges(8, edges);
  const EdgeSet known = EdgeSet::fromEdges(edges);
  const HardNegativeSampler sampler(graph, {.node_count = 8, .users = 4}, known,
                                    {.per_positive = 4});
  // User 0 reaches item 5 over user 1; item 4 reaches user 2 over item 5.
  const std::vector<Edge> negatives = sampler.sample(std::vector<Edge>{makeEdge(0, 4)}, kRng);
  ASSERT_EQ(negatives.size(), 4U);
  EXPECT_EQ(negatives[0], makeEdge(0, 5));
  EXPECT_EQ(negatives[2], makeEdge(2, 4));
  for (const Edge& pair : negatives) {
    EXPECT_LT(index(pair.src), 4U);
    EXPECT_GE(index(pair.dst), 4U);
  }
}

TEST(HardNegatives, DoNotDependOnThreadsOrCompany) {
  const int before = threadCount();
  const std::vector<Edge> edges = testing::randomPairs(500, 1200, 8);
  const CsrGraph graph = CsrGraph::fromEdges(500, edges);
  const EdgeSet known = EdgeSet::fromEdges(edges);
  const HardNegativeSampler sampler(graph, {.node_count = 500}, known, {.per_positive = 30});
  setThreadCount(1);
  const std::vector<Edge> alone = sampler.sample(edges, kRng);
  setThreadCount(3);
  EXPECT_EQ(sampler.sample(edges, kRng), alone);
  setThreadCount(before);
  const std::vector<Edge> last = sampler.sample(std::span(edges).last(1), kRng);
  EXPECT_TRUE(std::equal(last.begin(), last.end(), alone.end() - 30));
}

TEST(HardNegatives, NameANodeWithTooFewCandidates) {
  const std::vector<Edge> edges = {makeEdge(0, 1), makeEdge(0, 2), makeEdge(0, 3)};
  const CsrGraph graph = CsrGraph::fromEdges(5, edges);
  const EdgeSet known = EdgeSet::fromEdges(edges);
  const HardNegativeSampler sampler(graph, {.node_count = 5}, known, {.per_positive = 4});
  testing::expectFailure<DataError>([&] { (void)sampler.sample(edges, kRng); },
                                    "node 0 has only 1");
  const HardNegativeSampler greedy(graph, {.node_count = 5}, known, {.per_positive = 100});
  testing::expectFailure<DataError>([&] { (void)greedy.sample(edges, kRng); }, "among 5 nodes");
  EXPECT_TRUE(greedy.sample({}, kRng).empty());
}

TEST(HardNegatives, RefuseWhatCannotWork) {
  const CsrGraph graph = testing::randomGraph(5, 4, 1);
  const EdgeSet known;
  testing::expectFailure<ShapeError>(
      [&] { const HardNegativeSampler sampler(graph, {.node_count = 6}, known); }, "6");
  testing::expectFailure<ConfigError>(
      [&] {
        const HardNegativeSampler sampler(graph, {.node_count = 5}, known, {.per_positive = 0});
      },
      "0 hard negatives");
  const HardNegativeSampler sampler(graph, {.node_count = 5}, known, {.per_positive = 2});
  testing::expectFailure<ShapeError>(
      [&] { (void)sampler.sample(std::vector<Edge>{makeEdge(1, 1)}, kRng); }, "(1, 1)");
}

}  // namespace
}  // namespace edgewise
