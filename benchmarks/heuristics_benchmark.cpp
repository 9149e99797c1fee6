// Pairs scored a second on a graph of ogbl-ddi's size: 4,267 nodes, 1.07 million edges. Beside each
// neighbourhood score stands a floor: the rate at which the shorter neighbour list of every pair
// could be read from memory once, at the bandwidth measured in the same run. (Rows of bits are
// denser than lists and stay in cache, so the floor can be passed.)
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "edgewise/graph/csr_graph.h"
#include "edgewise/graph/heuristics.h"
#include "edgewise/graph/spectral.h"
#include "edgewise/util/parallel.h"
#include "edgewise/util/rng.h"

namespace {

using edgewise::CsrGraph;
using edgewise::Edge;
using edgewise::Heuristic;
using edgewise::HeuristicScorer;
using edgewise::makeEdge;
using edgewise::NodeId;

constexpr std::uint32_t kNodes = 4267;
constexpr std::size_t kEdges = 1'070'000;
constexpr std::size_t kPairs = 200'000;
constexpr std::size_t kSources = 64;

std::vector<Edge> randomPairs(std::size_t count, std::uint64_t seed) {
  edgewise::RngStream rng(seed, "benchmark");
  std::vector<Edge> pairs;
  pairs.reserve(count);
  while (pairs.size() < count) {
    const auto src = static_cast<std::uint32_t>(rng.below(kNodes));
    const auto dst = static_cast<std::uint32_t>(rng.below(kNodes));
    if (src != dst) {
      pairs.push_back(makeEdge(src, dst));
    }
  }
  return pairs;
}

const CsrGraph& denseGraph() {
  static const CsrGraph graph = CsrGraph::fromEdges(kNodes, randomPairs(kEdges, 1));
  return graph;
}

// The same number of edges over 64 times the nodes: no list is long enough for a row of bits.
const CsrGraph& sparseGraph() {
  static const CsrGraph graph = [] {
    std::vector<Edge> edges = randomPairs(kEdges, 3);
    edgewise::RngStream rng(4, "spread");
    for (Edge& edge : edges) {
      edge = makeEdge(index(edge.src) * 64 + static_cast<std::uint32_t>(rng.below(64)),
                      index(edge.dst) * 64 + static_cast<std::uint32_t>(rng.below(64)));
    }
    return CsrGraph::fromEdges(std::size_t{kNodes} * 64, edges);
  }();
  return graph;
}

double secondsToRead(std::span<const std::uint64_t> words) {
  const auto start = std::chrono::steady_clock::now();
  edgewise::parallelFor(words.size(), std::size_t{1} << 17,
                        [&](std::size_t begin, std::size_t end) {
                          std::uint64_t sum = 0;
                          for (std::size_t i = begin; i < end; ++i) {
                            sum += words[i];
                          }
                          benchmark::DoNotOptimize(sum);
                        });
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Bytes a second, the best of a few passes over memory far larger than any cache.
double readBandwidth() {
  static const double best = [] {
    const std::vector<std::uint64_t> words(std::size_t{1} << 26, 1);
    double seconds = secondsToRead(words);
    for (int pass = 0; pass < 4; ++pass) {
      seconds = std::min(seconds, secondsToRead(words));
    }
    return static_cast<double>(words.size() * sizeof(std::uint64_t)) / seconds;
  }();
  return best;
}

void neighbourhood(benchmark::State& state, const CsrGraph& (*make)(), Heuristic heuristic) {
  const CsrGraph& graph = make();
  const HeuristicScorer scorer(graph, heuristic);
  std::vector<Edge> pairs = randomPairs(kPairs, 2);
  const auto spread = static_cast<std::uint32_t>(graph.nodeCount() / kNodes);
  for (Edge& pair : pairs) {
    pair = makeEdge(index(pair.src) * spread, index(pair.dst) * spread);
  }
  double list_bytes = 0.0;
  for (const Edge& pair : pairs) {
    list_bytes += static_cast<double>(sizeof(NodeId) *
                                      std::min(graph.degree(pair.src), graph.degree(pair.dst)));
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(scorer.score(pairs));
  }
  state.counters["pairs/s"] = benchmark::Counter(static_cast<double>(kPairs),
                                                 benchmark::Counter::kIsIterationInvariantRate);
  state.counters["floor_pairs/s"] = readBandwidth() * static_cast<double>(kPairs) / list_bytes;
  state.counters["read_GB/s"] = readBandwidth() / 1e9;
}

void walks(benchmark::State& state, Heuristic heuristic) {
  const HeuristicScorer scorer(denseGraph(), heuristic);
  std::vector<Edge> pairs = randomPairs(kPairs, 2);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    pairs[i].src = NodeId{static_cast<std::uint32_t>(i % kSources)};
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(scorer.score(pairs));
  }
  state.counters["sources/s"] = benchmark::Counter(static_cast<double>(kSources),
                                                   benchmark::Counter::kIsIterationInvariantRate);
}

void fullRanking(benchmark::State& state, Heuristic heuristic) {
  const HeuristicScorer scorer(denseGraph(), heuristic);
  std::vector<NodeId> sources;
  for (std::uint32_t node = 0; node < kSources; ++node) {
    sources.push_back(NodeId{node});
  }
  std::vector<double> out(kSources * kNodes);
  for (auto _ : state) {
    scorer.scoreSources(sources, out);
  }
  state.counters["sources/s"] = benchmark::Counter(static_cast<double>(kSources),
                                                   benchmark::Counter::kIsIterationInvariantRate);
}

void spectralBounds(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(edgewise::spectralRadiusBounds(denseGraph()));
  }
}

#define EDGEWISE_TIMED UseRealTime()->Unit(benchmark::kMillisecond)
BENCHMARK_CAPTURE(neighbourhood, cn, denseGraph, Heuristic::kCommonNeighbours)->EDGEWISE_TIMED;
BENCHMARK_CAPTURE(neighbourhood, aa, denseGraph, Heuristic::kAdamicAdar)->EDGEWISE_TIMED;
BENCHMARK_CAPTURE(neighbourhood, ra, denseGraph, Heuristic::kResourceAllocation)->EDGEWISE_TIMED;
BENCHMARK_CAPTURE(neighbourhood, jaccard, denseGraph, Heuristic::kJaccard)->EDGEWISE_TIMED;
BENCHMARK_CAPTURE(neighbourhood, cn_sparse, sparseGraph, Heuristic::kCommonNeighbours)
    ->EDGEWISE_TIMED;
BENCHMARK_CAPTURE(neighbourhood, aa_sparse, sparseGraph, Heuristic::kAdamicAdar)->EDGEWISE_TIMED;
BENCHMARK_CAPTURE(walks, katz, Heuristic::kKatz)->EDGEWISE_TIMED;
BENCHMARK_CAPTURE(walks, ppr, Heuristic::kPersonalizedPageRank)->EDGEWISE_TIMED;
BENCHMARK_CAPTURE(fullRanking, cn, Heuristic::kCommonNeighbours)->EDGEWISE_TIMED;
BENCHMARK(spectralBounds)->EDGEWISE_TIMED;
#undef EDGEWISE_TIMED

}  // namespace
