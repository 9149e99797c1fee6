#include "edgewise/ops/rowwise.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "edgewise/ops/layer_norm.h"
#include "support/tensors.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::expectClose;
using testing::expectFailure;
using testing::expectFiniteDifferences;
using testing::expectSameBitsForThreads;
using testing::expectSameDerivatives;
using testing::randomLeaf;
using testing::randomTensor;
using testing::sameBits;
using testing::Tensors;

using Shape = std::vector<std::int64_t>;

// Empty, single, small, and long enough for several blocks either way.
const std::array<Shape, 8> kMatrices = {
    {{0, 3}, {3, 0}, {1, 1}, {1, 7}, {5, 4}, {700, 50}, {40'000, 1}, {2, 33'000}}};

at::Tensor scalars(const std::vector<double>& values) {
  return at::tensor(values, at::TensorOptions(at::kDouble));
}

Tensors plainLayerNorm(const Tensors& in, double epsilon) {
  const at::Tensor centred = in[0] - in[0].mean(1, /*keepdim=*/true);
  const at::Tensor variance = (centred * centred).mean(1, /*keepdim=*/true);
  return {centred / (variance + epsilon).sqrt() * in[1] + in[2]};
}

TEST(Rowwise, SumsAndExpansionsEqualTorchsWithTheirDerivatives) {
  for (const Shape& shape : kMatrices) {
    SCOPED_TRACE(at::IntArrayRef(shape));
    const std::int64_t rows = shape[0];
    const std::int64_t columns = shape[1];
    const Tensors x = {randomLeaf(shape, 1)};
    expectSameDerivatives([](const Tensors& in) { return Tensors{columnSum(in[0])}; },
                          [](const Tensors& in) { return Tensors{in[0].sum(0)}; }, x);
    expectSameDerivatives([](const Tensors& in) { return Tensors{rowSum(in[0])}; },
                          [](const Tensors& in) { return Tensors{in[0].sum(1)}; }, x);
    expectSameDerivatives([](const Tensors& in) { return Tensors{totalSum(in[0])}; },
                          [](const Tensors& in) { return Tensors{in[0].sum()}; }, x, 1e-9);
    expectSameDerivatives(
        [&](const Tensors& in) { return Tensors{expandRows(in[0], rows)}; },
        [&](const Tensors& in) { return Tensors{in[0].unsqueeze(0).expand({rows, columns})}; },
        {randomLeaf({columns}, 2)});
    expectSameDerivatives(
        [&](const Tensors& in) { return Tensors{expandColumns(in[0], columns)}; },
        [&](const Tensors& in) { return Tensors{in[0].unsqueeze(1).expand({rows, columns})}; },
        {randomLeaf({rows}, 3)});
    expectSameDerivatives([](const Tensors& in) { return Tensors{addBias(in[0], in[1])}; },
                          [](const Tensors& in) { return Tensors{in[0] + in[1].unsqueeze(0)}; },
                          {randomLeaf(shape, 4), randomLeaf({columns}, 5)});
  }
}

TEST(Rowwise, TotalsAnyShape) {
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{5}, Shape{2, 3, 4}, Shape{2, 0, 4}}) {
    expectSameDerivatives([](const Tensors& in) { return Tensors{totalSum(in[0])}; },
                          [](const Tensors& in) { return Tensors{in[0].sum()}; },
                          {randomLeaf(shape, 1)});
  }
  const at::Tensor turned = randomTensor({30, 4}, 2).t();
  expectClose(totalSum(turned), turned.sum());
}

// Adding one number after another to a total in floats loses about as many units of the last place
// as there are numbers.
TEST(Rowwise, KeepsLongSumsOfFloatsAccurate) {
  constexpr std::int64_t kCount = 1 << 22;
  constexpr float kEach = 0.1F;
  const double want = static_cast<double>(kCount) * static_cast<double>(kEach);
  const at::Tensor column = at::full({kCount, 1}, kEach, at::TensorOptions(at::kFloat));
  EXPECT_NEAR(totalSum(column).item<double>(), want, 4e-6 * want);
  EXPECT_NEAR(columnSum(column)[0].item<double>(), want, 4e-6 * want);
  EXPECT_NEAR(rowSum(column.t())[0].item<double>(), want, 4e-6 * want);
}

// Rows of odd width start anywhere in memory; vector instructions must not see the difference.
TEST(Rowwise, EqualRowsGiveEqualBitsWhereverTheyStand) {
  for (const std::int64_t width : {1, 7, 31, 37, 101}) {
    const at::Tensor row = randomTensor({1, width}, 6, at::kFloat);
    const at::Tensor rows = row.expand({50, width}).contiguous();
    const at::Tensor sums = rowSum(rows);
    EXPECT_TRUE(sameBits(sums, sums[0].expand({50}))) << width;
    const at::Tensor scale = randomTensor({width}, 7, at::kFloat);
    const at::Tensor normal = layerNorm(rows, scale, scale);
    EXPECT_TRUE(sameBits(normal, normal[0].expand({50, width}))) << width;
  }
}

