#include "edgewise/ops/dropout.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "edgewise/ops/sparse_matrix.h"
#include "support/random_features.h"
#include "support/tensors.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::expectClose;
using testing::expectFailure;
using testing::expectFiniteDifferences;
using testing::expectSameBitsForThreads;
using testing::expectSameDerivatives;
using testing::maskTensor;
using testing::randomFeatures;
using testing::randomLeaf;
using testing::randomTensor;
using testing::sameBits;
using testing::Tensors;

using Shape = std::vector<std::int64_t>;

DropoutMask maskAt(double rate, std::uint64_t step = 0, const char* place = "here") {
  return {rate, CounterRng(5, place), step};
}

std::vector<std::uint8_t> drawn(const DropoutMask& mask, std::size_t count) {
  std::vector<std::uint8_t> keep(count);
  mask.draw(0, keep);
  return keep;
}

TEST(DropoutMask, ComparesSixteenBitsAnElementWithTheRate) {
  const CounterRng random(5, "here");
  for (const double rate : {0.1, 0.5, 0.75}) {
    const auto threshold = static_cast<std::uint32_t>(std::lround(rate * 65'536));
    for (const std::size_t count : {1U, 2U, 7U, 8U, 9U, 1023U, 1024U, 1025U, 5000U}) {
      const std::vector<std::uint8_t> keep = drawn(maskAt(rate, 3), count);
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t word = random.block(i / 8, 3)[i % 8 / 2];
        const std::uint32_t bits = i % 2 == 0 ? word & 0xFFFFU : word >> 16;
        ASSERT_EQ(keep[i] != 0, bits >= threshold) << i;
      }
    }
  }
}

TEST(DropoutMask, MeetsItsRateWithoutTiesBetweenElements) {
  constexpr std::size_t kCount = 400'000;
  for (const double rate : {0.01, 0.1, 0.5, 0.9, 0.99}) {
    const DropoutMask mask = maskAt(rate);
    EXPECT_NEAR(mask.scale() * (1 - rate), 1, 1e-3);
    const std::vector<std::uint8_t> keep = drawn(mask, kCount);
    // Five standard deviations: one failure in a million. Neighbouring pairs share an element,
    // which at most triples the variance.
    const auto expect_share = [&](std::size_t lag, double share) {
      std::size_t dropped = 0;
      for (std::size_t i = lag; i < kCount; ++i) {
        dropped += keep[i] == 0 && keep[i - lag] == 0 ? 1 : 0;
      }
      const double count = static_cast<double>(kCount - lag);
      EXPECT_NEAR(static_cast<double>(dropped), count * share,
                  5 * std::sqrt((lag == 0 ? 1 : 3) * count * share * (1 - share)))
          << "rate " << rate << " at distance " << lag;
    };
    expect_share(0, rate);
    for (const std::size_t lag : {1U, 2U, 4U, 8U, 16'384U}) {
      expect_share(lag, rate * rate);
    }
  }
}

TEST(DropoutMask, DependsOnSeedPlaceStepAndElementAlone) {
  const std::vector<std::uint8_t> keep = drawn(maskAt(0.5, 1), 1000);
  EXPECT_EQ(keep, drawn(maskAt(0.5, 1), 1000));
  EXPECT_NE(keep, drawn(maskAt(0.5, 2), 1000));
  EXPECT_NE(keep, drawn(maskAt(0.5, 1, "there"), 1000));
  EXPECT_NE(keep, drawn(DropoutMask(0.5, CounterRng(6, "here"), 1), 1000));
  std::vector<std::uint8_t> pieces(1000);
  for (std::size_t first = 0, length = 8; first < 1000; first += length, length += 16) {
    maskAt(0.5, 1).draw(first, std::span(pieces).subspan(first, std::min(length, 1000 - first)));
  }
  EXPECT_EQ(keep, pieces);
}

TEST(DropoutMask, TakesRatesFromZeroToBelowOne) {
  EXPECT_TRUE(DropoutMask().keepsAll());
  EXPECT_TRUE(maskAt(0).keepsAll());
  EXPECT_EQ(maskAt(0).scale(), 1);
  EXPECT_TRUE(maskAt(1e-6).keepsAll()) << "finer than the bits can tell";
  EXPECT_EQ(maskAt(1e-6).scale(), 1);
  EXPECT_FALSE(maskAt(0.9999999).keepsAll());
  EXPECT_TRUE(std::isfinite(maskAt(0.9999999).scale()));
  for (const double rate : {-0.1, 1.0, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    expectFailure<ConfigError>([&] { (void)maskAt(rate); }, "not in [0, 1)");
  }
}

// Any shape, with sizes around the 16384 elements of a block.
const std::array<Shape, 8> kShapes = {
    {{}, {0}, {7}, {3, 5}, {2, 3, 4}, {16'383}, {16'385}, {40'000}}};

TEST(Dropout, MultipliesByTheMask) {
  for (const Shape& shape : kShapes) {
    for (const double rate : {0.0, 0.3, 0.9}) {
      const DropoutMask mask = maskAt(rate, 4);
      const at::Tensor factor = maskTensor(mask, shape);
      const auto ours = [&](const Tensors& in) { return Tensors{dropout(in[0], mask)}; };
      const auto plain = [&](const Tensors& in) { return Tensors{in[0] * factor}; };
      expectSameDerivatives(ours, plain, {randomLeaf(shape, 1)});
    }
  }
  const DropoutMask mask = maskAt(0.4);
  expectFiniteDifferences([&](const Tensors& in) { return Tensors{dropout(in[0], mask)}; },
                          {randomLeaf({5, 6}, 2)});
  const at::Tensor x = randomTensor({3, 4}, 1);
  EXPECT_TRUE(dropout(x, DropoutMask()).is_same(x)) << "nothing to do, nothing copied";
}

TEST(ReluDropout, RectifiesAndMultipliesByTheMask) {
  for (const Shape& shape : kShapes) {
    for (const double rate : {0.0, 0.3, 0.9}) {
      const DropoutMask mask = maskAt(rate, 4);
      const at::Tensor factor = maskTensor(mask, shape);
      const auto ours = [&](const Tensors& in) { return Tensors{reluDropout(in[0], mask)}; };
      const auto plain = [&](const Tensors& in) { return Tensors{in[0].clamp_min(0) * factor}; };
      expectSameDerivatives(ours, plain, {randomLeaf(shape, 1)});
    }
  }
  const DropoutMask mask = maskAt(0.4);
  expectFiniteDifferences([&](const Tensors& in) { return Tensors{reluDropout(in[0], mask)}; },
                          {randomLeaf({5, 6}, 2)});
}

TEST(ReluDropout, HasNoSlopeAtZero) {
  const Tensors x = {at::zeros({64}, at::TensorOptions(at::kDouble)).set_requires_grad(true)};
  for (const double rate : {0.0, 0.5}) {
    expectClose(gradients(reluDropout(x[0], maskAt(rate)).sum(), x)[0],
                at::zeros({64}, x[0].options().requires_grad(false)));
  }
}

// A model that has run away must show, not be mended by its rectifiers.
TEST(ReluDropout, PassesOnWhatIsNotANumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const at::Tensor x = at::full({100}, nan, at::TensorOptions(type));
    EXPECT_TRUE(at::isnan(reluDropout(x, DropoutMask())).all().item<bool>());
    const at::Tensor kept = maskTensor(maskAt(0.5), {100}) > 0;
    EXPECT_TRUE(at::isnan(reluDropout(x, maskAt(0.5))).equal(kept));
  }
}

TEST(Dropout, TakesAnyLayoutInMemory) {
  const at::Tensor factor = maskTensor(maskAt(0.5), {5, 7});
  expectSameDerivatives(
      [](const Tensors& in) {
        return Tensors{dropout(in[0].t(), maskAt(0.5)), reluDropout(in[0].t(), maskAt(0.5))};
      },
      [&](const Tensors& in) {
        return Tensors{in[0].t() * factor, in[0].t().clamp_min(0) * factor};
      },
      {randomLeaf({7, 5}, 1)});
  const at::Tensor x = randomTensor({7, 5}, 1).t();
  EXPECT_TRUE(sameBits(dropout(x, maskAt(0.5)), dropout(x.contiguous(), maskAt(0.5))));
  EXPECT_TRUE(sameBits(reluDropout(x, maskAt(0.5)), reluDropout(x.contiguous(), maskAt(0.5))));
  // The gradient of a sum is one number seen everywhere.
  const Tensors leaf = {randomLeaf({5, 7}, 1)};
  expectClose(gradients(dropout(leaf[0], maskAt(0.5)).sum(), leaf)[0],
              maskTensor(maskAt(0.5), {5, 7}));
  expectFailure<ConfigError>([&] { (void)dropout(x.to(at::kInt), maskAt(0.5)); },
                             "float or double");
  expectFailure<ConfigError>([&] { (void)reluDropout(x.to(at::kInt), maskAt(0.5)); },
                             "float or double");
}

TEST(Dropout, GivesTheSameBitsForAnyThreadCount) {
  const Tensors x = {randomLeaf({3001, 33}, 1, at::kFloat)};
  for (const double rate : {0.0, 0.5}) {
    const DropoutMask mask = maskAt(rate);
    expectSameBitsForThreads(
        [&](const Tensors& in) { return Tensors{dropout(in[0], mask), reluDropout(in[0], mask)}; },
        x);
  }
}

at::Tensor denseOf(const FeatureMatrix& features) {
  at::Tensor dense = at::zeros(
      {static_cast<std::int64_t>(features.rows()), static_cast<std::int64_t>(features.columns())},
      at::TensorOptions(at::kDouble));
  auto entries = dense.accessor<double, 2>();
  for (std::size_t row = 0; row < features.rows(); ++row) {
    for (std::uint64_t i = features.rowOffsets()[row]; i < features.rowOffsets()[row + 1]; ++i) {
      entries[static_cast<std::int64_t>(row)][features.columnIndices()[i]] = features.values()[i];
    }
  }
  return dense;
}

// The features with dropout on each entry by its place among all, in floats as they are stored.
FeatureMatrix droppedByHand(const FeatureMatrix& features, const DropoutMask& mask) {
  const std::vector<std::uint8_t> keep = drawn(mask, features.values().size());
  std::vector<float> values(features.values().begin(), features.values().end());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] *= keep[i] != 0 ? static_cast<float>(mask.scale()) : 0.0F;
  }
  return FeatureMatrix::sparse(
      features.columns(), {features.rowOffsets().begin(), features.rowOffsets().end()},
      {features.columnIndices().begin(), features.columnIndices().end()}, std::move(values));
}

void expectSameMatrix(const std::shared_ptr<const SparseMatrix>& matrix, const at::Tensor& dense,
                      std::int64_t width) {
  ASSERT_EQ(static_cast<std::int64_t>(matrix->rowCount()), dense.size(0));
  ASSERT_EQ(static_cast<std::int64_t>(matrix->columnCount()), dense.size(1));
  expectSameDerivatives([&](const Tensors& in) { return Tensors{sparseMatmul(matrix, in[0])}; },
                        [&](const Tensors& in) { return Tensors{dense.matmul(in[0])}; },
                        {randomLeaf({dense.size(1), width}, 9)});
}

TEST(SparseMatrix, EqualsTheDenseOneWithItsDerivatives) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const FeatureMatrix features = randomFeatures(1 + seed % 7 * 5, 1 + seed % 5 * 4, seed);
    const auto matrix = SparseMatrix::make(features);
    const at::Tensor dense = denseOf(features);
    EXPECT_EQ(matrix->entryCount(), features.nonzeroCount());
    for (const std::int64_t width : {0, 1, 15, 16, 20, 48, 130}) {
      expectSameMatrix(matrix, dense, width);
      expectSameMatrix(matrix->transposed(), dense.t(), width);
    }
    expectSameMatrix(matrix->transposed()->transposed(), dense, 3);
  }
}

TEST(SparseMatrix, MultipliesWideTablesAsNarrowOnes) {
  // Rows of the wide one are asked for ahead.
  const auto matrix = SparseMatrix::make(randomFeatures(40, 5000, 3));
  const at::Tensor x = randomTensor({5000, 64}, 4).to(at::kFloat);
  const at::Tensor wide = sparseMatmul(matrix, x);
  for (std::int64_t first = 0; first < 64; first += 16) {
    const at::Tensor narrow = sparseMatmul(matrix, x.narrow(1, first, 16).contiguous());
    EXPECT_TRUE(wide.narrow(1, first, 16).equal(narrow));
  }
}

TEST(SparseMatrix, MayBeEmpty) {
  expectSameMatrix(SparseMatrix::make(FeatureMatrix::sparse(4, {0, 0, 0, 0}, {}, {})),
                   at::zeros({3, 4}, at::TensorOptions(at::kDouble)), 2);
  expectSameMatrix(SparseMatrix::make(FeatureMatrix::sparse(4, {0}, {}, {})),
                   at::zeros({0, 4}, at::TensorOptions(at::kDouble)), 2);
}

TEST(SparseMatrix, DropsEntriesByTheirPlaces) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    // The last is long enough for several blocks.
    const FeatureMatrix features =
        seed == 5 ? randomFeatures(900, 200, seed) : randomFeatures(20, 9, seed);
    const auto matrix = SparseMatrix::make(features);
    const DropoutMask mask = maskAt(0.3, seed);
    const auto dropped = matrix->dropped(mask);
    const at::Tensor dense = denseOf(droppedByHand(features, mask));
    EXPECT_FALSE(dense.equal(denseOf(features)));
    EXPECT_EQ(dropped->entryCount(), matrix->entryCount());
    expectSameMatrix(dropped, dense, 5);
    expectSameMatrix(dropped->transposed(), dense.t(), 5);
    expectSameMatrix(matrix, denseOf(features), 5);
    expectSameMatrix(matrix->dropped(DropoutMask()), denseOf(features), 5);
  }
}

