// Pairs to learn from, with what is known about them.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <span>

#include "edgewise/graph/types.h"
#include "edgewise/ops/pair_index.h"
#include "edgewise/views/view_choice.h"

namespace edgewise {

// Positives first, then negatives.
struct PairBatch {
  std::shared_ptr<const PairIndex> pairs;
  // [pairs]: 1 for a link, 0 for none.
  at::Tensor labels;
  // Where views are chosen by pair; else null.
  ViewChoice choice = nullptr;

  static PairBatch make(std::span<const Edge> positive, std::span<const Edge> negative,
                        std::size_t node_count, at::ScalarType type = at::kFloat);
};

}  // namespace edgewise
