#include "edgewise/ops/view_scores.h"

#include <gtest/gtest.h>

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
using testing::expectFiniteDifferences;
using testing::expectSameBitsForThreads;
using testing::randomLeaf;
using testing::randomPairs;
using testing::randomTensor;
using testing::sameBits;
using testing::somePairs;
using testing::Tensors;
using testing::viewsOf;

constexpr double kTolerance = 1e-12;

// An MLP on the views of a few layers.
struct ScoreCase {
  std::shared_ptr<const PairIndex> pairs;
  std::vector<LayerPair> views;
  std::size_t depth = 0;
  std::size_t weights = 0;
  // Layers, weights, biases.
  Tensors inputs = {};

  ScoreCase(std::span<const Edge> edges, std::size_t layers,
            const std::vector<std::int64_t>& widths, bool biased, at::ScalarType type = at::kDouble,
            std::size_t nodes = 11)
      : pairs(PairIndex::make(edges, nodes)),
        views(viewsOf(static_cast<std::uint32_t>(layers))),
        depth(layers),
        weights(widths.size() - 1) {
    for (std::size_t i = 0; i < layers; ++i) {
      inputs.push_back(
          randomLeaf({static_cast<std::int64_t>(nodes), widths.front()}, 10 + i, type));
    }
    for (std::size_t i = 0; i < weights; ++i) {
      inputs.push_back(randomLeaf({widths[i], widths[i + 1]}, 20 + i, type));
    }
    for (std::size_t i = 0; biased && i < weights; ++i) {
      inputs.push_back(randomLeaf({widths[i + 1]}, 30 + i, type));
    }
  }

  [[nodiscard]] Tensors fused(const Tensors& in) const {
    const std::span all(in);
    return {viewScores(all.first(depth), pairs, views, all.subspan(depth, weights),
                       all.subspan(depth + weights))};
  }
  // By torch's own operations, all views at once.
  [[nodiscard]] Tensors plain(const Tensors& in) const {
    const Tensors z = viewPairs(std::span(in).first(depth), pairs, views);
    at::Tensor h = at::cat(z, 0);
    for (std::size_t i = 0; i < weights; ++i) {
      h = at::matmul(i == 0 ? h : at::relu(h), in[depth + i]);
      if (in.size() > depth + weights) {
        h = h + in[depth + weights + i];
      }
    }
    return {h.view({static_cast<std::int64_t>(views.size()), -1})};
  }
};

void expectSameScores(const ScoreCase& with) {
  const Tensors got = with.fused(with.inputs);
  const Tensors want = with.plain(with.inputs);
  expectClose(got, want, kTolerance);
  expectClose(gradients(testing::probe(got), with.inputs),
              gradients(testing::probe(want), with.inputs), kTolerance);
}

TEST(ViewScores, EqualTheMlpOnEveryViewWithItsGradients) {
  for (const std::size_t depth : {1U, 2U, 3U}) {
    for (const auto& widths : std::vector<std::vector<std::int64_t>>{
             {4, 1}, {4, 8, 1}, {5, 40, 1}, {4, 33, 7, 1}, {3, 6, 32, 5, 1}}) {
      for (const bool biased : {true, false}) {
        for (const std::size_t count : {1U, 5U, 30U}) {
          SCOPED_TRACE(::testing::Message() << depth << " layers, " << widths.size() << " widths, "
                                            << biased << ", " << count << " pairs");
          expectSameScores(ScoreCase(somePairs(count), depth, widths, biased));
        }
      }
    }
  }
}

TEST(ViewScores, TakeOnePairAndNone) {
  const std::vector<Edge> one = {makeEdge(2, 5)};
  expectSameScores(ScoreCase(one, 2, {4, 8, 1}, true));
  const ScoreCase none({}, 2, {4, 8, 1}, true);
  expectSameScores(none);
  EXPECT_EQ(none.fused(none.inputs)[0].sizes(), (std::vector<std::int64_t>{4, 0}));
}

// Hidden layers so wide that a few pairs fill a block, and pieces of several blocks.
TEST(ViewScores, AreTheSameAcrossBlocks) {
  expectSameScores(ScoreCase(somePairs(700), 3, {8, 1500, 1}, true));
  expectSameScores(ScoreCase(somePairs(300), 2, {8, 700, 600, 1}, true));
}

TEST(ViewScores, SlopesAreThoseOfFiniteDifferences) {
  const ScoreCase with(somePairs(12), 2, {4, 9, 5, 1}, true);
  expectFiniteDifferences([&](const Tensors& in) { return with.fused(in); }, with.inputs);
}

