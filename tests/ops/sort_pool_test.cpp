#include "edgewise/ops/sort_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "edgewise/ops/tangent.h"
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
using testing::Tensors;

std::vector<std::int64_t> valuesOf(const at::Tensor& tensor) {
  const auto* first = tensor.data_ptr<std::int64_t>();
  return {first, first + tensor.numel()};
}

at::Tensor rowsOf(const std::vector<std::int64_t>& rows) { return at::tensor(rows, at::kLong); }

TEST(SortPool, TakesTheLargestOfEachGroupAndOfEqualsTheEarlier) {
  const at::Tensor keys = at::tensor(std::vector<double>{1, 3, 2, 3, -1, 7, 7, 7, 0}, at::kDouble);
  const std::vector<std::uint64_t> offsets = {0, 4, 5, 5, 9};
  EXPECT_EQ(valuesOf(topRows(keys, offsets, 3)),
            (std::vector<std::int64_t>{1, 3, 2, 4, -1, -1, -1, -1, -1, 5, 6, 7}));
  EXPECT_EQ(valuesOf(topRows(keys.to(at::kFloat), offsets, 1)),
            (std::vector<std::int64_t>{1, 4, -1, 5}));
}

TEST(SortPool, OfNoGroupsIsEmpty) {
  const std::vector<std::uint64_t> offsets = {0};
  EXPECT_EQ(topRows(at::zeros({0}, at::kFloat), offsets, 5).numel(), 0);
}

TEST(SortPool, RefusesGroupsOfOtherKeys) {
  const std::vector<std::uint64_t> offsets = {0, 3};
  expectFailure<ShapeError>([&] { (void)topRows(at::zeros({4}, at::kFloat), offsets, 2); },
                            "3 rows for 4 keys");
}

TEST(SortPool, PicksRowsAndGivesGradientsBackToThem) {
  const at::Tensor x = randomLeaf({5, 3}, 1);
  const at::Tensor rows = rowsOf({4, -1, 0, 2, -1});
  const at::Tensor picked = pickRows(x, rows);
  const at::Tensor plain =
      at::stack({x[4], at::zeros({3}, at::kDouble), x[0], x[2], at::zeros({3}, at::kDouble)});
  expectClose(picked, plain);
  const at::Tensor weight = randomTensor({5, 3}, 2);
  expectClose(gradients((picked * weight).sum(), Tensors{x}),
              gradients((plain * weight).sum(), Tensors{x}));
}

TEST(SortPool, PickingDoesNotDependOnThreads) {
  const at::Tensor x = randomLeaf({20'000, 7}, 3, at::kFloat);
  std::vector<std::uint64_t> offsets = {0};
  while (offsets.back() < 20'000) {
    offsets.push_back(std::min<std::uint64_t>(20'000, offsets.back() + 1 + offsets.size() % 90));
  }
  expectSameBitsForThreads([&] {
    const at::Tensor rows = topRows(x.select(1, 6), offsets, 30);
    const at::Tensor picked = pickRows(x, rows);
    return Tensors{rows, picked, gradients((picked * picked).sum(), Tensors{x})[0]};
  });
}

TEST(Tangent, EqualsTorchsWithItsDerivatives) {
  const Tensors x = {randomLeaf({40, 30}, 1)};
  expectSameDerivatives([](const Tensors& in) { return Tensors{hyperbolicTangent(in[0])}; },
                        [](const Tensors& in) { return Tensors{at::tanh(in[0])}; }, x);
  expectFiniteDifferences([](const Tensors& in) { return Tensors{hyperbolicTangent(in[0])}; }, x);
}

TEST(Tangent, OfFloatsIsRightToTheLastPlaces) {
  std::vector<float> values = {0.0F,   -0.0F,  1e-30F,
                               1e-8F,  9.5F,   -9.5F,
                               100.0F, -1e30F, std::numeric_limits<float>::infinity()};
  for (int i = -2000; i <= 2000; ++i) {
    values.push_back(static_cast<float>(i) * 0.00491F);
    values.push_back(static_cast<float>(i) * 1.7e-5F);
  }
  const at::Tensor out = hyperbolicTangent(at::tensor(values, at::kFloat));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double want = std::tanh(static_cast<double>(values[i]));
    EXPECT_NEAR(out.data_ptr<float>()[i], want, 5e-7 * std::abs(want)) << values[i];
  }
}

TEST(Tangent, DoesNotDependOnThreads) {
  const Tensors x = {randomLeaf({501, 333}, 5, at::kFloat)};
  expectSameBitsForThreads([](const Tensors& in) { return Tensors{hyperbolicTangent(in[0])}; }, x);
}

}  // namespace
}  // namespace edgewise
