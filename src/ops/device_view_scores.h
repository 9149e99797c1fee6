// viewScores on a GPU.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <span>

#include "edgewise/ops/pair_index.h"
#include "edgewise/ops/view_pairs.h"

namespace edgewise::detail {

// As viewScores, whose checks have been made. All views of all pairs stand one under the other, and
// so do the hidden layers: there is memory for it, and one product over all rows is what a GPU is
// fastest at.
[[nodiscard]] at::Tensor viewScoresOnDevice(std::span<const at::Tensor> layers,
                                            const std::shared_ptr<const PairIndex>& pairs,
                                            std::span<const LayerPair> views,
                                            std::span<const at::Tensor> weights,
                                            std::span<const at::Tensor> biases);

}  // namespace edgewise::detail
