#include "edgewise/graph/heuristics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "edgewise/graph/spectral.h"
#include "edgewise/util/interrupt.h"
#include "edgewise/util/parallel.h"
#include "support/random_graphs.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Restores the number of threads at the end of a test.
class ThreadGuard {
 public:
  ThreadGuard() : before_(threadCount()) {}
  ThreadGuard(const ThreadGuard&) = delete;
  ThreadGuard& operator=(const ThreadGuard&) = delete;
  ThreadGuard(ThreadGuard&&) = delete;
  ThreadGuard& operator=(ThreadGuard&&) = delete;
  ~ThreadGuard() { setThreadCount(before_); }

 private:
  int before_;
};

// A triangle 0 1 2 with the tail 2 - 3 - 4; 5 alone.
CsrGraph triangleWithTail() {
  return CsrGraph::fromEdges(6, std::vector<Edge>{makeEdge(0, 1), makeEdge(1, 2), makeEdge(0, 2),
                                                  makeEdge(2, 3), makeEdge(3, 4)});
}

CsrGraph starOfFour() {
  return CsrGraph::fromEdges(
      5, std::vector<Edge>{makeEdge(0, 1), makeEdge(0, 2), makeEdge(0, 3), makeEdge(0, 4)});
}

std::vector<double> scoresOf(const CsrGraph& graph, Heuristic heuristic,
                             const std::vector<Edge>& pairs, const HeuristicOptions& options = {}) {
  return HeuristicScorer(graph, heuristic, options).score(pairs);
}

double scoreOf(const CsrGraph& graph, Heuristic heuristic, Edge pair,
               const HeuristicOptions& options = {}) {
  return scoresOf(graph, heuristic, {pair}, options).front();
}

double norm(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) {
    sum += value * value;
  }
  return std::sqrt(sum);
}

double relativeDistance(const std::vector<double>& got, const std::vector<double>& want) {
  std::vector<double> difference(got.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    difference[i] = got[i] - want[i];
  }
  return norm(difference) / std::max(norm(want), 1e-300);
}

using Matrix = std::vector<std::vector<double>>;

// (I - M)^-1 by Gauss-Jordan elimination: an independent way to sums over all walks.
Matrix resolvent(const Matrix& matrix) {
  const std::size_t n = matrix.size();
  Matrix left = matrix;
  Matrix right(n, std::vector<double>(n, 0.0));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      left[i][j] = (i == j ? 1.0 : 0.0) - matrix[i][j];
    }
    right[i][i] = 1.0;
  }
  for (std::size_t pivot = 0; pivot < n; ++pivot) {
    for (std::size_t row = 0; row < n; ++row) {
      const double factor = row == pivot ? 0.0 : left[row][pivot] / left[pivot][pivot];
      for (std::size_t j = 0; j < n; ++j) {
        left[row][j] -= factor * left[pivot][j];
        right[row][j] -= factor * right[pivot][j];
      }
    }
  }
  for (std::size_t row = 0; row < n; ++row) {
    for (double& entry : right[row]) {
      entry /= left[row][row];
    }
  }
  return right;
}

Matrix scaledAdjacency(const CsrGraph& graph, double scale, bool by_degree) {
  Matrix matrix(graph.nodeCount(), std::vector<double>(graph.nodeCount(), 0.0));
  for (std::uint32_t node = 0; node < graph.nodeCount(); ++node) {
    for (const NodeId target : graph.neighbours(NodeId{node})) {
      matrix[node][index(target)] =
          scale / (by_degree ? static_cast<double>(graph.degree(NodeId{node})) : 1.0);
    }
  }
  return matrix;
}

// PPR of all pairs from the dense inverse, dangling nodes returning to the seed.
Matrix densePageRank(const CsrGraph& graph, double restart) {
  Matrix visits = resolvent(scaledAdjacency(graph, 1.0 - restart, true));
  for (auto& row : visits) {
    double total = 0.0;
    for (const double entry : row) {
      total += entry;
    }
    for (double& entry : row) {
      entry /= total;
    }
  }
  return visits;
}

std::vector<Edge> allPairs(std::size_t nodes) {
  std::vector<Edge> pairs;
  for (std::uint32_t u = 0; u < nodes; ++u) {
    for (std::uint32_t v = 0; v < nodes; ++v) {
      pairs.push_back(makeEdge(u, v));
    }
  }
  return pairs;
}

