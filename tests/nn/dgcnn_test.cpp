#include "edgewise/nn/dgcnn.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "edgewise/util/error.h"
#include "support/dense_models.h"
#include "support/random_graphs.h"
#include "support/tensors.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::expectClose;
using testing::expectFailure;
using testing::expectSameBitsForThreads;
using testing::maskTensor;
using testing::NamedParameters;
using testing::randomFeatures;
using testing::Tensors;

constexpr std::size_t kNodes = 60;
constexpr std::size_t kFeatures = 9;

struct Case {
  NodeLabelling labelling = NodeLabelling::kDrnl;
  bool features = true;
  std::int64_t embedding = 0;
  std::int64_t sorted = 13;
};

// A network, subgraphs of a small random graph, and random parameters.
struct Bench {
  explicit Bench(const Case& made, at::ScalarType type = at::kDouble)
      : wanted(made), features(randomFeatures(kNodes, kFeatures, 7)) {
    if (made.features || made.embedding > 0) {
      input =
          std::make_shared<const NodeInput>(made.features ? features : FeatureMatrix(), kNodes,
                                            NodeInputOptions{.embedding = made.embedding}, layout);
    }
    network.emplace(options, Dgcnn::Shape{.labels = labels(), .sorted = made.sorted}, input,
                    layout);
    parameters.emplace(layout, 11, type);
    batch = extracted();
    prepared = network->prepare(extracted());
  }

  [[nodiscard]] LabelOptions labels() const {
    return {.labelling = wanted.labelling, .max_label = 20, .max_distance = 3};
  }

  // Some far larger than what is kept, one of two lonely nodes.
  [[nodiscard]] SubgraphBatch extracted() const {
    std::vector<Edge> edges = testing::randomPairs(kNodes - 2, 90, 5);
    const CsrGraph graph = CsrGraph::fromEdges(kNodes, edges);
    const SubgraphExtractor extractor(graph, {.labels = labels()});
    std::vector<Edge> pairs = {edges[0], edges[1], makeEdge(58, 59), makeEdge(3, 40),
                               makeEdge(58, 1)};
    const std::vector<HopView> views = {{2, 2}, {1, 1}, {2, 2}, {1, 3}, {2, 1}};
    return extractor.extract(pairs, views);
  }

  Case wanted;
  FeatureMatrix features;
  DgcnnOptions options{.layers = 2, .hidden = 6, .label_width = 5, .dense = 8, .dropout = 0.4};
  ParameterLayout layout;
  std::shared_ptr<const NodeInput> input;
  std::optional<Dgcnn> network;
  std::optional<NamedParameters> parameters;
  SubgraphBatch batch;
  SubgraphInput prepared;
};

// (D + I)^-1/2 (A + I) (D + I)^-1/2 of one subgraph.
at::Tensor denseMessages(const SubgraphBatch& batch, std::size_t pair) {
  const std::size_t first = batch.node_offsets[pair];
  const auto nodes = static_cast<std::int64_t>(batch.nodeCount(pair));
  at::Tensor matrix = at::eye(nodes, at::TensorOptions(at::kDouble));
  for (std::int64_t row = 0; row < nodes; ++row) {
    const NodeId node{static_cast<std::uint32_t>(first + static_cast<std::size_t>(row))};
    for (const NodeId other : batch.graph.neighbours(node)) {
      matrix[row][static_cast<std::int64_t>(index(other) - first)] += 1;
    }
  }
  const at::Tensor scale = matrix.sum(1).rsqrt();
  return scale.unsqueeze(1) * matrix * scale.unsqueeze(0);
}

