#include "edgewise/ops/product.h"

#include <gtest/gtest.h>

#include <array>

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

constexpr std::array kTransposes = {Transpose::kNeither, Transpose::kFirst, Transpose::kSecond,
                                    Transpose::kBoth};

bool turnsFirst(Transpose transpose) {
  return transpose == Transpose::kFirst || transpose == Transpose::kBoth;
}

bool turnsSecond(Transpose transpose) {
  return transpose == Transpose::kSecond || transpose == Transpose::kBoth;
}

// Sizes of a product: [rows, inner] * [inner, columns].
struct Sizes {
  std::int64_t rows = 0;
  std::int64_t inner = 0;
  std::int64_t columns = 0;
};

Tensors factors(const Sizes& sizes, Transpose transpose, at::ScalarType type = at::kDouble) {
  const auto [rows, inner, columns] = sizes;
  return {turnsFirst(transpose) ? randomLeaf({inner, rows}, 1, type)
                                : randomLeaf({rows, inner}, 1, type),
          turnsSecond(transpose) ? randomLeaf({columns, inner}, 2, type)
                                 : randomLeaf({inner, columns}, 2, type)};
}

Tensors plainProduct(const Tensors& in, Transpose transpose) {
  return {at::matmul(turnsFirst(transpose) ? in[0].t() : in[0],
                     turnsSecond(transpose) ? in[1].t() : in[1])};
}

TEST(Product, EqualsLoopsByHand) {
  for (const Transpose transpose : kTransposes) {
    const Tensors in = factors({3, 4, 2}, transpose);
    const at::Tensor got = product(in[0], in[1], transpose).detach();
    const auto a = in[0].accessor<double, 2>();
    const auto b = in[1].accessor<double, 2>();
    for (std::int64_t i = 0; i < 3; ++i) {
      for (std::int64_t j = 0; j < 2; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < 4; ++k) {
          sum += (turnsFirst(transpose) ? a[k][i] : a[i][k]) *
                 (turnsSecond(transpose) ? b[j][k] : b[k][j]);
        }
        EXPECT_NEAR(got[i][j].item<double>(), sum, 1e-14);
      }
    }
  }
}