TEST(SparseMatrix, RefusesWhatDoesNotFit) {
  const auto matrix = SparseMatrix::make(randomFeatures(4, 3, 1));
  expectFailure<ShapeError>([&] { (void)sparseMatmul(matrix, randomTensor({4, 2}, 1)); },
                            "sparse [4, 3] by [4, 2]");
  expectFailure<ShapeError>([&] { (void)sparseMatmul(matrix, randomTensor({3}, 1)); },
                            "1 dimensions");
  expectFailure<ConfigError>(
      [&] { (void)sparseMatmul(matrix, randomTensor({3, 2}, 1).to(at::kLong)); },
      "float or double");
  EXPECT_THROW((void)SparseMatrix::make(FeatureMatrix::dense(1, 1, {1})), std::logic_error);
  EXPECT_THROW((void)matrix->transposed()->dropped(maskAt(0.5)), std::logic_error);
}

TEST(SparseMatrix, GivesTheSameBitsForAnyThreadCount) {
  const auto matrix = SparseMatrix::make(randomFeatures(3000, 500, 3));
  ASSERT_GT(matrix->entryCount(), 100'000U);
  expectSameBitsForThreads(
      [&](const Tensors& in) { return Tensors{sparseMatmul(matrix->dropped(maskAt(0.5)), in[0])}; },
      {randomLeaf({500, 33}, 1, at::kFloat)});
}

}  // namespace
}  // namespace edgewise
