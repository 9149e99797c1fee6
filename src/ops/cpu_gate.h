// Rectifier and dropout in one pass on the CPU, free of torch.
#pragma once

#include <cstddef>

#include "edgewise/ops/dropout.h"

namespace edgewise::detail {

// out[i] = scale * in[i] where the mask keeps i and, with a `reference`, reference[i] > 0; else 0.
template <class Real>
void gateOnCpu(const Real* in, const Real* reference, const DropoutMask& mask, std::size_t count,
               Real* out);

}  // namespace edgewise::detail
