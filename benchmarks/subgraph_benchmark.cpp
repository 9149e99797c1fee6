// Enclosing subgraphs a second, with double-radius labels, of the training pairs of real graphs:
// positives and as many uniform negatives, in batches as a trainer would ask for them. Needs the
// datasets under $EDGEWISE_DATA and leaves out those that are not there.
//
// `nodes` and `entries` are a pair's on average, `batch_MiB` is the largest batch.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "edgewise/data/catalogue.h"
#include "edgewise/data/link_split.h"
#include "edgewise/sampling/edge_set.h"
#include "edgewise/sampling/enclosing_subgraph.h"
#include "edgewise/sampling/negative_sampler.h"
#include "edgewise/util/error.h"
#include "edgewise/util/parallel.h"
#include "edgewise/util/rng.h"

namespace edgewise {
namespace {

constexpr std::size_t kMostPairs = 20'000;

struct TrainingPairs {
  CsrGraph graph;
  std::vector<Edge> pairs;
};

TrainingPairs trainingPairs(const std::string& name) {
  LoadOptions offline;
  offline.download = false;
  const Dataset dataset = loadDataset(findDataset(name), dataRoot(), offline);
  const LinkSplit split = splitLinks(dataset, {}, {}, 1);
  TrainingPairs made{.graph = messageGraph(dataset, split.training.message),
                     .pairs = split.training.supervision.table.edges};
  const EdgeSet known = EdgeSet::fromEdges(dataset.edges.edges);
  const std::vector<Edge> negatives = uniformNonEdges(
      made.pairs.size(), {.node_count = dataset.node_count}, known, CounterRng(1, "benchmark"));
  made.pairs.insert(made.pairs.end(), negatives.begin(), negatives.end());
  RngStream(1, "benchmark order").shuffle(std::span(made.pairs));
  made.pairs.resize(std::min(made.pairs.size(), kMostPairs));
  return made;
}

// Every node hangs on about half of a few hubs and on nothing else: the rows of what a pair sees
// are thousands of times as long as its subgraph.
TrainingPairs pairsAroundHubs() {
  constexpr std::uint32_t kNodes = 100'000;
  constexpr std::uint32_t kHubs = 20;
  RngStream random(1, "hubs");
  std::vector<Edge> edges;
  std::vector<Edge> pairs;
  for (std::uint32_t node = kHubs; node < kNodes; ++node) {
    for (std::uint32_t hub = 0; hub < kHubs; ++hub) {
      if (random.below(2) == 0) {
        edges.push_back(makeEdge(hub, node));
      }
    }
  }
  for (std::uint32_t node = kHubs; pairs.size() < kMostPairs / 10; node += 2) {
    pairs.push_back(makeEdge(node, node + 1));
  }
  return {.graph = CsrGraph::fromEdges(kNodes, edges), .pairs = pairs};
}

struct Case {
  std::string dataset;
  HopView view;
  std::size_t batch_size;
  HopSampling sampling = {};
  // Read from a file that the first round has filled.
  bool stored = false;
};

// A folder that is gone afterwards.
class StoreFolder {
 public:
  StoreFolder() { std::filesystem::create_directories(path_); }
  StoreFolder(const StoreFolder&) = delete;
  StoreFolder& operator=(const StoreFolder&) = delete;
  StoreFolder(StoreFolder&&) = delete;
  StoreFolder& operator=(StoreFolder&&) = delete;
  ~StoreFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_ = std::filesystem::temp_directory_path() / "edgewise-subgraphs";
};

double bytesOf(const SubgraphBatch& batch) {
  return static_cast<double>(batch.node_offsets.size() * sizeof(std::uint64_t) +
                             batch.nodes.size() * sizeof(NodeId) +
                             batch.labels.size() * sizeof(std::uint32_t) +
                             batch.graph.offsets().size() * sizeof(std::uint64_t) +
                             batch.graph.entryCount() * sizeof(NodeId));
}

void extractPairs(benchmark::State& state, const Case& asked) {
  TrainingPairs training;
  try {
    training = asked.dataset == "hubs" ? pairsAroundHubs() : trainingPairs(asked.dataset);
  } catch (const Error& error) {
    state.SkipWithError(error.what());
    return;
  }
  const StoreFolder folder;
  ExtractionOptions options{.sampling = asked.sampling};
  if (asked.stored) {
    options.store.folder = folder.path();
  }
  const SubgraphExtractor extractor(training.graph, options);
  const std::span<const Edge> pairs(training.pairs);
  if (asked.stored) {
    for (const Edge& pair : pairs) {
      (void)extractor.extract({&pair, 1}, asked.view);
    }
  }
  std::size_t nodes = 0;
  std::size_t entries = 0;
  double most_bytes = 0;
  for ([[maybe_unused]] const auto _ : state) {
    for (std::size_t begin = 0; begin < pairs.size(); begin += asked.batch_size) {
      const SubgraphBatch batch = extractor.extract(
          pairs.subspan(begin, std::min(asked.batch_size, pairs.size() - begin)), asked.view);
      nodes += batch.nodes.size();
      entries += batch.graph.entryCount();
      most_bytes = std::max(most_bytes, bytesOf(batch));
    }
  }
  const auto links = static_cast<double>(state.iterations()) * static_cast<double>(pairs.size());
  state.counters["links/s"] = benchmark::Counter(links, benchmark::Counter::kIsRate);
  state.counters["nodes"] = static_cast<double>(nodes) / links;
  state.counters["entries"] = static_cast<double>(entries) / links;
  state.counters["batch_MiB"] = most_bytes / (1024.0 * 1024.0);
  state.counters["threads"] = threadCount();
}

#define EDGEWISE_TIMED UseRealTime()->Unit(benchmark::kMillisecond)
BENCHMARK_CAPTURE(extractPairs, cora_1_hop, {"cora", {1, 1}, 1024})->EDGEWISE_TIMED;
BENCHMARK_CAPTURE(extractPairs, cora_2_hops, {"cora", {2, 2}, 1024})->EDGEWISE_TIMED;
BENCHMARK_CAPTURE(extractPairs, cora_3_hops, {"cora", {3, 3}, 1024})->EDGEWISE_TIMED;
BENCHMARK_CAPTURE(extractPairs, pubmed_2_hops, {"pubmed", {2, 2}, 256})->EDGEWISE_TIMED;
BENCHMARK_CAPTURE(extractPairs, pubmed_3_hops, {"pubmed", {3, 3}, 256})->EDGEWISE_TIMED;
BENCHMARK_CAPTURE(extractPairs, cora_2_hops_stored, {"cora", {2, 2}, 1024, {}, true})
    ->EDGEWISE_TIMED;
BENCHMARK_CAPTURE(extractPairs, pubmed_2_hops_stored, {"pubmed", {2, 2}, 256, {}, true})
    ->EDGEWISE_TIMED;
BENCHMARK_CAPTURE(extractPairs, pubmed_3_hops_stored, {"pubmed", {3, 3}, 256, {}, true})
    ->EDGEWISE_TIMED;
BENCHMARK_CAPTURE(extractPairs, pubmed_3_hops_of_100, {"pubmed", {3, 3}, 256, {.max_nodes = 100}})
    ->EDGEWISE_TIMED;
BENCHMARK_CAPTURE(extractPairs, ddi_1_hop_of_10, {"ogbl-ddi", {1, 1}, 256, {.max_nodes = 10}})
    ->EDGEWISE_TIMED;
BENCHMARK_CAPTURE(extractPairs, ddi_1_hop_of_100, {"ogbl-ddi", {1, 1}, 256, {.max_nodes = 100}})
    ->EDGEWISE_TIMED;
BENCHMARK_CAPTURE(extractPairs, ddi_1_hop_of_a_fifth, {"ogbl-ddi", {1, 1}, 256, {.ratio = 0.2}})
    ->EDGEWISE_TIMED;
BENCHMARK_CAPTURE(extractPairs, ddi_2_hops_of_50, {"ogbl-ddi", {2, 2}, 256, {.max_nodes = 50}})
    ->EDGEWISE_TIMED;
BENCHMARK_CAPTURE(extractPairs, hubs_1_hop, {"hubs", {1, 1}, 256})->EDGEWISE_TIMED;
#undef EDGEWISE_TIMED

}  // namespace
}  // namespace edgewise