TEST(Rowwise, TakesAnyLayoutInMemory) {
  const at::Tensor labels = logistic(randomTensor({6, 5}, 9)).t();
  expectSameDerivatives(
      [&](const Tensors& in) {
        const at::Tensor x = in[0].t();
        const at::Tensor v = in[1].slice(0, 0, 12, 2);
        return Tensors{columnSum(x),        rowSum(x),         addBias(x, v),
                       expandRows(v, 3),    logistic(x),       binaryCrossEntropy(x, labels),
                       expandColumns(v, 2), layerNorm(x, v, v)};
      },
      [&](const Tensors& in) {
        const at::Tensor x = in[0].t();
        const at::Tensor v = in[1].slice(0, 0, 12, 2);
        const at::Tensor p = 1 / (1 + (-x).exp());
        return Tensors{x.sum(0),
                       x.sum(1),
                       x + v,
                       v.expand({3, 6}),
                       p,
                       -(labels * p.log() + (1 - labels) * (1 - p).log()).mean(),
                       v.unsqueeze(1).expand({6, 2}),
                       plainLayerNorm({x, v, v}, 1e-5)[0]};
      },
      {randomLeaf({6, 5}, 1), randomLeaf({12}, 2)});
}

TEST(Rowwise, RefusesWhatDoesNotFit) {
  const at::Tensor matrix = randomTensor({3, 4}, 1);
  const at::Tensor vector = randomTensor({3}, 2);
  expectFailure<ShapeError>([&] { (void)columnSum(vector); }, "1 dimensions");
  expectFailure<ShapeError>([&] { (void)rowSum(vector); }, "1 dimensions");
  expectFailure<ShapeError>([&] { (void)addBias(vector, vector); }, "1 dimensions");
  expectFailure<ShapeError>([&] { (void)addBias(matrix, vector); }, "3 entries");
  expectFailure<ShapeError>([&] { (void)addBias(matrix, randomTensor({1}, 1)); }, "1 entries");
  expectFailure<ShapeError>([&] { (void)addBias(matrix, matrix); }, "12 entries");
  expectFailure<ShapeError>([&] { (void)expandRows(matrix, 2); }, "2 dimensions");
  expectFailure<ShapeError>([&] { (void)expandColumns(matrix, 2); }, "2 dimensions");
  expectFailure<ConfigError>([&] { (void)rowSum(matrix.to(at::kInt)); }, "float or double");
  expectFailure<ShapeError>([&] { (void)binaryCrossEntropy(vector, matrix); }, "3 logits");
  expectFailure<ShapeError>([&] { (void)binaryCrossEntropy(vector, vector.to(at::kFloat)); },
                            "another shape or type");
}

TEST(Logistic, EqualsTorchsWithItsDerivatives) {
  const auto ours = [](const Tensors& in) { return Tensors{logistic(in[0])}; };
  const auto plain = [](const Tensors& in) { return Tensors{1 / (1 + (-in[0]).exp())}; };
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{7}, Shape{3, 4}, Shape{10'000}}) {
    expectSameDerivatives(ours, plain, {randomLeaf(shape, 1)});
  }
  expectFiniteDifferences(ours, {randomLeaf({3, 4}, 2)});
}

TEST(Logistic, IsFiniteFarOut) {
  const at::Tensor x = scalars({-800, -40, 0, 40, 800});
  expectClose(logistic(x), scalars({0, std::exp(-40.0), 0.5, 1, 1}), 1e-15);
  EXPECT_GT(logistic(x)[1].item<double>(), 0);
  const Tensors leaf = {x.clone().set_requires_grad(true)};
  EXPECT_TRUE(at::isfinite(gradients(logistic(leaf[0]).sum(), leaf)[0]).all().item<bool>());
}

TEST(BinaryCrossEntropy, EqualsTheDefinitionWithItsDerivatives) {
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{9}, Shape{4, 5}, Shape{9000}}) {
    const at::Tensor labels = logistic(randomTensor(shape, 2));
    const auto ours = [&](const Tensors& in) { return Tensors{binaryCrossEntropy(in[0], labels)}; };
    const auto plain = [&](const Tensors& in) {
      const at::Tensor p = 1 / (1 + (-in[0]).exp());
      return Tensors{-(labels * p.log() + (1 - labels) * (1 - p).log()).mean()};
    };
    expectSameDerivatives(ours, plain, {randomLeaf(shape, 1)});
    expectFiniteDifferences(ours, {randomLeaf(shape, 1)});
  }
}