TEST(Heuristics, HaveNamesThatParseBack) {
  EXPECT_EQ(allHeuristics().size(), 7U);
  for (const Heuristic heuristic : allHeuristics()) {
    EXPECT_EQ(parseHeuristic(heuristicName(heuristic)), heuristic);
  }
  try {
    (void)parseHeuristic("jacard");
    ADD_FAILURE() << "a misspelt name was accepted";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("jacard"));
    EXPECT_THAT(error.hint(), HasSubstr("jaccard"));
  }
}

TEST(Heuristics, AgreeWithGoldenValues) {
  std::ifstream file(testing::testFile("golden/heuristics.json"));
  const nlohmann::json cases = nlohmann::json::parse(file);
  ASSERT_FALSE(cases.empty());
  for (const auto& golden : cases) {
    std::vector<Edge> edges;
    std::vector<Edge> pairs;
    for (const auto& edge : golden["edges"]) {
      edges.push_back(makeEdge(edge[0], edge[1]));
    }
    for (const auto& pair : golden["pairs"]) {
      pairs.push_back(makeEdge(pair[0], pair[1]));
    }
    const CsrGraph graph = CsrGraph::fromEdges(golden["nodes"], edges);
    HeuristicOptions options;
    options.katz_beta = golden["katz_beta"];
    options.ppr_restart = golden["ppr_restart"];
    ASSERT_EQ(golden["scores"].size(), allHeuristics().size());
    for (const Heuristic heuristic : allHeuristics()) {
      const std::vector<double> want = golden["scores"][std::string(heuristicName(heuristic))];
      EXPECT_LE(relativeDistance(scoresOf(graph, heuristic, pairs, options), want), 1e-12)
          << heuristicName(heuristic);
    }
  }
}

TEST(Heuristics, AreRightOnATriangleWithATail) {
  const CsrGraph graph = triangleWithTail();
  const std::vector<Edge> pairs = {makeEdge(0, 1), makeEdge(0, 3), makeEdge(2, 4), makeEdge(0, 4),
                                   makeEdge(0, 5)};
  EXPECT_THAT(scoresOf(graph, Heuristic::kCommonNeighbours, pairs), ElementsAre(1, 1, 1, 0, 0));
  EXPECT_THAT(scoresOf(graph, Heuristic::kAdamicAdar, pairs),
              ElementsAre(1.0 / std::log(3.0), 1.0 / std::log(3.0), 1.0 / std::log(2.0), 0.0, 0.0));
  EXPECT_THAT(scoresOf(graph, Heuristic::kResourceAllocation, pairs),
              ElementsAre(1.0 / 3.0, 1.0 / 3.0, 0.5, 0.0, 0.0));
  EXPECT_THAT(scoresOf(graph, Heuristic::kJaccard, pairs),
              ElementsAre(1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 0.0, 0.0));
  EXPECT_THAT(scoresOf(graph, Heuristic::kPreferentialAttachment, pairs),
              ElementsAre(4, 4, 3, 2, 0));
}

TEST(Heuristics, AreRightOnAStar) {
  const CsrGraph graph = starOfFour();
  const std::vector<Edge> pairs = {makeEdge(1, 2), makeEdge(0, 1)};
  EXPECT_THAT(scoresOf(graph, Heuristic::kJaccard, pairs), ElementsAre(1.0, 0.0));
  EXPECT_THAT(scoresOf(graph, Heuristic::kResourceAllocation, pairs), ElementsAre(0.25, 0.0));
  // Walks between two leaves of a star have even length 2k and number 4^(k-1).
  const double beta = 0.1;
  EXPECT_NEAR(scoreOf(graph, Heuristic::kKatz, makeEdge(1, 2), {.katz_beta = beta}),
              beta * beta / (1.0 - 4.0 * beta * beta), 1e-14);
  // The centre sees itself as often as the walk is back: a (1 + (1-a)^2 + ...) = 1 / (2 - a).
  EXPECT_NEAR(scoreOf(graph, Heuristic::kPersonalizedPageRank, makeEdge(0, 0)), 2.0 / 1.85, 1e-12);
}

