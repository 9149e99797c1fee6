// Soft and hard choices among views. All throw ShapeError for no view at all, sizes that disagree
// or a view of a layer that is not there.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <span>
#include <vector>

#include "edgewise/ops/pair_index.h"
#include "edgewise/ops/view_pairs.h"

namespace edgewise {

// softmax over the rows of each column of scores [views, pairs] divided by `temperature`: every
// pair's weights add up to 1. Twice differentiable.
[[nodiscard]] at::Tensor viewSoftmax(const at::Tensor& scores, double temperature);

// sum over views of weights [views, pairs] * z[view] [pairs, width] -> [pairs, width]. Twice
// differentiable.
[[nodiscard]] at::Tensor mixViews(std::span<const at::Tensor> z, const at::Tensor& weights);

// The same for z = viewPairs(layers, pairs, views), which are not computed all at once, and never
// where a weight is 0. Differentiable once; the same bits for any number of threads.
[[nodiscard]] at::Tensor mixedPairs(std::span<const at::Tensor> layers,
                                    const std::shared_ptr<const PairIndex>& pairs,
                                    std::span<const LayerPair> views, const at::Tensor& weights);

// One view for each pair: z[p] = layers[i_p][source of p] * layers[j_p][target of p].
// Differentiable once. Nothing is computed for the other views.
[[nodiscard]] at::Tensor chosenPairs(std::span<const at::Tensor> layers,
                                     const std::shared_ptr<const PairIndex>& pairs,
                                     std::shared_ptr<const std::vector<LayerPair>> choice);

}  // namespace edgewise
