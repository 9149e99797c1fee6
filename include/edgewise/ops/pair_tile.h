// Scores of all pairs of two sets of rows at once, without gradients: what a search among millions
// of pairs spends its time on. A few hundred pairs of one source at a time go through all layers of
// the predictor while they stay in a core's cache, so nearly all of the time is in products.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

namespace edgewise {

// An MLP with rectifiers between its layers and one output; without layers, the sum of its input.
struct TileMlp {
  // [in, out] each, and [out].
  std::vector<at::Tensor> weights;
  std::vector<at::Tensor> biases;
  // Its input is added to every hidden layer before the rectifier.
  bool residual = false;
};

// A pair is represented by the sum over terms t of left[t][source] * right[t][target].
struct TileRows {
  // [sources, width] each.
  std::vector<at::Tensor> left;
  // [targets, width] each.
  std::vector<at::Tensor> right;
};

// Adds weight * mlp(pair) to out[source * targets + target] for every pair. Floats on the
// processor. The same bits for any number of threads. Throws ShapeError for sizes that do not fit.
void addTileScores(const TileRows& rows, const TileMlp& mlp, double weight, std::span<double> out);

}  // namespace edgewise