TEST(Heuristics, TreatSelfPairsByTheSameFormulas) {
  const CsrGraph graph = triangleWithTail();
  const std::vector<Edge> pairs = {makeEdge(2, 2), makeEdge(3, 3), makeEdge(5, 5)};
  EXPECT_THAT(scoresOf(graph, Heuristic::kCommonNeighbours, pairs), ElementsAre(3, 2, 0));
  EXPECT_THAT(scoresOf(graph, Heuristic::kJaccard, pairs), ElementsAre(1, 1, 0));
  // Node 4 has degree 1 and adds nothing, where 1 / log 1 would add infinity.
  EXPECT_DOUBLE_EQ(scoreOf(graph, Heuristic::kAdamicAdar, makeEdge(3, 3)), 1.0 / std::log(3.0));
  EXPECT_EQ(scoreOf(graph, Heuristic::kPersonalizedPageRank, makeEdge(5, 5)), 2.0);
}

TEST(Heuristics, GiveNothingForNoPairs) {
  for (const Heuristic heuristic : allHeuristics()) {
    const CsrGraph graph = triangleWithTail();
    const CsrGraph nothing;
    EXPECT_TRUE(scoresOf(graph, heuristic, {}).empty());
    EXPECT_TRUE(scoresOf(nothing, heuristic, {}).empty());
  }
}

TEST(Heuristics, FollowDirectedPaths) {
  // 0 -> 1 -> 2, 0 -> 3 -> 2, 2 -> 0.
  const CsrGraph graph =
      CsrGraph::fromEdges(5,
                          std::vector<Edge>{makeEdge(0, 1), makeEdge(1, 2), makeEdge(0, 3),
                                            makeEdge(3, 2), makeEdge(2, 0)},
                          Direction::kDirected);
  const std::vector<Edge> pairs = {makeEdge(0, 2), makeEdge(2, 0), makeEdge(2, 1), makeEdge(0, 4)};
  EXPECT_THAT(scoresOf(graph, Heuristic::kCommonNeighbours, pairs), ElementsAre(2, 0, 1, 0));
  EXPECT_THAT(scoresOf(graph, Heuristic::kResourceAllocation, pairs),
              ElementsAre(1.0, 0.0, 1.0 / 3.0, 0.0));
  EXPECT_THAT(
      scoresOf(graph, Heuristic::kAdamicAdar, pairs),
      ElementsAre(1.0 / std::log(2.0) + 1.0 / std::log(2.0), 0.0, 1.0 / std::log(3.0), 0.0));
  EXPECT_THAT(scoresOf(graph, Heuristic::kJaccard, pairs), ElementsAre(1, 0, 1, 0));
  EXPECT_THAT(scoresOf(graph, Heuristic::kPreferentialAttachment, pairs), ElementsAre(4, 1, 1, 0));
  const std::vector<double> katz =
      scoresOf(graph, Heuristic::kKatz, pairs, {.katz_beta = 0.1, .katz_max_length = 4});
  EXPECT_NEAR(katz[0], 2e-2, 1e-15);
  EXPECT_NEAR(katz[1], 0.1 + 2e-4, 1e-15);
  EXPECT_NEAR(katz[2], 1e-2, 1e-15);
  EXPECT_EQ(katz[3], 0.0);
}

TEST(Heuristics, KatzAndPageRankAgreeWithDenseInverses) {
  for (const Direction direction : {Direction::kUndirected, Direction::kDirected}) {
    const CsrGraph graph = testing::randomGraph(45, 110, 8, direction);
    const std::vector<Edge> pairs = allPairs(45);
    // Near the limit, where many steps are needed.
    const double beta = 0.97 / spectralRadiusBounds(graph).upper;
    const Matrix katz = resolvent(scaledAdjacency(graph, beta, false));
    const Matrix visits = densePageRank(graph, 0.15);
    std::vector<double> want_katz;
    std::vector<double> want_ppr;
    for (const Edge& pair : pairs) {
      const std::uint32_t u = index(pair.src);
      const std::uint32_t v = index(pair.dst);
      want_katz.push_back(katz[u][v] - (u == v ? 1.0 : 0.0));
      want_ppr.push_back(visits[u][v] + visits[v][u]);
    }
    EXPECT_LE(
        relativeDistance(scoresOf(graph, Heuristic::kKatz, pairs, {.katz_beta = beta}), want_katz),
        1e-11);
    EXPECT_LE(relativeDistance(scoresOf(graph, Heuristic::kPersonalizedPageRank, pairs), want_ppr),
              1e-12);
  }
}

