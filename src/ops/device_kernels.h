// What the operations need to know of the GPU's kernels.
#pragma once

#include <ATen/core/Tensor.h>

#include "edgewise/ops/device.h"
#include "edgewise/ops/dropout.h"
#include "edgewise/util/error.h"
#include "ops/cuda/kernels.h"

namespace edgewise::detail {

#if defined(EDGEWISE_CUDA) || defined(EDGEWISE_IMITATE_CUDA)
inline constexpr bool kDeviceKernels = true;
#else
inline constexpr bool kDeviceKernels = false;
#endif

// In a build without kernels nothing may come this far.
inline void requireKernels() {
  invariant(kDeviceKernels, "this build has no kernels for a device");
}

// Where kernels on this tensor are queued.
[[nodiscard]] cuda::Stream streamOf(const at::Tensor& tensor);

[[nodiscard]] inline cuda::RandomKey keyOf(const CounterRng& random) {
  return {random.key()[0], random.key()[1]};
}

[[nodiscard]] inline cuda::Mask maskOf(const DropoutMask& mask) {
  return {.key = keyOf(mask.random()),
          .step = mask.step(),
          .step_at = mask.stepOnDevice(),
          .threshold = mask.threshold(),
          .scale = mask.scale()};
}

}  // namespace edgewise::detail
