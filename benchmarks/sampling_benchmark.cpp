// Known-edge look-ups and negatives: ogbl-ddi's and PubMed's sizes.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "edgewise/graph/csr_graph.h"
#include "edgewise/sampling/edge_set.h"
#include "edgewise/sampling/hard_negatives.h"
#include "edgewise/sampling/negative_sampler.h"
#include "edgewise/util/rng.h"

namespace {

using edgewise::CounterRng;
using edgewise::CsrGraph;
using edgewise::Edge;
using edgewise::EdgeSet;
using edgewise::makeEdge;
using edgewise::NegativeKind;
using edgewise::NegativeSampler;
using edgewise::PairSpace;

constexpr std::uint32_t kDrugs = 4267;
constexpr std::size_t kInteractions = 1'300'000;
constexpr std::size_t kNegatives = 500'000;
constexpr std::uint32_t kPapers = 19'717;
constexpr std::size_t kCitations = 44'324;

std::vector<Edge> randomPairs(std::uint32_t nodes, std::size_t count) {
  edgewise::RngStream rng(1, "benchmark");
  std::vector<Edge> pairs;
  pairs.reserve(count);
  while (pairs.size() < count) {
    const auto src = static_cast<std::uint32_t>(rng.below(nodes));
    const auto dst = static_cast<std::uint32_t>(rng.below(nodes));
    if (src != dst) {
      pairs.push_back(makeEdge(src, dst));
    }
  }
  return pairs;
}

benchmark::Counter perSecond(std::size_t items) {
  return {static_cast<double>(items), benchmark::Counter::kIsIterationInvariantRate};
}

void buildEdgeSet(benchmark::State& state) {
  const std::vector<Edge> edges = randomPairs(kDrugs, kInteractions);
  for (auto _ : state) {
    benchmark::DoNotOptimize(EdgeSet::fromEdges(edges).size());
  }
  state.counters["edges/s"] = perSecond(edges.size());
}

void lookUpEdges(benchmark::State& state) {
  const std::vector<Edge> edges = randomPairs(kDrugs, kInteractions);
  const EdgeSet known = EdgeSet::fromEdges(edges);
  for (auto _ : state) {
    std::size_t found = 0;
    for (const Edge& edge : edges) {
      found += known.contains(makeEdge(index(edge.dst), index(edge.src) / 2)) ? 1 : 0;
    }
    benchmark::DoNotOptimize(found);
  }
  state.counters["lookups/s"] = perSecond(edges.size());
}

void sampleNegatives(benchmark::State& state, NegativeKind kind, bool distinct) {
  const std::vector<Edge> edges = randomPairs(kDrugs, kInteractions);
  const EdgeSet known = EdgeSet::fromEdges(edges);
  const CsrGraph graph = CsrGraph::fromEdges(kDrugs, edges);
  const NegativeSampler sampler({.node_count = kDrugs}, known, {.kind = kind, .distinct = distinct},
                                &graph);
  std::uint64_t seed = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(sampler.sample(kNegatives, CounterRng(++seed, "negatives")));
  }
  state.counters["pairs/s"] = perSecond(kNegatives);
}

void corruptTargets(benchmark::State& state) {
  constexpr std::size_t kEach = 100;
  const std::vector<Edge> edges = randomPairs(kPapers, kCitations);
  const EdgeSet known = EdgeSet::fromEdges(edges);
  const PairSpace space{.node_count = kPapers};
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        edgewise::corruptTargets(edges, kEach, space, known, CounterRng(1, "corrupt")));
  }
  state.counters["pairs/s"] = perSecond(edges.size() * kEach);
}

void hardNegatives(benchmark::State& state) {
  const std::vector<Edge> edges = randomPairs(kPapers, kCitations);
  const EdgeSet known = EdgeSet::fromEdges(edges);
  const CsrGraph graph = CsrGraph::fromEdges(kPapers, edges);
  const std::vector<Edge> positives(edges.begin(), edges.begin() + 500);
  const edgewise::HardNegativeSampler sampler(graph, {.node_count = kPapers}, known,
                                              {.per_positive = 250});
  for (auto _ : state) {
    benchmark::DoNotOptimize(sampler.sample(positives, CounterRng(1, "hard")));
  }
  state.counters["positives/s"] = perSecond(positives.size());
}

#define EDGEWISE_TIMED UseRealTime()->Unit(benchmark::kMillisecond)
BENCHMARK(buildEdgeSet)->EDGEWISE_TIMED;
BENCHMARK(lookUpEdges)->EDGEWISE_TIMED;
BENCHMARK_CAPTURE(sampleNegatives, uniform, NegativeKind::kUniform, false)->EDGEWISE_TIMED;
BENCHMARK_CAPTURE(sampleNegatives, uniform_distinct, NegativeKind::kUniform, true)->EDGEWISE_TIMED;
BENCHMARK_CAPTURE(sampleNegatives, degree_distinct, NegativeKind::kDegree, true)->EDGEWISE_TIMED;
BENCHMARK(corruptTargets)->EDGEWISE_TIMED;
BENCHMARK(hardNegatives)->EDGEWISE_TIMED;
#undef EDGEWISE_TIMED

}  // namespace
