#include "edgewise/nn/parameters.h"

#include <gtest/gtest.h>

#include <cmath>

#include "edgewise/nn/node_input.h"
#include "edgewise/nn/noise.h"
#include "edgewise/nn/predictor.h"
#include "support/dense_models.h"
#include "support/random_features.h"
#include "support/tensors.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::denseFeatures;
using testing::DenseMlp;
using testing::expectClose;
using testing::expectFailure;
using testing::expectSameDerivatives;
using testing::maskTensor;
using testing::NamedParameters;
using testing::randomFeatures;
using testing::randomLeaf;
using testing::randomTensor;
using testing::sameBits;
using testing::Tensors;

using Shape = std::vector<std::int64_t>;

ParameterLayout smallLayout() {
  ParameterLayout layout;
  layout.add("a.weight", {3, 4}, Initial::glorot(3, 4));
  layout.add("a.bias", {4}, Initial::constant(0.25));
  layout.add("scalar", {}, Initial::normal(2));
  layout.add("none", {0, 7}, Initial::fanIn(7));
  layout.add("b.weight", {4, 2}, Initial::fanIn(4));
  return layout;
}

TEST(Parameters, LieOneAfterAnother) {
  const ParameterLayout layout = smallLayout();
  EXPECT_EQ(layout.totalSize(), 25);
  std::int64_t offset = 0;
  for (const ParameterLayout::Entry& entry : layout.entries()) {
    EXPECT_EQ(entry.offset, offset) << entry.name;
    offset += entry.size;
  }
  const Parameters values = Parameters::initial(layout, 1);
  EXPECT_EQ(values.size(), 25);
  EXPECT_EQ(values.flat().sizes(), Shape{25});
  EXPECT_EQ(values.flat().scalar_type(), at::kFloat);
  ASSERT_EQ(values.tensors().size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    const at::Tensor& tensor = values[static_cast<ParameterId>(i)];
    EXPECT_EQ(tensor.sizes(), layout.entries()[i].shape);
    EXPECT_TRUE(tensor.is_leaf() && tensor.requires_grad() && tensor.is_contiguous());
  }
  EXPECT_FALSE(values.flat().requires_grad());
}

TEST(Parameters, HaveNamesThatDiffer) {
  ParameterLayout layout = smallLayout();
  EXPECT_THROW((void)layout.add("a.bias", {1}, Initial::constant(0)), std::logic_error);
}

TEST(Parameters, ShareTheirMemoryWithTheFlatBuffer) {
  const Parameters values = Parameters::initial(smallLayout(), 1, at::kDouble);
  const at::Tensor numbers = randomTensor({25}, 1);
  values.flat().copy_(numbers);
  expectClose(values.tensors()[0].detach(), numbers.slice(0, 0, 12).view({3, 4}), 0);
  expectClose(values.tensors()[4].detach(), numbers.slice(0, 17, 25).view({4, 2}), 0);
  // A step on the flat buffer is seen by the next pass.
  const Tensors leaves(values.tensors().begin(), values.tensors().end());
  const auto loss = [&] { return leaves[0].pow(2).sum() + leaves[4].sum(); };
  const Tensors first = gradients(loss(), leaves);
  expectClose(first[0], 2 * leaves[0].detach());
  values.flat().add_(1);
  expectClose(gradients(loss(), leaves)[0], first[0] + 2);
}

TEST(Parameters, AreCopiedByCloneAlone) {
  const Parameters values = Parameters::initial(smallLayout(), 1);
  const at::Tensor before = values.flat().clone();
  const Parameters copy = values.clone();
  EXPECT_TRUE(sameBits(copy.flat(), before));
  ASSERT_EQ(copy.tensors().size(), 5U);
  copy.flat().fill_(7);
  EXPECT_TRUE(sameBits(values.flat(), before));
  EXPECT_EQ(copy.tensors()[0][2][3].item<float>(), 7);
  EXPECT_TRUE(copy.tensors()[0].is_leaf() && copy.tensors()[0].requires_grad());
  EXPECT_EQ(Parameters().size(), 0);
  EXPECT_EQ(Parameters().clone().size(), 0);
}

