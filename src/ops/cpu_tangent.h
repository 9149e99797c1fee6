// The hyperbolic tangent on the CPU, free of torch.
#pragma once

#include <cstddef>

namespace edgewise::detail {

// Right to a few units in the last place.
void tangentOf(const float* x, std::size_t count, float* out);
void tangentOf(const double* x, std::size_t count, double* out);

}  // namespace edgewise::detail
