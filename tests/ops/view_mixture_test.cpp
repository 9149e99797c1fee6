#include "edgewise/ops/view_mixture.h"

#include <gtest/gtest.h>

#include <limits>
#include <tuple>
#include <vector>

#include "support/random_graphs.h"
#include "support/tensors.h"
#include "support/test_support.h"
#include "support/view_cases.h"

namespace edgewise {
namespace {

using testing::expectClose;
using testing::expectFailure;
using testing::expectSameBitsForThreads;
using testing::randomLeaf;
using testing::randomPairs;
using testing::randomTensor;
using testing::sameBits;
using testing::somePairs;
using testing::Tensors;
using testing::viewsOf;

constexpr double kTolerance = 1e-12;

struct MixCase {
  std::shared_ptr<const PairIndex> pairs;
  std::vector<LayerPair> views;
  // Layers, then weights.
  Tensors inputs = {};

  MixCase(std::span<const Edge> edges, std::size_t layers, std::int64_t width,
          at::ScalarType type = at::kDouble, std::size_t nodes = 11)
      : pairs(PairIndex::make(edges, nodes)), views(viewsOf(static_cast<std::uint32_t>(layers))) {
    for (std::size_t i = 0; i < layers; ++i) {
      inputs.push_back(randomLeaf({static_cast<std::int64_t>(nodes), width}, 10 + i, type));
    }
    inputs.push_back(randomLeaf(
        {static_cast<std::int64_t>(views.size()), static_cast<std::int64_t>(edges.size())}, 40,
        type));
  }
  [[nodiscard]] Tensors fused(const Tensors& in) const {
    return {mixedPairs(std::span(in).first(in.size() - 1), pairs, views, in.back())};
  }
  [[nodiscard]] Tensors plain(const Tensors& in) const {
    return {mixViews(viewPairs(std::span(in).first(in.size() - 1), pairs, views), in.back())};
  }
};

TEST(MixedPairs, EqualTheMixtureOfAllViewsWithItsGradients) {
  for (const std::size_t depth : {1U, 2U, 3U}) {
    for (const std::size_t count : {1U, 9U, 200U}) {
      const MixCase with(somePairs(count), depth, 5);
      const Tensors got = with.fused(with.inputs);
      const Tensors want = with.plain(with.inputs);
      EXPECT_TRUE(sameBits(got[0], want[0]));
      expectClose(gradients(testing::probe(got), with.inputs),
                  gradients(testing::probe(want), with.inputs), kTolerance);
    }
  }
  const MixCase none({}, 2, 3);
  EXPECT_EQ(none.fused(none.inputs)[0].sizes(), (std::vector<std::int64_t>{0, 3}));
}

TEST(MixedPairs, AllWeightOnOneViewIsThatView) {
  MixCase with(somePairs(20), 3, 6, at::kFloat);
  const auto count = static_cast<std::int64_t>(with.pairs->size());
  at::Tensor weights = at::zeros({9, count}, at::kFloat);
  auto choice = std::make_shared<std::vector<LayerPair>>();
  for (std::int64_t p = 0; p < count; ++p) {
    weights[p * 5 % 9][p] = 1;
    choice->push_back(with.views[static_cast<std::size_t>(p * 5 % 9)]);
  }
  const Tensors layers(with.inputs.begin(), with.inputs.end() - 1);
  const at::Tensor mixed = mixedPairs(layers, with.pairs, with.views, weights);
  const at::Tensor chosen = chosenPairs(layers, with.pairs, choice);
  EXPECT_TRUE(sameBits(mixed, chosen));
  const Tensors ours = gradients(testing::probe({mixed}), layers);
  const Tensors theirs = gradients(testing::probe({chosen}), layers);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    EXPECT_TRUE(sameBits(ours[i], theirs[i])) << i;
  }
}

TEST(MixedPairs, ViewsWithoutWeightAreLeftOut) {
  const MixCase with(somePairs(6), 2, 4);
  Tensors inputs = with.inputs;
  inputs[1] = at::full_like(inputs[1], std::numeric_limits<double>::infinity());
  at::Tensor weights = inputs.back().detach().clone();
  weights.narrow(0, 1, 3).zero_();
  inputs.back() = weights;
  EXPECT_TRUE(at::isfinite(with.fused(inputs)[0]).all().item<bool>());
}

TEST(MixedPairs, GiveTheSameBitsForAnyThreadCount) {
  const MixCase with(randomPairs(300, 3000, 3), 3, 33, at::kFloat, 300);
  expectSameBitsForThreads([&] {
    Tensors result = with.fused(with.inputs);
    const Tensors slopes =
        gradients((result[0] * randomTensor(result[0].sizes(), 5, at::kFloat)).sum(), with.inputs);
    result.insert(result.end(), slopes.begin(), slopes.end());
    return result;
  });
}

TEST(MixedPairs, RefuseWhatDoesNotFit) {
  const MixCase with(somePairs(4), 2, 4);
  const Tensors layers(with.inputs.begin(), with.inputs.end() - 1);
  const auto refuse = [&](const Tensors& of, const std::vector<LayerPair>& views,
                          const at::Tensor& weights, const char* text) {
    expectFailure<ShapeError>([&] { std::ignore = mixedPairs(of, with.pairs, views, weights); },
                              text);
  };
  refuse({}, with.views, with.inputs.back(), "a layer and a view");
  refuse(layers, {}, with.inputs.back(), "a layer and a view");
  refuse(layers, {{2, 0}}, with.inputs.back(), "view (3, 1) of 2 layers");
  refuse(layers, with.views, randomTensor({3, 7}, 1), "weights [3, 7] for 4 views of 7 pairs");
  refuse(layers, with.views, randomTensor({4, 6}, 1), "weights [4, 6]");
  refuse(layers, with.views, randomTensor({4, 7}, 1, at::kFloat), "weights are Float");
  refuse(layers, with.views, randomTensor({28}, 1), "1 dimensions");
}

TEST(ViewMixture, RefusesWhatDoesNotFit) {
  const MixCase with(somePairs(4), 2, 4);
  const Tensors layers(with.inputs.begin(), with.inputs.end() - 1);
  const Tensors z = viewPairs(layers, with.pairs, with.views);
  const auto refuse_mix = [&](const Tensors& views, const at::Tensor& weights, const char* text) {
    expectFailure<ShapeError>([&] { std::ignore = mixViews(views, weights); }, text);
  };
  refuse_mix({}, with.inputs.back(), "needs a view");
  refuse_mix(z, randomTensor({3, 7}, 1), "weights [3, 7] for 4 views of 7 pairs");
  refuse_mix(z, randomTensor({4, 6}, 1), "weights [4, 6]");
  refuse_mix({z[0], randomTensor({7, 5}, 1)}, randomTensor({2, 7}, 1), "[7, 4] and [7, 5]");
  expectFailure<ShapeError>([] { std::ignore = viewSoftmax(randomTensor({0, 7}, 1), 1); },
                            "needs a view");
  expectFailure<ShapeError>([] { std::ignore = viewSoftmax(randomTensor({7}, 1), 1); },
                            "1 dimensions");
  const auto refuse_choice = [&](const Tensors& of, std::size_t count, LayerPair view,
                                 const char* text) {
    const auto choice = std::make_shared<const std::vector<LayerPair>>(count, view);
    expectFailure<ShapeError>([&] { std::ignore = chosenPairs(of, with.pairs, choice); }, text);
  };
  refuse_choice({}, 7, {0, 0}, "needs a layer");
  refuse_choice(layers, 6, {0, 0}, "6 choices for 7 pairs");
  refuse_choice(layers, 7, {0, 2}, "view (1, 3) of 2 layers");
  refuse_choice({layers[0], randomTensor({11, 5}, 1)}, 7, {0, 0}, "4 (Double) and 5 (Double)");
  refuse_choice({randomTensor({10, 4}, 1)}, 7, {0, 0}, "11 nodes against 10 rows");
}

}  // namespace
}  // namespace edgewise