TEST(Parameters, StartFromSeedAndNameAlone) {
  const Parameters values = Parameters::initial(smallLayout(), 1, at::kDouble);
  ParameterLayout other;
  other.add("b.weight", {4, 2}, Initial::fanIn(4));
  other.add("more", {100}, Initial::normal(1));
  other.add("a.weight", {3, 4}, Initial::glorot(3, 4));
  const Parameters turned = Parameters::initial(other, 1, at::kDouble);
  EXPECT_TRUE(sameBits(turned.tensors()[0], values.tensors()[4]));
  EXPECT_TRUE(sameBits(turned.tensors()[2], values.tensors()[0]));
  EXPECT_FALSE(sameBits(Parameters::initial(other, 2, at::kDouble).flat(), turned.flat()));
  EXPECT_TRUE(sameBits(Parameters::initial(other, 1).flat(), turned.flat().to(at::kFloat)));
  ParameterLayout renamed;
  renamed.add("c.weight", {4, 2}, Initial::fanIn(4));
  EXPECT_FALSE(sameBits(Parameters::initial(renamed, 1, at::kDouble).flat(), turned.tensors()[0]));
}

TEST(Parameters, StartWithinTheirBounds) {
  constexpr std::int64_t kCount = 40'000;
  const auto start = [&](Initial initial) {
    ParameterLayout layout;
    layout.add("x", {kCount}, initial);
    return Parameters::initial(layout, 3, at::kDouble).flat();
  };
  for (const auto& [initial, bound] :
       {std::pair{Initial::glorot(30, 70), std::sqrt(6.0 / 100)},
        std::pair{Initial::fanIn(50), 1 / std::sqrt(50.0)}, std::pair{Initial::fanIn(0), 1.0}}) {
    const at::Tensor x = start(initial);
    EXPECT_LE(x.abs().max().item<double>(), bound);
    EXPECT_GT(x.max().item<double>(), 0.999 * bound);
    EXPECT_LT(x.min().item<double>(), -0.999 * bound);
    EXPECT_NEAR(x.mean().item<double>() / bound, 0, 5 / std::sqrt(3.0 * kCount));
    EXPECT_NEAR(x.pow(2).mean().item<double>() / (bound * bound), 1.0 / 3, 0.01);
  }
  const at::Tensor normal = start(Initial::normal(0.5));
  EXPECT_NEAR(normal.std().item<double>(), 0.5, 0.01);
  EXPECT_GT(normal.abs().max().item<double>(), 1.5);
  EXPECT_TRUE((start(Initial::constant(-2)) == -2).all().item<bool>());
}

TEST(Parameters, StartAtRightAnglesWhereAskedTo) {
  ParameterLayout layout;
  const ParameterId tall = layout.add("tall", {9, 4}, Initial::orthogonal());
  const ParameterId wide = layout.add("wide", {3, 7}, Initial::orthogonal());
  const Parameters parameters = Parameters::initial(layout, 3, at::kDouble);
  const at::Tensor a = parameters[tall].detach();
  const at::Tensor b = parameters[wide].detach();
  expectClose(a.t().matmul(a), at::eye(4, at::kDouble));
  expectClose(b.matmul(b.t()), at::eye(3, at::kDouble));
  EXPECT_TRUE(sameBits(Parameters::initial(layout, 3, at::kDouble).flat(), parameters.flat()));
  EXPECT_FALSE(sameBits(Parameters::initial(layout, 4, at::kDouble).flat(), parameters.flat()));
}

TEST(Noise, IsNamedByPlaceAndStep) {
  const auto factors = [](const Noise& noise, const char* place) {
    return maskTensor(noise.mask(place, 0.5), {500});
  };
  const at::Tensor mask = factors(Noise(1, 2), "encoder.0");
  EXPECT_TRUE(sameBits(mask, factors(Noise(1, 2), "encoder.0")));
  EXPECT_FALSE(sameBits(mask, factors(Noise(1, 3), "encoder.0")));
  EXPECT_FALSE(sameBits(mask, factors(Noise(2, 2), "encoder.0")));
  EXPECT_FALSE(sameBits(mask, factors(Noise(1, 2), "encoder.1")));
  EXPECT_TRUE(Noise().mask("encoder.0", 0.5).keepsAll());
  EXPECT_TRUE(Noise(1, 2).mask("encoder.0", 0).keepsAll());
}

// Rows divided by their sums of absolute values, in floats as they are stored.
at::Tensor normalisedRows(const at::Tensor& dense) {
  const at::Tensor sums = dense.abs().sum(1, /*keepdim=*/true);
  return at::where(sums > 0, dense / sums, dense).to(at::kFloat).to(at::kDouble);
}

FeatureMatrix denseMatrix(std::int64_t rows, std::int64_t columns) {
  at::Tensor values = randomTensor({rows, columns}, 8, at::kFloat);
  values[0].fill_(0);
  return FeatureMatrix::dense(
      static_cast<std::size_t>(rows), static_cast<std::size_t>(columns),
      {values.data_ptr<float>(), values.data_ptr<float>() + values.numel()});
}

