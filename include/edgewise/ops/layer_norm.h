// Layer normalisation: each row to mean 0 and variance 1, then scaled and shifted by column.
#pragma once

#include <ATen/core/Tensor.h>

namespace edgewise {

// x [rows, width], scale and shift [width]. Twice differentiable; the same bits for any number of
// threads. Throws ShapeError for other sizes.
[[nodiscard]] at::Tensor layerNorm(const at::Tensor& x, const at::Tensor& scale,
                                   const at::Tensor& shift, double epsilon = 1e-5);

}  // namespace edgewise
