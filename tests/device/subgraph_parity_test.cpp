// SEAL on a device against the same on the processor.
#include <gtest/gtest.h>

#include "edgewise/data/planted.h"
#include "edgewise/nn/dgcnn.h"
#include "edgewise/ops/sort_pool.h"
#include "edgewise/ops/tangent.h"
#include "edgewise/training/pair_model.h"
#include "edgewise/training/stored_model.h"
#include "support/devices.h"
#include "support/random_features.h"
#include "support/random_graphs.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::BothPlaces;
using testing::Tensors;

TEST(SortPoolParity, PicksTheSameRows) {
  EDGEWISE_NEEDS_DEVICE();
  // Quarters, of which many are equal.
  const at::Tensor x = (4 * testing::randomTensor({500, 3}, 1, at::kFloat)).round() / 4;
  const std::vector<std::uint64_t> offsets = {0, 7, 7, 8, 200, 500};
  const BothPlaces both = testing::runOnBoth([&](at::Device device) {
    const at::Tensor there = x.to(device).set_requires_grad(true);
    const at::Tensor rows = topRows(there.select(1, 2), offsets, 12);
    const at::Tensor picked = hyperbolicTangent(pickRows(there, rows));
    return Tensors{rows, picked.detach(), gradients((picked * picked).sum(), Tensors{there})[0]};
  });
  EXPECT_TRUE(at::equal(both.device[0], both.processor[0]));
  testing::expectClose(both.device[1], both.processor[1], 1e-6);
  testing::expectClose(both.device[2], both.processor[2], 1e-6);
}

// Subgraphs of many views, their scores and all gradients.
TEST(DgcnnParity, ScoresAndDifferentiatesTheSame) {
  EDGEWISE_NEEDS_DEVICE();
  constexpr std::size_t kNodes = 150;
  const FeatureMatrix features = testing::randomFeatures(kNodes, 12, 3);
  ParameterLayout layout;
  const auto input =
      std::make_shared<const NodeInput>(features, kNodes, NodeInputOptions{.embedding = 4}, layout);
  const Dgcnn network({.layers = 3, .hidden = 8}, {.sorted = 16}, input, layout);
  const CsrGraph graph = testing::randomGraph(kNodes, 300, 4);
  const std::vector<Edge> pairs = testing::randomPairs(kNodes, 40, 5);
  std::vector<HopView> views;
  for (std::uint32_t i = 0; i < pairs.size(); ++i) {
    views.push_back({1 + i % 3, 1 + i / 3 % 3});
  }
  const SubgraphInput subgraphs = network.prepare(SubgraphExtractor(graph).extract(pairs, views));
  const BothPlaces both = testing::runOnBoth([&](at::Device device) {
    // In doubles no two keys are so close that rounding orders them.
    const Parameters parameters = Parameters::initial(layout, 6, at::kDouble, device);
    const at::Tensor logits = network.logits(parameters, subgraphs, Noise(1, 2));
    Tensors results = gradients((logits * logits).sum(), parameters.tensors());
    results.push_back(logits.detach());
    return results;
  });
  testing::expectClose(both.device, both.processor, 1e-9);
}

struct Problem {
  Dataset dataset;
  LinkSplit split;
  RunOptions options;

  explicit Problem(const std::string& selector) {
    PlantedOptions planted;
    planted.nodes = 160;
    planted.communities = 4;
    dataset = makePlanted(planted);
    split = splitLinks(dataset, SplitOptions(), NegativeSettings(), 1);
    options.model = "seal";
    options.network.selector.kind = selector;
    options.subgraph.network.hidden = 8;
    options.training.epochs = 1;
    options.training.batch_size = 32;
    options.training.learning_rate = 0.003;
  }
};

// So many steps, or the whole epoch for 0.
Tensors trained(const Problem& problem, at::Device device, std::int64_t steps) {
  const auto model = makePairModel(problem.dataset, problem.split, problem.options);
  TrainerSetup setup{.options = problem.options.training,
                     .seed = 5,
                     .metrics = parseMetrics("auc"),
                     .chooser = chooserOf(*model, {}, problem.options, problem.dataset),
                     .device = device};
  setup.options.max_steps = steps;
  const auto trainer = model->trainer(problem.split.training, std::move(setup));
  TrainingState state = trainer->start();
  trainer->run(state, [](const TrainingState&) {}, silentProgress());
  std::vector<double> losses;
  for (const CurvePoint& point : state.curve) {
    losses.push_back(point.loss);
    losses.push_back(point.gradient_norm);
  }
  return {state.parameters.flat().detach(), at::tensor(losses)};
}

class SubgraphParity : public ::testing::TestWithParam<std::string> {};

TEST_P(SubgraphParity, TrainsToTheSameNumbers) {
  EDGEWISE_NEEDS_DEVICE();
  const Problem problem(GetParam());
  const BothPlaces both =
      testing::runOnBoth([&](at::Device device) { return trained(problem, device, 3); });
  // Losses and norms: Adam makes whole steps of gradients that are nothing but rounding.
  testing::expectClose(both.device[1], both.processor[1], 1e-3);
}

TEST_P(SubgraphParity, GivesTheSameBitsAgain) {
  EDGEWISE_NEEDS_DEVICE();
  const Problem problem(GetParam());
  const ImitatedDevice imitated;
  const Tensors once = trained(problem, testing::deviceUnderTest(), 0);
  const Tensors again = trained(problem, testing::deviceUnderTest(), 0);
  for (std::size_t i = 0; i < once.size(); ++i) {
    EXPECT_TRUE(testing::sameBits(once[i].to(at::kCPU), again[i].to(at::kCPU))) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Selectors, SubgraphParity, ::testing::Values("none", "rs"));

}  // namespace
}  // namespace edgewise