// What prepare() should amount to: features (dropped by entry when sparse, by element when dense)
// beside the embedding.
at::Tensor denseInput(const FeatureMatrix& features, const NodeInputOptions& options,
                      const Noise& noise, const at::Tensor& embedding) {
  Tensors parts;
  if (!features.empty()) {
    at::Tensor x = denseFeatures(features);
    if (options.normalise_rows) {
      x = normalisedRows(x);
    }
    const DropoutMask mask = noise.mask("input", options.dropout);
    at::Tensor factor = maskTensor(mask, x.sizes());
    if (features.isSparse()) {
      const at::Tensor places = (x != 0).nonzero();
      factor = at::zeros_like(x).index_put({places.select(1, 0), places.select(1, 1)},
                                           maskTensor(mask, {places.size(0)}));
    }
    parts.push_back((x.to(at::kFloat) * factor.to(at::kFloat)).to(at::kDouble));
  }
  if (embedding.defined()) {
    const DropoutMask mask = noise.mask("input.embedding", options.dropout);
    parts.push_back(embedding * maskTensor(mask, embedding.sizes()));
  }
  return at::cat(parts, 1);
}

TEST(NodeInput, TimesAWeightEqualsTheDenseProduct) {
  const std::vector<FeatureMatrix> kinds = {randomFeatures(9, 11, 4), denseMatrix(9, 11),
                                            FeatureMatrix()};
  for (const FeatureMatrix& features : kinds) {
    for (const std::int64_t embedding : {0, 5}) {
      for (const bool normalise : {false, true}) {
        for (const Noise& noise : {Noise(), Noise(3, 4)}) {
          if (features.empty() && embedding == 0) {
            continue;
          }
          const NodeInputOptions options{
              .embedding = embedding, .normalise_rows = normalise, .dropout = 0.4};
          ParameterLayout layout;
          const NodeInput input(features, 9, options, layout);
          EXPECT_EQ(input.width(), static_cast<std::int64_t>(features.columns()) + embedding);
          EXPECT_EQ(input.nodeCount(), 9U);
          const NamedParameters parameters(layout, 5);
          const at::Tensor learned = embedding > 0 ? parameters["input.embedding"] : at::Tensor();
          Tensors leaves = parameters.leaves();
          leaves.push_back(randomLeaf({input.width(), 3}, 6));
          expectSameDerivatives(
              [&](const Tensors& in) {
                return Tensors{input.prepare(parameters.values(), noise).times(in.back())};
              },
              [&](const Tensors& in) {
                return Tensors{denseInput(features, options, noise, learned).matmul(in.back())};
              },
              leaves);
        }
      }
    }
  }
}

// Halves are rounded once; what is computed of them is what is computed of rounded floats, both
// ways and on the way back.
TEST(NodeInput, OfHalvesIsThatOfRoundedNumbers) {
  const FeatureMatrix features = denseMatrix(9, 11);
  std::vector<float> values(features.values().begin(), features.values().end());
  for (float& value : values) {
    value = static_cast<float>(c10::Half(value));
  }
  const FeatureMatrix rounded = FeatureMatrix::dense(9, 11, values);
  for (const Noise& noise : {Noise(), Noise(3, 4)}) {
    const auto results = [&](const FeatureMatrix& of, bool half) {
      ParameterLayout layout;
      const NodeInput input(of, 9, {.half = half, .dropout = 0.4}, layout);
      const Parameters parameters = Parameters::initial(layout, 5, at::kFloat);
      const at::Tensor weight = randomTensor({11, 3}, 6, at::kFloat).set_requires_grad(true);
      const at::Tensor out = input.prepare(parameters, noise).times(weight);
      return Tensors{out.detach(), gradients((out * out).sum(), Tensors{weight}).front()};
    };
    const Tensors of_halves = results(features, true);
    const Tensors of_rounded = results(rounded, false);
    const Tensors of_singles = results(features, false);
    for (std::size_t i = 0; i < of_halves.size(); ++i) {
      EXPECT_EQ(of_halves[i].scalar_type(), at::kFloat);
      EXPECT_TRUE(at::equal(of_halves[i], of_rounded[i]));
      EXPECT_FALSE(at::equal(of_halves[i], of_singles[i]));
      EXPECT_LT((of_halves[i] - of_singles[i]).abs().max().item<double>(),
                2e-3 * of_singles[i].abs().max().item<double>());
    }
  }
}

TEST(NodeInput, RefusesNumbersThatHalvesCannotHold) {
  ParameterLayout layout;
  expectFailure<ConfigError>(
      [&] {
        const NodeInput input(FeatureMatrix::dense(1, 2, {1, 1e5F}), 1, {.half = true}, layout);
      },
      "65,504");
}

