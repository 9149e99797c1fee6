// The selector's work: an MLP on every view of every pair. With K layers a pair has K^2 views, so
// neither their representations nor the hidden layers on top of them are ever held in memory.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <span>

#include "edgewise/ops/pair_index.h"
#include "edgewise/ops/view_pairs.h"

namespace edgewise {

// [views, pairs]: the MLP of `weights` and `biases`, with rectifiers between its layers, on each
// z[p] = layers[i][source of p] * layers[j][target of p]. `layers` are [nodes, width] each, the
// weights [width, ...] ... [..., 1], first to last; biases are one a weight, undefined where there
// is none, or no biases at all. Differentiable once, by everything; the same bits for any number of
// threads. Of the hidden units the gradient keeps a bit each, and computes again what it needs.
// Throws ShapeError for sizes that disagree or a view of a layer that is not there.
[[nodiscard]] at::Tensor viewScores(std::span<const at::Tensor> layers,
                                    const std::shared_ptr<const PairIndex>& pairs,
                                    std::span<const LayerPair> views,
                                    std::span<const at::Tensor> weights,
                                    std::span<const at::Tensor> biases);

}  // namespace edgewise
