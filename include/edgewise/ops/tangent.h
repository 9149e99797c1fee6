// The hyperbolic tangent with the same bits for any number of threads: torch's own rounds the ends
// of its blocks differently from their middle.
#pragma once

#include <ATen/core/Tensor.h>

namespace edgewise {

// tanh of every entry, of any shape, differentiable any number of times.
[[nodiscard]] at::Tensor hyperbolicTangent(const at::Tensor& x);

}  // namespace edgewise