TEST(ViewScores, MayLeaveOutSomeBiases) {
  const ScoreCase with(somePairs(12), 2, {4, 8, 1}, true);
  const Tensors weights = {with.inputs[2], with.inputs[3]};
  const Tensors layers = {with.inputs[0], with.inputs[1]};
  const Tensors first = {with.inputs[4], at::Tensor()};
  Tensors inputs = with.inputs;
  inputs[5] = at::zeros({1}, at::kDouble);
  const at::Tensor got = viewScores(layers, with.pairs, with.views, weights, first);
  expectClose(got, with.plain(inputs)[0], kTolerance);
  const Tensors wanted = {with.inputs[3], with.inputs[4]};
  expectClose(gradients(testing::probe({got}), wanted),
              gradients(testing::probe(with.plain(inputs)), wanted), kTolerance);
}

// What is not asked for is not computed; what is must not change by that.
TEST(ViewScores, GradientsDoNotDependOnWhichAreAskedFor) {
  const ScoreCase with(somePairs(40), 2, {4, 8, 6, 1}, true);
  const Tensors all = gradients(testing::probe(with.fused(with.inputs)), with.inputs);
  const auto some = [&](std::size_t begin, std::size_t end) {
    const Tensors asked(with.inputs.begin() + begin, with.inputs.begin() + end);
    const Tensors got = gradients(testing::probe(with.fused(with.inputs)), asked);
    for (std::size_t i = begin; i < end; ++i) {
      EXPECT_TRUE(sameBits(got[i - begin], all[i])) << i;
    }
  };
  some(0, 2);
  some(2, with.inputs.size());
  some(3, 4);
  some(1, 2);
}

TEST(ViewScores, DoNotDependOnGradientsBeingWanted) {
  const ScoreCase with(somePairs(40), 3, {8, 70, 1}, true, at::kFloat);
  const at::Tensor recorded = with.fused(with.inputs)[0];
  const WithoutGradients guard;
  EXPECT_TRUE(sameBits(with.fused(with.inputs)[0], recorded));
}

TEST(ViewScores, TakeAnyLayoutInMemory) {
  const ScoreCase with(somePairs(9), 2, {4, 8, 1}, true);
  Tensors turned = with.inputs;
  for (at::Tensor& tensor : turned) {
    tensor = tensor.detach().t().contiguous().t().set_requires_grad(true);
  }
  EXPECT_TRUE(sameBits(with.fused(turned)[0], with.fused(with.inputs)[0]));
  expectClose(gradients(testing::probe(with.fused(turned)), turned),
              gradients(testing::probe(with.fused(with.inputs)), with.inputs), kTolerance);
}

TEST(ViewScores, GiveTheSameBitsForAnyThreadCount) {
  for (const auto& widths :
       std::vector<std::vector<std::int64_t>>{{33, 256, 1}, {16, 130, 70, 1}, {40, 1}}) {
    const ScoreCase with(randomPairs(300, 3000, 3), 3, widths, true, at::kFloat, 300);
    expectSameBitsForThreads([&] {
      Tensors result = with.fused(with.inputs);
      const Tensors slopes = gradients(
          (result[0] * randomTensor(result[0].sizes(), 5, at::kFloat)).sum(), with.inputs);
      result.insert(result.end(), slopes.begin(), slopes.end());
      return result;
    });
  }
}

TEST(ViewScores, RefuseToBeDifferentiatedTwice) {
  const ScoreCase with(somePairs(4), 2, {4, 8, 1}, true);
  const at::Tensor value = testing::probe(with.fused(with.inputs));
  EXPECT_ANY_THROW(std::ignore = gradients(value, with.inputs, GradientUse::kAgain));
}

TEST(ViewScores, RefuseWhatDoesNotFit) {
  const ScoreCase with(somePairs(4), 2, {4, 8, 1}, true);
  const Tensors layers(with.inputs.begin(), with.inputs.begin() + 2);
  const Tensors weights(with.inputs.begin() + 2, with.inputs.begin() + 4);
  const auto refuse = [&](const Tensors& of, const std::vector<LayerPair>& views, const Tensors& by,
                          const Tensors& biases, const char* text) {
    expectFailure<ShapeError>([&] { std::ignore = viewScores(of, with.pairs, views, by, biases); },
                              text);
  };
  refuse({}, with.views, weights, {}, "a layer and a view");
  refuse(layers, {}, weights, {}, "a layer and a view");
  refuse(layers, {{0, 2}}, weights, {}, "view (1, 3) of 2 layers");
  refuse(layers, with.views, {}, {}, "0 weights");
  refuse(layers, with.views, weights, {randomTensor({8}, 1)}, "2 weights with 1 biases");
  refuse(layers, with.views, {weights[0]}, {}, "8 columns, not 1");
  refuse(layers, with.views, {weights[1]}, {}, "8 rows");
  refuse(layers, with.views, {weights[0], weights[1].to(at::kFloat)}, {}, "(Float)");
  refuse(layers, with.views, weights, {randomTensor({7}, 1), at::Tensor()}, "7 entries");
}

}  // namespace
}  // namespace edgewise
