// Dense products, differentiable any number of times, with the same bits for any number of threads.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace edgewise {

enum class Transpose : std::uint8_t { kNeither, kFirst, kSecond, kBoth };

// a * b for matrices, either read transposed. `a` may be of half precision: it is read as b's kind,
// and kept as it is for the way back. Throws ShapeError when the inner sizes differ.
[[nodiscard]] at::Tensor product(const at::Tensor& a, const at::Tensor& b,
                                 Transpose transpose = Transpose::kNeither);

// x [rows, in] * weight [in, out] + bias [out]; an undefined bias is left out. Throws ShapeError
// for sizes that do not fit.
[[nodiscard]] at::Tensor affine(const at::Tensor& x, const at::Tensor& weight,
                                const at::Tensor& bias);

}  // namespace edgewise