TEST(Heuristics, KatzKeepsRelativeAccuracyFarAway) {
  std::vector<Edge> path;
  path.reserve(30);
  for (std::uint32_t node = 0; node < 30; ++node) {
    path.push_back(makeEdge(node, node + 1));
  }
  const CsrGraph graph = CsrGraph::fromEdges(31, path);
  const double beta = 0.01;
  // On a path a walk of n steps and one detour has about n * beta^2 the weight of the straight one.
  const double got = scoreOf(graph, Heuristic::kKatz, makeEdge(5, 25), {.katz_beta = beta});
  const double straight = std::pow(beta, 20);
  EXPECT_NEAR(got / straight, 1.0 + 22.0 * beta * beta, 1e-4);
}

TEST(Heuristics, AreSymmetricToTheLastBit) {
  for (const std::size_t edges : {300U, 6000U}) {
    const CsrGraph graph = testing::randomGraph(150, edges, 4);
    const std::vector<Edge> pairs = testing::randomPairs(150, 700, 6);
    std::vector<Edge> turned;
    turned.reserve(pairs.size());
    for (const Edge& pair : pairs) {
      turned.push_back(reversed(pair));
    }
    for (const Heuristic heuristic : allHeuristics()) {
      EXPECT_EQ(scoresOf(graph, heuristic, pairs), scoresOf(graph, heuristic, turned))
          << heuristicName(heuristic);
    }
  }
}

TEST(Heuristics, DoNotDependOnThreads) {
  const ThreadGuard guard;
  for (const Direction direction : {Direction::kUndirected, Direction::kDirected}) {
    const CsrGraph graph = testing::randomGraph(700, 4000, 4, direction);
    const std::vector<Edge> pairs = testing::randomPairs(700, 1100, 6);
    for (const Heuristic heuristic : allHeuristics()) {
      setThreadCount(1);
      const std::vector<double> alone = scoresOf(graph, heuristic, pairs);
      setThreadCount(3);
      EXPECT_EQ(scoresOf(graph, heuristic, pairs), alone) << heuristicName(heuristic);
    }
  }
}

TEST(Heuristics, ScoreSourcesAgreesWithPairs) {
  for (const Direction direction : {Direction::kUndirected, Direction::kDirected}) {
    // Sparse enough that most lists are marked, with a few nodes dense enough for rows of bits.
    std::vector<Edge> edges = testing::randomPairs(400, 900, 2);
    for (std::uint32_t node = 3; node < 300; ++node) {
      edges.push_back(makeEdge(0, node));
      edges.push_back(makeEdge(node, 1));
      edges.push_back(makeEdge(2, node));
    }
    const CsrGraph graph = CsrGraph::fromEdges(400, edges, direction);
    const std::vector<NodeId> sources = {NodeId{0}, NodeId{7}, NodeId{399}, NodeId{1}, NodeId{7}};
    for (const Heuristic heuristic : allHeuristics()) {
      const HeuristicScorer scorer(graph, heuristic);
      std::vector<double> all(sources.size() * 400, -1.0);
      scorer.scoreSources(sources, all);
      std::vector<Edge> pairs;
      for (const NodeId source : sources) {
        for (std::uint32_t node = 0; node < 400; ++node) {
          pairs.push_back({source, NodeId{node}});
        }
      }
      const std::vector<double> want = scorer.score(pairs);
      if (heuristic == Heuristic::kKatz || heuristic == Heuristic::kPersonalizedPageRank) {
        EXPECT_LE(relativeDistance(all, want), 1e-11) << heuristicName(heuristic);
      } else {
        EXPECT_EQ(all, want) << heuristicName(heuristic);
      }
    }
  }
}

TEST(Heuristics, CommonNeighboursAgreeWithBruteForce) {
  // The first graph scans marked lists, the second meets rows of bits.
  for (const std::size_t edges : {400U, 9000U}) {
    for (const Direction direction : {Direction::kUndirected, Direction::kDirected}) {
      const CsrGraph graph = testing::randomGraph(200, edges, 12, direction);
      const std::vector<Edge> pairs = testing::randomPairs(200, 500, 13);
      const std::vector<double> got = scoresOf(graph, Heuristic::kCommonNeighbours, pairs);
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        double want = 0.0;
        for (std::uint32_t middle = 0; middle < 200; ++middle) {
          want += graph.hasEdge(pairs[i].src, NodeId{middle}) &&
                          graph.hasEdge(NodeId{middle}, pairs[i].dst)
                      ? 1.0
                      : 0.0;
        }
        EXPECT_EQ(got[i], want);
      }
    }
  }
}

