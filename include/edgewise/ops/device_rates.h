// What machine_rates.h measures, on a GPU: by libtorch's own kernels, at the precision that is set.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "edgewise/ops/machine_rates.h"

namespace edgewise {

// A product large enough for a whole GPU.
[[nodiscard]] ProductShape largeDeviceProduct();
[[nodiscard]] double deviceProductRate(at::Device device, const ProductShape& shape,
                                       double seconds);
// a = b + s * c over arrays of this many bytes each.
[[nodiscard]] double deviceStreamRate(at::Device device, std::size_t array_bytes, double seconds);
// Rows of `width` floats picked from a table of `rows` into another; both sides count.
[[nodiscard]] double deviceGatherRate(at::Device device, std::span<const std::uint32_t> picks,
                                      std::size_t rows, std::size_t width, double seconds);

}  // namespace edgewise