TEST(BinaryCrossEntropy, IsFiniteFarOut) {
  for (const at::ScalarType type : {at::kDouble, at::kFloat}) {
    const Tensors x = {scalars({-800, 800, -800, 800}).to(type).set_requires_grad(true)};
    const at::Tensor labels = scalars({0, 1, 1, 0}).to(type);
    const at::Tensor loss = binaryCrossEntropy(x[0], labels);
    EXPECT_DOUBLE_EQ(loss.item<double>(), 400);
    const Tensors first = gradients(loss, x, GradientUse::kAgain);
    expectClose(first[0], scalars({0, 0, -0.25, 0.25}).to(type), 1e-15);
    const Tensors second = gradients(first[0].sum(), x);
    expectClose(second[0], at::zeros_like(labels), 1e-15);
  }
}

TEST(BinaryCrossEntropy, OfNothingIsZero) {
  const Tensors x = {at::empty({0}, at::TensorOptions(at::kDouble)).set_requires_grad(true)};
  const at::Tensor loss = binaryCrossEntropy(x[0], at::empty({0}, at::TensorOptions(at::kDouble)));
  EXPECT_EQ(loss.dim(), 0);
  EXPECT_EQ(loss.item<double>(), 0);
  EXPECT_EQ(gradients(loss, x)[0].numel(), 0);
}