TEST(Heuristics, RefuseADivergentKatzBeta) {
  const CsrGraph graph = triangleWithTail();
  try {
    const HeuristicScorer scorer(graph, Heuristic::kKatz, {.katz_beta = 0.5});
    ADD_FAILURE() << "beta 0.5 was accepted at spectral radius above 2";
  } catch (const ConfigError& error) {
    const double limit = 1.0 / spectralRadiusBounds(graph).upper;
    EXPECT_THAT(error.what(), HasSubstr("0.5"));
    EXPECT_THAT(error.what(), HasSubstr(std::to_string(limit).substr(0, 6)));
    EXPECT_THAT(error.hint(), HasSubstr("0.05"));
  }
  // Bounded lengths always have a sum: beta + 2 walks of length 2 and 3.
  EXPECT_DOUBLE_EQ(
      scoreOf(graph, Heuristic::kKatz, makeEdge(0, 3), {.katz_beta = 2.0, .katz_max_length = 2}),
      4.0);
}

TEST(Heuristics, ChooseASafeKatzBeta) {
  const CsrGraph tail = triangleWithTail();
  EXPECT_EQ(HeuristicScorer(tail, Heuristic::kKatz).katzBeta(), 0.05);
  const CsrGraph dense = testing::randomGraph(100, 4000, 2);
  const double radius = spectralRadiusBounds(dense).upper;
  EXPECT_DOUBLE_EQ(HeuristicScorer(dense, Heuristic::kKatz).katzBeta(), 0.5 / radius);
  EXPECT_EQ(HeuristicScorer(dense, Heuristic::kAdamicAdar).katzBeta(), 0.0);
}

TEST(Heuristics, RefuseOptionsOutOfRange) {
  const CsrGraph graph = starOfFour();
  const auto make = [&](Heuristic heuristic, const HeuristicOptions& options) {
    return
        [&graph, heuristic, options] { const HeuristicScorer scorer(graph, heuristic, options); };
  };
  testing::expectFailure<ConfigError>(make(Heuristic::kKatz, {.katz_beta = -1.0}), "-1");
  testing::expectFailure<ConfigError>(make(Heuristic::kKatz, {.katz_beta = std::nan("")}), "nan");
  testing::expectFailure<ConfigError>(make(Heuristic::kKatz, {.katz_max_length = -2}), "-2");
  testing::expectFailure<ConfigError>(make(Heuristic::kPersonalizedPageRank, {.ppr_restart = 0.0}),
                                      "restart probability 0");
  testing::expectFailure<ConfigError>(make(Heuristic::kPersonalizedPageRank, {.ppr_restart = 1.0}),
                                      "restart probability 1");
  testing::expectFailure<ConfigError>(make(Heuristic::kKatz, {.tolerance = 0.0}), "tolerance 0");
}

TEST(Heuristics, RefuseNodesOutsideTheGraph) {
  const CsrGraph graph = starOfFour();
  const HeuristicScorer scorer(graph, Heuristic::kCommonNeighbours);
  testing::expectFailure<ShapeError>([&] { (void)scorer.score(std::vector<Edge>{makeEdge(0, 5)}); },
                                     "node 5");
  std::vector<double> out(4);
  testing::expectFailure<ShapeError>(
      [&] { scorer.scoreSources(std::vector<NodeId>{NodeId{0}}, out); }, "4 places");
}

TEST(Heuristics, StopWhenAskedTo) {
  const CsrGraph graph = testing::randomGraph(100, 300, 1);
  const std::vector<Edge> pairs = testing::randomPairs(100, 50, 1);
  const HeuristicScorer katz(graph, Heuristic::kKatz);
  const HeuristicScorer common(graph, Heuristic::kCommonNeighbours);
  requestInterrupt();
  EXPECT_THROW((void)katz.score(pairs), InterruptedError);
  EXPECT_THROW((void)common.score(pairs), InterruptedError);
  clearInterrupt();
}

}  // namespace
}  // namespace edgewise
