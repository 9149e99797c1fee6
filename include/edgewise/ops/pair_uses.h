// What a batch of pairs makes of single nodes' rows: which of them are used, and how much.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>

#include "edgewise/ops/pair_index.h"

namespace edgewise {

// Half the squares of the rows of x [nodes, width] that a batch uses -> []. Both ends of a positive
// count once each time they occur. The first `positives` pairs are those, the others are negatives,
// the same number for each; a negative shares its positive's source, so its target alone counts,
// and the targets of one positive's negatives count once together. Differentiable any number of
// times. Throws ShapeError when negatives cannot be shared out or x has another number of rows.
[[nodiscard]] at::Tensor usedSquares(const at::Tensor& x,
                                     const std::shared_ptr<const PairIndex>& pairs,
                                     std::size_t positives);

}  // namespace edgewise