TEST(LayerNorm, EqualsTheDefinitionWithItsDerivatives) {
  for (const double epsilon : {1e-5, 0.1}) {
    const auto ours = [&](const Tensors& in) {
      return Tensors{layerNorm(in[0], in[1], in[2], epsilon)};
    };
    const auto plain = [&](const Tensors& in) { return plainLayerNorm(in, epsilon); };
    for (const Shape& shape : {Shape{0, 4}, Shape{1, 5}, Shape{6, 2}, Shape{4, 16}, Shape{3, 33},
                               Shape{600, 60}, Shape{2, 17'000}}) {
      SCOPED_TRACE(at::IntArrayRef(shape));
      const Tensors in = {randomLeaf(shape, 1), randomLeaf({shape[1]}, 2),
                          randomLeaf({shape[1]}, 3)};
      expectSameDerivatives(ours, plain, in, 1e-9);
      expectFiniteDifferences(ours, in);
    }
  }
}

TEST(LayerNorm, OfRowsWithoutVarianceIsTheShift) {
  const at::Tensor shift = randomTensor({3}, 1);
  const at::Tensor x = at::full({2, 3}, 1e6, shift.options());
  expectClose(layerNorm(x, randomTensor({3}, 2), shift), shift.expand({2, 3}));
  const Tensors in = {x.clone().set_requires_grad(true), randomLeaf({3}, 2), randomLeaf({3}, 1)};
  for (const at::Tensor& gradient :
       gradients(testing::probe({layerNorm(in[0], in[1], in[2])}), in)) {
    EXPECT_TRUE(at::isfinite(gradient).all().item<bool>());
  }
  // One column: every row is its own mean.
  expectClose(layerNorm(randomTensor({4, 1}, 3), shift.slice(0, 0, 1), shift.slice(0, 1, 2)),
              shift[1].expand({4, 1}));
}

TEST(LayerNorm, RefusesWhatDoesNotFit) {
  const at::Tensor x = randomTensor({2, 3}, 1);
  const at::Tensor three = randomTensor({3}, 2);
  expectFailure<ShapeError>([&] { (void)layerNorm(three, three, three); }, "1 dimensions");
  expectFailure<ShapeError>([&] { (void)layerNorm(x, randomTensor({2}, 1), three); },
                            "scale for 3 columns (Double) has 2");
  expectFailure<ShapeError>([&] { (void)layerNorm(x, three, randomTensor({1}, 1)); },
                            "shift for 3 columns (Double) has 1");
  expectFailure<ShapeError>([&] { (void)layerNorm(x, three.unsqueeze(0), three); }, "2 dimensions");
  expectFailure<ShapeError>([&] { (void)layerNorm(randomTensor({2, 0}, 1), {}, {}); },
                            "width of 0");
  expectFailure<ShapeError>([&] { (void)layerNorm(x, three.to(at::kFloat), three); }, "Float");
}

TEST(Rowwise, GivesTheSameBitsForAnyThreadCount) {
  constexpr auto kFloat = at::kFloat;
  for (const Shape& shape : {Shape{1500, 48}, Shape{80'000, 1}}) {
    const at::Tensor x = randomLeaf(shape, 1, kFloat);
    const at::Tensor row = randomLeaf({shape[1]}, 2, kFloat);
    const at::Tensor column = randomLeaf({shape[0]}, 3, kFloat);
    expectSameBitsForThreads(
        [](const Tensors& in) {
          return Tensors{columnSum(in[0]), rowSum(in[0]), totalSum(in[0]), logistic(in[0])};
        },
        {x});
    expectSameBitsForThreads(
        [&](const Tensors& in) {
          return Tensors{expandRows(in[0], shape[0]), expandColumns(in[1], shape[1])};
        },
        {row, column});
    expectSameBitsForThreads([](const Tensors& in) { return Tensors{addBias(in[0], in[1])}; },
                             {x, row});
    expectSameBitsForThreads(
        [](const Tensors& in) { return Tensors{layerNorm(in[0], in[1], in[2])}; },
        {x, row, randomLeaf({shape[1]}, 4, kFloat)});
    const at::Tensor labels = (randomTensor(shape, 5, kFloat) > 0).to(kFloat);
    expectSameBitsForThreads(
        [&](const Tensors& in) { return Tensors{binaryCrossEntropy(in[0], labels)}; }, {x});
  }
}

TEST(Gradients, AreZerosWhereTheValueDoesNotDependOnAnInput) {
  const Tensors in = {randomLeaf({2, 3}, 1), randomLeaf({4}, 2)};
  const Tensors got = gradients(in[0].sum() * 2, in);
  expectClose(got[0], at::full({2, 3}, 2.0, in[0].options().requires_grad(false)));
  expectClose(got[1], at::zeros({4}, in[1].options().requires_grad(false)));
  EXPECT_FALSE(got[1].requires_grad());
  // A value that depends on nothing at all.
  for (const GradientUse use : {GradientUse::kOnce, GradientUse::kAgain}) {
    const Tensors none = gradients(at::ones({}, in[0].options().requires_grad(false)), in, use);
    expectClose(none[0], at::zeros({2, 3}, in[0].options().requires_grad(false)));
    expectClose(none[1], at::zeros({4}, in[1].options().requires_grad(false)));
  }
}

TEST(Gradients, CanBeDifferentiatedWhenAskedFor) {
  const Tensors x = {randomLeaf({3}, 1)};
  const at::Tensor value = x[0].pow(3).sum();
  EXPECT_FALSE(gradients(value, x, GradientUse::kOnce, /*keep_graph=*/true)[0].requires_grad());
  const Tensors first = gradients(value, x, GradientUse::kAgain);
  expectClose(first[0], 3 * x[0].pow(2));
  expectClose(gradients(first[0].sum(), x)[0], 6 * x[0]);
}

TEST(Gradients, StayOffWithinAScopeWithoutThem) {
  const at::Tensor x = randomLeaf({2, 2}, 1);
  {
    const WithoutGradients outer;
    {
      const WithoutGradients inner;
      EXPECT_FALSE(rowSum(x).requires_grad());
    }
    EXPECT_FALSE(rowSum(x).requires_grad()) << "the inner scope must not switch them on";
  }
  EXPECT_TRUE(rowSum(x).requires_grad());
}

TEST(Rowwise, SoftmaxAndItsLogarithmEqualTorchsWithTheirDerivatives) {
  for (const Shape& shape : {Shape{1, 1}, Shape{5, 4}, Shape{300, 65}}) {
    const Tensors x = {randomLeaf(shape, 6)};
    expectSameDerivatives([](const Tensors& in) { return Tensors{rowSoftmax(in[0])}; },
                          [](const Tensors& in) { return Tensors{at::softmax(in[0], 1)}; }, x);
    expectSameDerivatives([](const Tensors& in) { return Tensors{rowLogSumExp(in[0])}; },
                          [](const Tensors& in) { return Tensors{at::logsumexp(in[0], 1)}; }, x);
  }
}

TEST(Rowwise, UnitRowsHaveLengthOneAndZerosStay) {
  at::Tensor x = randomTensor({40, 6}, 8);
  x[7].zero_();
  const Tensors leaf = {x.clone().set_requires_grad(true)};
  const at::Tensor unit = unitRows(leaf[0]);
  const at::Tensor lengths = unit.norm(2, 1);
  EXPECT_EQ(lengths[7].item<double>(), 0);
  EXPECT_NEAR(lengths.sum().item<double>(), 39, 1e-12);
  const at::Tensor slope = gradients((unit * randomTensor({40, 6}, 9)).sum(), leaf)[0];
  EXPECT_TRUE(at::isfinite(slope).all().item<bool>());
  // Along itself a row does not change its direction.
  EXPECT_NEAR((slope * x).sum(1).abs().max().item<double>(), 0, 1e-12);
}

}  // namespace
}  // namespace edgewise
