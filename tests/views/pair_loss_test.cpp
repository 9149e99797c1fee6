#include "edgewise/views/pair_loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/tensors.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::expectFailure;
using testing::expectSameBitsForThreads;
using testing::expectSameDerivatives;
using testing::randomLeaf;
using testing::Tensors;

// `positives` pairs and `each` negatives for every one of them; which nodes they are of is not
// looked at.
PairBatch batchOf(std::size_t positives, std::size_t each, at::ScalarType type = at::kDouble) {
  const std::vector<Edge> links(positives, makeEdge(0, 1));
  const std::vector<Edge> others(positives * each, makeEdge(0, 2));
  return PairBatch::make(links, others, 3, type);
}

double valueOf(const LossOptions& options, const std::vector<double>& scores, std::size_t positives,
               std::size_t each) {
  return pairLoss(options, at::tensor(scores, at::kDouble), batchOf(positives, each))
      .item<double>();
}

TEST(PairLoss, HasHandWorkedValues) {
  // Positives 2 and 0; the first one's negatives are 1 and -1, the second one's 0 and 3.
  const std::vector<double> scores = {2, 0, 1, -1, 0, 3};
  const auto softplus = [](double x) { return std::log1p(std::exp(x)); };
  EXPECT_NEAR(
      valueOf({.kind = "bce"}, scores, 2, 2),
      (softplus(-2) + softplus(0) + softplus(1) + softplus(-1) + softplus(0) + softplus(3)) / 6,
      1e-15);
  EXPECT_NEAR(valueOf({.kind = "bpr"}, scores, 2, 2),
              (softplus(-1) + softplus(-3) + softplus(0) + softplus(3)) / 4, 1e-15);
  const double first = std::log(std::exp(2) + std::exp(1) + std::exp(-1)) - 2;
  const double second = std::log(1 + 1 + std::exp(3));
  EXPECT_NEAR(valueOf({.kind = "softmax"}, scores, 2, 2), (first + second) / 2, 1e-15);
  const double sharp = std::log(std::exp(4) + std::exp(2) + std::exp(-2)) - 4;
  EXPECT_NEAR(valueOf({.kind = "softmax", .temperature = 0.5}, {2, 1, -1}, 1, 2), sharp, 1e-15);
}

// Two positives; scores of the sources with both targets: 2 and 1, -1 and 3.
TEST(BatchLoss, ComparesPositivesWithOneAnother) {
  const at::Tensor sources = at::tensor({1.0, 0.0, 0.0, 1.0}, at::kDouble).view({2, 2});
  const at::Tensor targets = at::tensor({2.0, -1.0, 1.0, 3.0}, at::kDouble).view({2, 2});
  const auto of = [&](double temperature) {
    return batchLoss(sources, targets, temperature).item<double>();
  };
  const auto surprise = [](double own, double other) { return std::log1p(std::exp(other - own)); };
  EXPECT_NEAR(of(1), (surprise(2, 1) + surprise(3, -1)) / 2, 1e-15);
  EXPECT_NEAR(of(0.5), (surprise(4, 2) + surprise(6, -2)) / 2, 1e-15);
  const Tensors leaves = {randomLeaf({5, 3}, 4), randomLeaf({5, 3}, 6)};
  expectSameDerivatives([&](const Tensors& in) { return Tensors{batchLoss(in[0], in[1], 0.3)}; },
                        [&](const Tensors& in) {
                          const at::Tensor scores = at::mm(in[0], in[1].t()) / 0.3;
                          return Tensors{(at::logsumexp(scores, 1) - scores.diagonal()).mean()};
                        },
                        leaves);
}

TEST(PairLoss, EqualsTorchsOwnWithDerivatives) {
  constexpr std::int64_t kPositives = 7;
  constexpr std::int64_t kEach = 5;
  const PairBatch batch = batchOf(kPositives, kEach);
  const Tensors scores = {randomLeaf({kPositives * (1 + kEach)}, 4)};
  const auto parts = [](const at::Tensor& all) {
    return std::pair{all.narrow(0, 0, kPositives).unsqueeze(1),
                     all.narrow(0, kPositives, kPositives * kEach).view({kPositives, kEach})};
  };
  expectSameDerivatives(
      [&](const Tensors& in) { return Tensors{pairLoss({.kind = "bpr"}, in[0], batch)}; },
      [&](const Tensors& in) {
        const auto [positive, negative] = parts(in[0]);
        return Tensors{-at::log_sigmoid(positive - negative).mean()};
      },
      scores);
  expectSameDerivatives(
      [&](const Tensors& in) {
        return Tensors{pairLoss({.kind = "softmax", .temperature = 0.3}, in[0], batch)};
      },
      [&](const Tensors& in) {
        const auto [positive, negative] = parts(in[0]);
        return Tensors{
            -at::log_softmax(at::cat({positive, negative}, 1) / 0.3, 1).select(1, 0).mean()};
      },
      scores);
}

TEST(PairLoss, StandsLargeScores) {
  for (const double size : {1e3, 1e6}) {
    EXPECT_NEAR(valueOf({.kind = "softmax"}, {-size, size, 0}, 1, 2), 2 * size, 1e-9 * size);
    EXPECT_EQ(valueOf({.kind = "softmax"}, {size, -size, 0}, 1, 2), 0);
    EXPECT_NEAR(valueOf({.kind = "bpr"}, {-size, size}, 1, 1), 2 * size, 1e-9 * size);
  }
}

TEST(PairLoss, GivesTheSameBitsOnAnyNumberOfThreads) {
  const PairBatch batch = batchOf(700, 65, at::kFloat);
  const at::Tensor scores = randomLeaf({700 * 66}, 9, at::kFloat);
  for (const char* kind : {"bpr", "softmax"}) {
    expectSameBitsForThreads([&] {
      const at::Tensor value = pairLoss({.kind = kind, .temperature = 0.2}, scores, batch);
      return Tensors{value, gradients(value, Tensors{scores})[0]};
    });
  }
}

TEST(PairLoss, RefusesNegativesThatCannotBeSharedOut) {
  const at::Tensor scores = at::zeros({5}, at::kDouble);
  PairBatch batch = batchOf(5, 0);
  batch.positives = 2;
  for (const char* kind : {"bpr", "softmax"}) {
    expectFailure<ShapeError>([&] { (void)pairLoss({.kind = kind}, scores, batch); },
                              "3 negatives cannot be shared out among 2");
    batch.positives = 5;
    expectFailure<ShapeError>([&] { (void)pairLoss({.kind = kind}, scores, batch); },
                              "0 negatives");
    batch.positives = 2;
  }
}

}  // namespace
}  // namespace edgewise
