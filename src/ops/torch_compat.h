// The one place that knows how libtorch 1.13 (Debian 12) and 2.x differ. The rest of the code
// includes this header instead of testing versions itself.
#pragma once

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include <cstddef>
#include <string>

#define EDGEWISE_TORCH_AT_LEAST(major, minor) \
  (TORCH_VERSION_MAJOR > (major) ||           \
   (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))

namespace edgewise::torch_compat {

inline std::string versionName() { return TORCH_VERSION; }

// A count of one type, whatever integer the release returns.
inline std::size_t cudaDeviceCount() {
  return static_cast<std::size_t>(torch::cuda::device_count());
}

// Whether products of floats on a GPU may round their inputs to TF32.
inline void allowTf32(bool allowed) { at::globalContext().setAllowTF32CuBLAS(allowed); }

}  // namespace edgewise::torch_compat