TEST(Product, EqualsTorchsWithItsDerivativesAtAwkwardSizes) {
  // Empty and single extents in every place, then sizes around the blocks of rows (256), the choice
  // between rows and pieces (512 rows, 1024 terms), and the most pieces (16 of 512 terms).
  constexpr std::array kSizes = {
      Sizes{0, 3, 2},    Sizes{3, 0, 2},    Sizes{3, 2, 0},     Sizes{0, 0, 0},
      Sizes{1, 1, 1},    Sizes{1, 5, 3},    Sizes{5, 1, 3},     Sizes{5, 3, 1},
      Sizes{255, 7, 3},  Sizes{256, 7, 3},  Sizes{257, 7, 3},   Sizes{511, 3, 2},
      Sizes{513, 3, 2},  Sizes{2, 511, 3},  Sizes{2, 1023, 3},  Sizes{2, 1024, 3},
      Sizes{1, 1025, 1}, Sizes{3, 1536, 2}, Sizes{3, 1537, 2},  Sizes{2, 8191, 2},
      Sizes{2, 8192, 2}, Sizes{2, 8193, 2}, Sizes{1, 20'001, 2}};
  for (const Sizes& sizes : kSizes) {
    for (const Transpose transpose : kTransposes) {
      SCOPED_TRACE(::testing::Message()
                   << sizes.rows << " x " << sizes.inner << " x " << sizes.columns
                   << ", transposed " << static_cast<int>(transpose));
      expectSameDerivatives(
          [&](const Tensors& in) { return Tensors{product(in[0], in[1], transpose)}; },
          [&](const Tensors& in) { return plainProduct(in, transpose); },
          factors(sizes, transpose));
    }
  }
}

// Both rows and terms large: where the choice between the two ways of cutting lies.
TEST(Product, EqualsTorchsWhereTheCutChanges) {
  for (const std::int64_t rows : {511, 512, 513}) {
    for (const std::int64_t inner : {1023, 1024, 1025}) {
      for (const Transpose transpose : kTransposes) {
        const Tensors in = factors({rows, inner, 5}, transpose);
        expectClose(product(in[0], in[1], transpose), plainProduct(in, transpose)[0]);
      }
    }
  }
}

TEST(Product, AgreesWithFiniteDifferences) {
  for (const Transpose transpose : kTransposes) {
    expectFiniteDifferences(
        [&](const Tensors& in) { return Tensors{product(in[0], in[1], transpose)}; },
        factors({4, 6, 3}, transpose));
  }
}

TEST(Product, GivesAGradientToTheFactorThatWantsOne) {
  const at::Tensor fixed = randomTensor({4, 3}, 1);
  const Tensors leaf = {randomLeaf({3, 2}, 2)};
  expectSameDerivatives([&](const Tensors& in) { return Tensors{product(fixed, in[0])}; },
                        [&](const Tensors& in) { return Tensors{fixed.matmul(in[0])}; }, leaf);
  expectSameDerivatives(
      [&](const Tensors& in) { return Tensors{product(in[0], fixed, Transpose::kBoth)}; },
      [&](const Tensors& in) { return Tensors{in[0].t().matmul(fixed.t())}; }, leaf);
}

TEST(Product, OfAMatrixWithItself) {
  expectSameDerivatives(
      [](const Tensors& in) { return Tensors{product(in[0], in[0], Transpose::kSecond)}; },
      [](const Tensors& in) { return Tensors{in[0].matmul(in[0].t())}; }, {randomLeaf({5, 4}, 3)});
}

TEST(Product, TakesAnyLayoutInMemory) {
  const at::Tensor a = randomTensor({6, 9}, 1);
  const at::Tensor b = randomTensor({9, 8}, 2);
  const at::Tensor strided = randomTensor({18, 8}, 3).slice(0, 0, 18, 2);
  EXPECT_TRUE(sameBits(product(a, strided), product(a, strided.contiguous())));
  EXPECT_TRUE(sameBits(product(a.t().contiguous().t(), b), product(a, b)));
  expectSameDerivatives(
      [](const Tensors& in) {
        return Tensors{affine(in[0].t(), in[1].t(), in[2].slice(0, 0, 6, 2))};
      },
      [](const Tensors& in) {
        return Tensors{in[0].t().matmul(in[1].t()) + in[2].slice(0, 0, 6, 2)};
      },
      {randomLeaf({4, 5}, 1), randomLeaf({3, 4}, 2), randomLeaf({6}, 3)});
  const at::Tensor one = randomTensor({1, 8}, 4).expand({9, 8});
  EXPECT_TRUE(sameBits(product(a, one), product(a, one.contiguous())));
}

TEST(Product, RefusesWhatDoesNotFit) {
  const at::Tensor a = randomTensor({2, 3}, 1);
  expectFailure<ShapeError>([&] { (void)product(a, a); }, "3 against 2");
  expectFailure<ShapeError>([&] { (void)product(a, a, Transpose::kBoth); }, "2 against 3");
  expectFailure<ShapeError>([&] { (void)product(a, randomTensor({3}, 1)); }, "1 dimensions");
  expectFailure<ShapeError>([&] { (void)product(a, randomTensor({3, 2}, 1, at::kFloat)); },
                            "Float");
  expectFailure<ConfigError>([&] { (void)product(a.to(at::kLong), a.t().to(at::kLong)); },
                             "float or double");
}

TEST(Affine, EqualsTorchsWithItsDerivatives) {
  const auto ours = [](const Tensors& in) { return Tensors{affine(in[0], in[1], in[2])}; };
  const auto plain = [](const Tensors& in) { return Tensors{in[0].matmul(in[1]) + in[2]}; };
  for (const Sizes& sizes : {Sizes{0, 3, 2}, Sizes{4, 0, 2}, Sizes{4, 3, 0}, Sizes{1, 1, 1},
                             Sizes{300, 5, 3}, Sizes{3, 1100, 2}, Sizes{600, 1030, 2}}) {
    SCOPED_TRACE(::testing::Message() << sizes.rows << " x " << sizes.inner);
    Tensors in = factors(sizes, Transpose::kNeither);
    in.push_back(randomLeaf({sizes.columns}, 3));
    expectSameDerivatives(ours, plain, in);
  }
  expectFiniteDifferences(ours, {randomLeaf({4, 3}, 1), randomLeaf({3, 2}, 2), randomLeaf({2}, 3)});
}

TEST(Affine, DoesWithoutABias) {
  const Tensors in = factors({4, 3, 2}, Transpose::kNeither);
  EXPECT_TRUE(sameBits(affine(in[0], in[1], {}), product(in[0], in[1])));
}

TEST(Affine, RefusesABiasThatDoesNotFit) {
  const Tensors in = factors({4, 3, 2}, Transpose::kNeither);
  for (const at::Tensor& bias :
       {randomTensor({3}, 1), randomTensor({1}, 1), randomTensor({1, 2}, 1)}) {
    expectFailure<ShapeError>([&] { (void)affine(in[0], in[1], bias); }, "a bias for 2 columns");
  }
  expectFailure<ShapeError>([&] { (void)affine(in[0], in[1], randomTensor({2}, 1, at::kFloat)); },
                            "Float");
}

// BLAS libraries on OpenMP change its number of threads.
TEST(Product, LeavesTheNumberOfThreads) {
  const testing::KeepThreads keep;
  for (const int threads : {3, 1, 2}) {
    setBackendThreads(threads);
    (void)product(randomTensor({40, 30}, 1), randomTensor({30, 20}, 2));
    (void)product(randomTensor({600, 30}, 1), randomTensor({30, 20}, 2));
    EXPECT_EQ(threadCount(), threads);
  }
}

TEST(Product, GivesTheSameBitsForAnyThreadCount) {
  for (const Sizes& sizes : {Sizes{1100, 40, 21}, Sizes{24, 6000, 20}, Sizes{600, 1100, 9}}) {
    for (const Transpose transpose : kTransposes) {
      expectSameBitsForThreads(
          [&](const Tensors& in) { return Tensors{product(in[0], in[1], transpose)}; },
          factors(sizes, transpose, at::kFloat));
    }
    Tensors in = factors(sizes, Transpose::kNeither, at::kFloat);
    in.push_back(randomLeaf({sizes.columns}, 3, at::kFloat));
    expectSameBitsForThreads([](const Tensors& x) { return Tensors{affine(x[0], x[1], x[2])}; },
                             in);
  }
}

}  // namespace
}  // namespace edgewise
