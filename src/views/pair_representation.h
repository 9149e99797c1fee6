// COM of the paper: how two ends become one representation.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <span>
#include <vector>

#include "edgewise/ops/view_pairs.h"
#include "edgewise/views/view_choice.h"

namespace edgewise::detail {

// One tensor a view: products [pairs, width], or both ends side by side [pairs, 2 * width].
[[nodiscard]] std::vector<at::Tensor> representPairs(std::span<const at::Tensor> layers,
                                                     const std::shared_ptr<const PairIndex>& pairs,
                                                     std::span<const LayerPair> views,
                                                     bool concatenate);

// The representation of view (i, j) with the ends exchanged: what the pair (v, u) has.
[[nodiscard]] at::Tensor representTurned(std::span<const at::Tensor> layers,
                                         const std::shared_ptr<const PairIndex>& pairs,
                                         LayerPair view, bool concatenate);

// Every pair under the views chosen for it, weighted: [pairs, width], or twice as wide.
[[nodiscard]] at::Tensor representChosen(std::span<const at::Tensor> layers,
                                         const std::shared_ptr<const PairIndex>& pairs,
                                         const ViewChoices& choice, bool concatenate);

// [pairs]: the dot products of all views, weighted by shares [views, pairs]. As often
// differentiable as its parts.
[[nodiscard]] at::Tensor mixedDots(std::span<const at::Tensor> layers,
                                   const std::shared_ptr<const PairIndex>& pairs,
                                   std::span<const LayerPair> views, const at::Tensor& shares);

// The mean of tensors of one shape.
[[nodiscard]] at::Tensor meanOf(std::span<const at::Tensor> parts);

// Ends side by side, [pairs, 2 * width], the other way round.
[[nodiscard]] at::Tensor endsExchanged(const at::Tensor& z);

// The same pairs with their ends exchanged.
[[nodiscard]] std::shared_ptr<const PairIndex> turned(const PairIndex& pairs);

}  // namespace edgewise::detail
