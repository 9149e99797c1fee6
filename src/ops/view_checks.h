// What the operations on views of pairs ask of their input. All throw ShapeError.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <span>

#include "edgewise/ops/pair_index.h"
#include "edgewise/ops/view_pairs.h"

namespace edgewise::detail {

// A matrix with a row for each node that the pairs know.
void requireNodes(const char* op, const at::Tensor& x, const PairIndex& pairs);
// At least one layer, all [nodes, width] and of one type.
void requireLayers(const char* op, std::span<const at::Tensor> layers, const PairIndex& pairs);
// Views of so many layers.
void requireViews(std::span<const LayerPair> views, std::size_t layers);
// At least one view besides.
void requireLayersAndViews(const char* op, std::span<const at::Tensor> layers,
                           const PairIndex& pairs, std::span<const LayerPair> views);
// A matrix [views, pairs].
void requireViewWeights(const char* op, const at::Tensor& weights, std::size_t views,
                        std::size_t pairs);

}  // namespace edgewise::detail
