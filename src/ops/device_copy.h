// Arrays of the host on a device.
#pragma once

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>

#include <span>

namespace edgewise::detail {

// [values.size()] of `type`, whose elements must be as large as T.
template <class T>
[[nodiscard]] at::Tensor copyTo(at::Device device, std::span<const T> values, at::ScalarType type) {
  // Read alone, so that the constness that from_blob cannot express is not lost.
  auto* const data = const_cast<T*>(values.data());
  const at::Tensor host = at::from_blob(data, {static_cast<std::int64_t>(values.size())}, type);
  return host.to(device, /*non_blocking=*/false, /*copy=*/true);
}

}  // namespace edgewise::detail