TEST(NodeInput, RefusesNodesThatBringNothingOrTooFew) {
  ParameterLayout layout;
  try {
    const NodeInput input(FeatureMatrix(), 3, {}, layout);
    FAIL() << "nothing to start from";
  } catch (const ConfigError& error) {
    EXPECT_NE(error.hint().find("model.embedding"), std::string::npos);
  }
  expectFailure<ShapeError>([&] { const NodeInput input(randomFeatures(9, 4, 1), 8, {}, layout); },
                            "9 rows of features for 8 nodes");
}

TEST(Mlp, EqualsDenseLayersWithTheirDerivatives) {
  for (const Shape& widths : {Shape{4, 1}, Shape{4, 6, 1}, Shape{3, 5, 7, 2}}) {
    for (const Noise& noise : {Noise(), Noise(1, 5)}) {
      ParameterLayout layout;
      const Mlp mlp("mlp", widths, 0.4, layout);
      const NamedParameters parameters(layout, 2);
      const DenseMlp dense{"mlp", widths.size() - 1, 0.4, noise};
      Tensors leaves = parameters.leaves();
      leaves.push_back(randomLeaf({8, widths[0]}, 3));
      expectSameDerivatives(
          [&](const Tensors& in) {
            return Tensors{mlp.apply(parameters.values(), in.back(), noise)};
          },
          [&](const Tensors& in) { return Tensors{dense.apply(parameters, in.back())}; }, leaves);
    }
  }
}

TEST(Mlp, AddsItsInputToHiddenLayers) {
  ParameterLayout layout;
  const Mlp mlp("mlp", {4, 4, 4, 1}, 0.4, layout, true);
  const NamedParameters parameters(layout, 2);
  const DenseMlp dense{"mlp", 3, 0.4, Noise(1, 5), true};
  Tensors leaves = parameters.leaves();
  leaves.push_back(randomLeaf({8, 4}, 3));
  expectSameDerivatives(
      [&](const Tensors& in) {
        return Tensors{mlp.apply(parameters.values(), in.back(), Noise(1, 5))};
      },
      [&](const Tensors& in) { return Tensors{dense.apply(parameters, in.back())}; }, leaves);
  expectFailure<ConfigError>(
      [] {
        ParameterLayout other;
        const Predictor wide("p", {.layers = 3, .hidden = 5, .residual = true}, 4, 0, other);
      },
      "reads 4 columns");
}

TEST(Predictor, IsADotProductOrAnMlp) {
  const auto shapes = [](const ParameterLayout& layout) {
    std::vector<Shape> result;
    for (const ParameterLayout::Entry& entry : layout.entries()) {
      result.push_back(entry.shape);
    }
    return result;
  };
  const at::Tensor z = randomTensor({7, 4}, 1);
  {
    ParameterLayout layout;
    const Predictor dot("p", {.kind = "dot"}, 4, 0.5, layout);
    EXPECT_TRUE(layout.entries().empty());
    expectClose(dot.logits(Parameters::initial(layout, 1), z, Noise(1, 1)), z.sum(1));
  }
  {
    ParameterLayout layout;
    const Predictor product("p", {.kind = "hadamard", .layers = 3, .hidden = 0}, 4, 0.5, layout);
    EXPECT_EQ(shapes(layout), (std::vector<Shape>{{4, 4}, {4}, {4, 4}, {4}, {4, 1}, {1}}));
    const NamedParameters parameters(layout, 2);
    const at::Tensor got = product.logits(parameters.values(), z, Noise(1, 1));
    EXPECT_EQ(got.sizes(), Shape{7});
    expectClose(got, DenseMlp{"p", 3, 0.5, Noise(1, 1)}.apply(parameters, z).select(1, 0));
  }
  {
    ParameterLayout layout;
    const Predictor both("p", {.kind = "concat", .layers = 2, .hidden = 6}, 2, 0, layout);
    EXPECT_EQ(shapes(layout), (std::vector<Shape>{{4, 6}, {6}, {6, 1}, {1}}));
    const NamedParameters parameters(layout, 2);
    expectClose(both.logits(parameters.values(), z, Noise()),
                DenseMlp{"p", 2}.apply(parameters, z).select(1, 0));
  }
  {
    ParameterLayout layout;
    const Predictor linear("p", {.kind = "hadamard", .layers = 1}, 4, 0, layout);
    EXPECT_EQ(shapes(layout), (std::vector<Shape>{{4, 1}, {1}}));
  }
}

}  // namespace
}  // namespace edgewise
