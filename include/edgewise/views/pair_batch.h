// Pairs to learn from, with what is known about them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
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
  // Where views are chosen by pair and are to count so; else null.
  ViewChoice choice = nullptr;
  // Where negatives belong to positives, those of the i-th follow those of the one before.
  std::size_t positives = 0;

  static PairBatch make(std::span<const Edge> positive, std::span<const Edge> negative,
                        std::size_t node_count, at::ScalarType type = at::kFloat);
};

}  // namespace edgewise
