// Rectifier and dropout in one pass on the CPU, free of torch.
#pragma once

#include <cstddef>

#include "edgewise/ops/dropout.h"

namespace edgewise::detail {

// out[i] = scale * in[i] where the mask keeps i, else 0.
template <class Real>
void dropOnCpu(const Real* in, const DropoutMask& mask, std::size_t count, Real* out);
// The same, and 0 where in[i] is not positive.
template <class Real>
void rectifyAndDropOnCpu(const Real* in, const DropoutMask& mask, std::size_t count, Real* out);
// out[i] = scale * in[i] where open[i] > 0, else 0.
template <class Real>
void gateOnCpu(const Real* in, const Real* open, Real scale, std::size_t count, Real* out);

}  // namespace edgewise::detail