// What the nodes of one subgraph bring: the sum of their labels' embeddings, features, embedding.
at::Tensor denseInput(const Bench& bench, std::size_t pair) {
  const SubgraphBatch& batch = bench.batch;
  const NamedParameters& parameters = *bench.parameters;
  const auto count = static_cast<std::int64_t>(labelCount(bench.labels()));
  std::vector<at::Tensor> rows;
  for (std::size_t node = 0; node < batch.nodeCount(pair); ++node) {
    at::Tensor label = at::zeros({bench.options.label_width}, at::kDouble);
    for (std::size_t place = 0; place < batch.label_width; ++place) {
      label =
          label +
          parameters["labels.embedding"][static_cast<std::int64_t>(place) * count +
                                         batch.labelsOf(pair)[node * batch.label_width + place]];
    }
    std::vector<at::Tensor> parts = {label};
    const std::size_t original = index(batch.nodesOf(pair)[node]);
    if (bench.wanted.features) {
      std::vector<double> own;
      for (std::size_t column = 0; column < kFeatures; ++column) {
        own.push_back(bench.features.at(original, column));
      }
      parts.push_back(at::tensor(own, at::kDouble));
    }
    if (bench.wanted.embedding > 0) {
      parts.push_back(parameters["input.embedding"][static_cast<std::int64_t>(original)]);
    }
    rows.push_back(at::cat(parts));
  }
  return at::stack(rows);
}

// The kept nodes of one subgraph, [1, 1, sorted * width] as torch's convolution wants them.
at::Tensor densePooled(const Bench& bench, std::size_t pair) {
  const NamedParameters& parameters = *bench.parameters;
  const at::Tensor messages = denseMessages(bench.batch, pair);
  at::Tensor weight = parameters["dgcnn.0.label_weight"];
  if (bench.input) {
    weight = at::cat({weight, parameters["dgcnn.0.input_weight"]}, 0);
  }
  at::Tensor x =
      at::tanh(messages.mm(denseInput(bench, pair)).mm(weight) + parameters["dgcnn.0.bias"]);
  std::vector<at::Tensor> layers = {x};
  for (std::int64_t i = 1; i <= bench.options.layers; ++i) {
    const std::string name = "dgcnn." + std::to_string(i);
    x = at::tanh(messages.mm(x).mm(parameters[name + ".weight"]) + parameters[name + ".bias"]);
    layers.push_back(x);
  }
  const at::Tensor order = at::argsort(x.detach().reshape({-1}), 0, /*descending=*/true);
  at::Tensor kept = at::cat(layers, 1).index_select(0, order);
  const std::int64_t missing = bench.wanted.sorted - kept.size(0);
  kept = missing > 0 ? at::cat({kept, at::zeros({missing, kept.size(1)}, at::kDouble)})
                     : kept.narrow(0, 0, bench.wanted.sorted);
  return kept.reshape({1, 1, -1});
}

at::Tensor denseLogits(const Bench& bench, const Noise& noise) {
  const NamedParameters& parameters = *bench.parameters;
  const std::int64_t width = bench.options.layers * bench.options.hidden + 1;
  std::vector<at::Tensor> flat;
  for (std::size_t pair = 0; pair < bench.batch.pairCount(); ++pair) {
    const at::Tensor first =
        at::conv1d(densePooled(bench, pair), parameters["sorted.0.weight"].t().unsqueeze(1),
                   parameters["sorted.0.bias"], /*stride=*/width);
    const at::Tensor halved = at::max_pool1d(at::relu(first), 2, 2);
    const at::Tensor second = at::conv1d(
        halved, parameters["sorted.1.weight"].view({5, 16, 32}).permute({2, 1, 0}).contiguous(),
        parameters["sorted.1.bias"]);
    flat.push_back(at::relu(second).permute({0, 2, 1}).reshape({1, -1}));
  }
  at::Tensor hidden = at::cat(flat, 0).mm(parameters["head.0.weight"]) + parameters["head.0.bias"];
  hidden =
      at::relu(hidden) * maskTensor(noise.mask("head.0", bench.options.dropout), hidden.sizes());
  return (hidden.mm(parameters["head.1.weight"]) + parameters["head.1.bias"]).reshape({-1});
}

at::Tensor weighted(const at::Tensor& logits) {
  return (logits * testing::randomTensor(logits.sizes(), 17, logits.scalar_type())).sum();
}

const std::vector<Case> kCases = {{},
                                  {.labelling = NodeLabelling::kDistances, .embedding = 4},
                                  {.labelling = NodeLabelling::kZeroOne, .features = false},
                                  {.features = false, .embedding = 3, .sorted = 10},
                                  {.sorted = 40}};

