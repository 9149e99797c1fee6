// The one place that knows how libtorch 1.13 (Debian 12) and 2.x differ. The rest of the code
// includes this header instead of testing versions itself.
#pragma once

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <c10/core/Allocator.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include <cstddef>
#include <cstring>
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

// An allocator that calls allocate(bytes, next), `next` being the one it takes the place of.
// Releases differ in which of these functions are virtual and which are const, so none says what
// it overrides.
// NOLINTBEGIN(modernize-use-override,modernize-use-nodiscard,readability-identifier-naming)
template <c10::DataPtr (*Allocate)(std::size_t, c10::Allocator&)>
class CpuAllocator final : public c10::Allocator {
 public:
  explicit CpuAllocator(c10::Allocator& next) : next_(next) {}
  c10::DataPtr allocate(std::size_t bytes) const { return Allocate(bytes, next_); }
  c10::DataPtr allocate(std::size_t bytes) { return Allocate(bytes, next_); }
  void copy_data(void* to, const void* from, std::size_t count) const {
    std::memcpy(to, from, count);
  }

 private:
  c10::Allocator& next_;
};
// NOLINTEND(modernize-use-override,modernize-use-nodiscard,readability-identifier-naming)

}  // namespace edgewise::torch_compat
