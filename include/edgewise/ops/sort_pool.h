// Sort pooling (Zhang et al. 2018): of graphs that lie side by side the rows with the largest keys,
// in falling order, as many of each graph; what a network of fixed size can read.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

namespace edgewise {

// The `count` rows of each group with the largest keys [rows], largest first and of equals the
// earlier one: [groups * count] of int64 where the keys are, -1 where a group has no more rows.
// Group g holds the rows offsets[g] .. offsets[g + 1]. Throws ShapeError when the offsets do not
// end at the number of keys.
[[nodiscard]] at::Tensor topRows(const at::Tensor& keys, std::span<const std::uint64_t> offsets,
                                 std::int64_t count);

// x [rows, columns] -> [picked, columns]: the rows that `rows` names, zeros for -1. A row must not
// be named twice. Differentiable once.
[[nodiscard]] at::Tensor pickRows(const at::Tensor& x, const at::Tensor& rows);

}  // namespace edgewise
