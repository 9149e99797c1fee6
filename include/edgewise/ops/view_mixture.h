// Soft and hard choices among views. All throw ShapeError for no view at all, sizes that disagree
// or a view of a layer that is not there.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <span>
#include <vector>

#include "edgewise/ops/pair_index.h"
#include "edgewise/ops/view_pairs.h"
#include "edgewise/util/rng.h"

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

// Choices made on a device, as shares [views, pairs] that mixedPairs takes: every pair's chosen
// views add up to 1, the others are 0. Views are all of `depth` layers.
struct TopViews {
  std::size_t depth = 1;
  std::size_t top = 1;
  double temperature = 1;
  // (u, v) and (v, u) choose alike.
  bool symmetric = true;
};
// The best by scores [views, pairs], weighted by their softmax.
[[nodiscard]] at::Tensor topShares(const at::Tensor& scores, const PairIndex& pairs,
                                   const TopViews& options);
// What was chosen before for rows [pairs] of int32: places [known, top] (bytes) and weights [known,
// top] (floats).
[[nodiscard]] at::Tensor knownShares(const at::Tensor& rows, const at::Tensor& places,
                                     const at::Tensor& weights, std::size_t views);
// One view by a hash of random numbers and pair.
[[nodiscard]] at::Tensor randomShares(const CounterRng& random, const PairIndex& pairs,
                                      std::size_t depth, bool symmetric);

}  // namespace edgewise
