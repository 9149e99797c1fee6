#include "edgewise/ops/pair_uses.h"

#include <gtest/gtest.h>

#include "support/tensors.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::expectFailure;
using testing::expectSameBitsForThreads;
using testing::expectSameDerivatives;
using testing::randomLeaf;
using testing::Tensors;

// Two positives with two negatives each: (0, 3), (1, 3) and (0, 4), (0, 3), (1, 4), (1, 4).
std::shared_ptr<const PairIndex> smallBatch() {
  return PairIndex::make(std::vector<Edge>{makeEdge(0, 3), makeEdge(1, 3), makeEdge(0, 4),
                                           makeEdge(0, 3), makeEdge(1, 4), makeEdge(1, 4)},
                         5);
}

TEST(UsedSquares, CountsEndsOfPositivesAndSharesOfNegativeTargets) {
  // Node 3 is met by two positives and by one of two negatives; node 4 by three halves.
  const at::Tensor weights = at::tensor({1.0, 1.0, 0.0, 2.5, 1.5}, at::kDouble);
  expectSameDerivatives(
      [](const Tensors& in) { return Tensors{usedSquares(in[0], smallBatch(), 2)}; },
      [&](const Tensors& in) { return Tensors{(in[0] * in[0] * weights.unsqueeze(1)).sum() / 2}; },
      {randomLeaf({5, 3}, 1)});
}

TEST(UsedSquares, HasAHandWorkedValue) {
  const at::Tensor x = at::tensor({1.0, 2.0, 9.0, 3.0, 4.0}, at::kDouble).view({5, 1});
  // (1 + 4 + 2.5 * 9 + 1.5 * 16) / 2.
  EXPECT_DOUBLE_EQ(usedSquares(x, smallBatch(), 2).item<double>(), 25.75);
}

TEST(UsedSquares, GivesTheSameBitsOnAnyNumberOfThreads) {
  std::vector<Edge> pairs;
  for (std::uint32_t i = 0; i < 6000; ++i) {
    pairs.push_back(makeEdge(i % 997, 1000 + (i * 31) % 1500));
  }
  const auto index = PairIndex::make(pairs, 2500);
  const at::Tensor x = testing::randomLeaf({2500, 16}, 3, at::kFloat);
  expectSameBitsForThreads([&] {
    const at::Tensor value = usedSquares(x, index, 2000);
    return Tensors{value, gradients(value, Tensors{x})[0]};
  });
}

TEST(UsedSquares, RefusesWhatDoesNotFit) {
  const at::Tensor x = at::zeros({5, 2});
  expectFailure<ShapeError>([&] { (void)usedSquares(x, smallBatch(), 4); }, "4 positives");
  expectFailure<ShapeError>([&] { (void)usedSquares(x, smallBatch(), 0); }, "0 positives");
  expectFailure<ShapeError>([&] { (void)usedSquares(at::zeros({4, 2}), smallBatch(), 2); },
                            "4 rows");
}

}  // namespace
}  // namespace edgewise
