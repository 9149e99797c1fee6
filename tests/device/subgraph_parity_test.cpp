// SEAL on a device against the same on the processor.
#include <gtest/gtest.h>

#include "edgewise/data/planted.h"
#include "edgewise/ops/sort_pool.h"
#include "edgewise/ops/tangent.h"
#include "edgewise/training/pair_model.h"
#include "edgewise/training/stored_model.h"
#include "support/devices.h"
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
    options.training.epochs = 2;
    options.training.batch_size = 32;
    options.training.learning_rate = 0.003;
  }
};

Tensors trained(const Problem& problem, at::Device device) {
  const auto model = makePairModel(problem.dataset, problem.split, problem.options);
  TrainerSetup setup{.options = problem.options.training,
                     .seed = 5,
                     .metrics = parseMetrics("auc"),
                     .chooser = chooserOf(*model, {}, problem.options, problem.dataset),
                     .device = device};
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
      testing::runOnBoth([&](at::Device device) { return trained(problem, device); });
  testing::expectClose(both.device, both.processor, 5e-3);
}

TEST_P(SubgraphParity, GivesTheSameBitsAgain) {
  EDGEWISE_NEEDS_DEVICE();
  const Problem problem(GetParam());
  const ImitatedDevice imitated;
  const Tensors once = trained(problem, testing::deviceUnderTest());
  const Tensors again = trained(problem, testing::deviceUnderTest());
  for (std::size_t i = 0; i < once.size(); ++i) {
    EXPECT_TRUE(testing::sameBits(once[i].to(at::kCPU), again[i].to(at::kCPU))) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Selectors, SubgraphParity, ::testing::Values("none", "rs"));

}  // namespace
}  // namespace edgewise
