#include "edgewise/ops/pair_tile.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <vector>

#include "edgewise/util/error.h"
#include "edgewise/util/parallel.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::expectFailure;

constexpr std::int64_t kWidth = 24;

at::Tensor filled(std::int64_t rows, std::int64_t columns, double phase) {
  return at::sin(at::arange(rows * columns, at::kFloat).view({rows, columns}) * 0.37 + phase);
}

TileMlp mlpOf(const std::vector<std::int64_t>& widths, bool residual = false) {
  TileMlp mlp;
  mlp.residual = residual;
  for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
    mlp.weights.push_back(filled(widths[l], widths[l + 1], 0.1 * static_cast<double>(l)) * 0.3);
    mlp.biases.push_back(filled(1, widths[l + 1], 0.9).view({-1}) * 0.2);
  }
  return mlp;
}

// Pair by pair, in double precision.
std::vector<double> plainScores(const TileRows& rows, const TileMlp& mlp) {
  std::vector<double> scores;
  for (std::int64_t s = 0; s < rows.left[0].size(0); ++s) {
    at::Tensor z = at::zeros({rows.right[0].size(0), rows.left[0].size(1)}, at::kDouble);
    for (std::size_t t = 0; t < rows.left.size(); ++t) {
      z = z + rows.right[t].to(at::kDouble) * rows.left[t].to(at::kDouble).narrow(0, s, 1);
    }
    at::Tensor h = z;
    for (std::size_t l = 0; l < mlp.weights.size(); ++l) {
      h = at::mm(h, mlp.weights[l].to(at::kDouble)) + mlp.biases[l].to(at::kDouble);
      if (l + 1 < mlp.weights.size()) {
        h = at::relu(mlp.residual ? h + z : h);
      }
    }
    h = (mlp.weights.empty() ? h.sum(1) : h.view({-1})).contiguous();
    scores.insert(scores.end(), h.data_ptr<double>(), h.data_ptr<double>() + h.numel());
  }
  return scores;
}

std::vector<double> tileScores(const TileRows& rows, const TileMlp& mlp) {
  std::vector<double> out(static_cast<std::size_t>(rows.left[0].size(0) * rows.right[0].size(0)),
                          0);
  addTileScores(rows, mlp, 1, out);
  return out;
}

TEST(PairTile, ScoresEveryPairAsOneByOne) {
  // More targets than one piece holds, and not a multiple of it.
  const TileRows rows{{filled(3, kWidth, 0), filled(3, kWidth, 1)},
                      {filled(1100, kWidth, 2), filled(1100, kWidth, 3)}};
  for (const TileMlp& mlp : {mlpOf({kWidth, 16, 40, 1}), mlpOf({kWidth, 1}), TileMlp{},
                             mlpOf({kWidth, kWidth, kWidth, 1}, true)}) {
    const std::vector<double> expected = plainScores(rows, mlp);
    const std::vector<double> found = tileScores(rows, mlp);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_NEAR(found[i], expected[i], 1e-4) << i;
    }
  }
}

TEST(PairTile, AddsItsShare) {
  const TileRows rows{{filled(2, kWidth, 0)}, {filled(5, kWidth, 2)}};
  const TileMlp mlp = mlpOf({kWidth, 8, 1});
  const std::vector<double> once = tileScores(rows, mlp);
  std::vector<double> out(10, 1);
  addTileScores(rows, mlp, 0.25, out);
  addTileScores(rows, mlp, 0.5, out);
  for (std::size_t i = 0; i < out.size(); ++i) {
    EXPECT_NEAR(out[i], 1 + 0.75 * once[i], 1e-12);
  }
}

TEST(PairTile, DoesNotDependOnThreads) {
  const TileRows rows{{filled(40, kWidth, 0)}, {filled(700, kWidth, 2)}};
  const TileMlp mlp = mlpOf({kWidth, 32, 32, 1});
  const int before = threadCount();
  setThreadCount(1);
  const std::vector<double> alone = tileScores(rows, mlp);
  setThreadCount(3);
  EXPECT_EQ(tileScores(rows, mlp), alone);
  setThreadCount(before);
}

TEST(PairTile, RefusesSizesThatDoNotFit) {
  std::vector<double> out(10);
  const at::Tensor left = filled(2, kWidth, 0);
  const at::Tensor right = filled(5, kWidth, 0);
  expectFailure<ShapeError>([&] { addTileScores({{left}, {}}, {}, 1, out); }, "as many left");
  expectFailure<ShapeError>([&] { addTileScores({{left}, {filled(5, 3, 0)}}, {}, 1, out); },
                            "was given others");
  expectFailure<ShapeError>([&] { addTileScores({{left}, {right}}, mlpOf({7, 1}), 1, out); },
                            "does not fit");
  expectFailure<ShapeError>(
      [&] { addTileScores({{left}, {right}}, {}, 1, std::span(out).first(9)); }, "9 places");
}

}  // namespace
}  // namespace edgewise
