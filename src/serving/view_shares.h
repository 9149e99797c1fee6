// Views of a pair as explanations show them.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <span>
#include <vector>

#include "edgewise/serving/explanation.h"
#include "edgewise/training/stored_model.h"
#include "edgewise/views/link_model.h"

namespace edgewise::detail {

// `first_hops` is how far the first layer looks.
//
// A view for each score [views, 1], weighted by the softmax of all.
[[nodiscard]] std::vector<ViewShare> softShares(std::span<const LayerPair> views, int first_hops,
                                                const at::Tensor& scores, double temperature);

// How the selector of a searched model weighs the views of a pair over these messages.
[[nodiscard]] std::vector<ViewShare> selectorShares(
    const LinkModel& model, const ModelWeights& weights,
    const std::shared_ptr<const MessagePlan>& messages, Edge pair, double temperature);

// The same views with what each counts for in the score where only those chosen do, several of
// them; the choice is that of one pair.
[[nodiscard]] std::vector<ViewShare> usedShares(std::vector<ViewShare> shares,
                                                const ViewChoices& choice, int first_hops);

// All the weight on one view of so many hops, for a reason that lies not in the pair.
[[nodiscard]] std::vector<ViewShare> oneShare(std::span<const LayerPair> views, int first_hops,
                                              HopPair chosen);

// One view for all pairs; where pairs have no direction and the view has one, both ways count.
[[nodiscard]] std::vector<ViewShare> fixedShares(HopPair view, bool directed, double score);

}  // namespace edgewise::detail