TEST(Dgcnn, EqualsADenseComputationWithItsGradients) {
  for (const Case& each : kCases) {
    const Bench bench(each);
    for (const Noise& noise : {Noise(), Noise(4, 2)}) {
      const Parameters& values = bench.parameters->values();
      const at::Tensor ours = bench.network->logits(values, bench.prepared, noise);
      const at::Tensor dense = denseLogits(bench, noise);
      expectClose(ours, dense);
      expectClose(gradients(weighted(ours), values.tensors()),
                  gradients(weighted(dense), values.tensors()));
    }
  }
}

TEST(Dgcnn, HasTheGradientsOfFiniteDifferences) {
  const Bench bench({.labelling = NodeLabelling::kDistances, .embedding = 4});
  const Parameters& values = bench.parameters->values();
  const auto value_at = [&](const Parameters& at) {
    return weighted(bench.network->logits(at, bench.prepared, Noise(4, 2)));
  };
  const at::Tensor slope = flattened(gradients(value_at(values), values.tensors()));
  constexpr double kStep = 1e-6;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const at::Tensor direction = testing::randomTensor(slope.sizes(), 100 + seed);
    const auto moved = [&](double step) {
      const Parameters there = values.clone();
      there.flat().add_(direction, step);
      return value_at(there).item<double>();
    };
    const double along = (slope * direction).sum().item<double>();
    EXPECT_NEAR((moved(kStep) - moved(-kStep)) / (2 * kStep), along,
                1e-5 * std::max(1.0, std::abs(along)));
  }
}

// A pair's score depends on its own subgraph alone.
TEST(Dgcnn, ScoresEachPairApart) {
  const Bench bench({});
  const at::Tensor all =
      bench.network->logits(bench.parameters->values(), bench.prepared, Noise()).detach();
  const CsrGraph graph = CsrGraph::fromEdges(kNodes, testing::randomPairs(kNodes - 2, 90, 5));
  const SubgraphExtractor extractor(graph, {.labels = bench.labels()});
  const std::vector<Edge> pair = {makeEdge(3, 40)};
  const at::Tensor alone = bench.network->logits(
      bench.parameters->values(), bench.network->prepare(extractor.extract(pair, HopView{1, 3})),
      Noise());
  expectClose(alone.detach(), all.narrow(0, 3, 1), 1e-12);
}

TEST(Dgcnn, DoesNotDependOnThreads) {
  const Bench bench({.embedding = 4}, at::kFloat);
  // Enough pairs for several blocks of every loop.
  const CsrGraph graph = testing::randomGraph(kNodes, 150, 9);
  const SubgraphExtractor extractor(graph, {.labels = bench.labels()});
  const std::vector<Edge> pairs = testing::randomPairs(kNodes, 700, 10);
  const SubgraphInput input = bench.network->prepare(extractor.extract(pairs, HopView{2, 2}));
  const Parameters& values = bench.parameters->values();
  expectSameBitsForThreads([&] {
    const at::Tensor logits = bench.network->logits(values, input, Noise(1, 1));
    Tensors result = gradients((logits * logits).sum(), values.tensors());
    result.push_back(logits.detach());
    return result;
  });
}

TEST(Dgcnn, KeepsWhatMostSubgraphsHave) {
  std::vector<std::size_t> counts(100);
  std::iota(counts.begin(), counts.end(), std::size_t{1});
  std::ranges::reverse(counts);
  EXPECT_EQ(sortedNodes(counts, 0.6), 60);
  EXPECT_EQ(sortedNodes(counts, 1), 100);
  EXPECT_EQ(sortedNodes(counts, 0.05), kFewestSortedNodes);
  EXPECT_EQ(sortedNodes({}, 0.6), kFewestSortedNodes);
}

TEST(Dgcnn, RefusesToKeepTooFew) {
  ParameterLayout layout;
  expectFailure<ConfigError>([&] { const Dgcnn network({}, {.sorted = 9}, nullptr, layout); },
                             "seal.sort_nodes=9");
}

}  // namespace
}  // namespace edgewise
