// Floats of 16 bits: 10 bits of mantissa, which is what TF32 keeps.
#pragma once

#include <cstring>

#include "ops/cuda/launch.h"

#ifdef __CUDACC__
#include <cuda_fp16.h>
#endif

namespace edgewise::cuda {

struct Half {
  std::uint16_t bits;
};

EDGEWISE_FN float toFloat(Half half) {
#ifdef __CUDA_ARCH__
  return __half2float(__ushort_as_half(half.bits));
#else
  const std::uint32_t sign = (half.bits & 0x8000U) << 16;
  const std::uint32_t exponent = (half.bits >> 10) & 0x1FU;
  const std::uint32_t mantissa = half.bits & 0x3FFU;
  if (exponent == 0) {
    const float value = static_cast<float>(mantissa) * 0x1.0p-24F;
    return sign != 0 ? -value : value;
  }
  const std::uint32_t bits =
      sign | (exponent == 0x1F ? 0x7F800000U : (exponent + 112) << 23) | (mantissa << 13);
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
#endif
}

// To the nearest, of two the even one.
EDGEWISE_FN Half toHalf(float value) {
#ifdef __CUDA_ARCH__
  return {__half_as_ushort(__float2half_rn(value))};
#else
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  const std::uint32_t size = bits & 0x7FFFFFFFU;
  if (size >= 0x7F800000U) {
    return {static_cast<std::uint16_t>(sign | 0x7C00U | (size > 0x7F800000U ? 0x200U : 0U))};
  }
  if (size >= 0x477FF000U) {
    return {static_cast<std::uint16_t>(sign | 0x7C00U)};
  }
  if (size < 0x38800000U) {
    // Too small for a mantissa of its own: a number of steps of 2^-24.
    float steps = (size == 0 ? 0.0F : (value < 0 ? -value : value)) * 0x1.0p24F;
    const auto whole = static_cast<std::uint32_t>(steps);
    const float rest = steps - static_cast<float>(whole);
    const bool up = rest > 0.5F || (rest == 0.5F && whole % 2 == 1);
    return {static_cast<std::uint16_t>(sign | (whole + (up ? 1U : 0U)))};
  }
  const std::uint32_t rounded = size + 0xFFFU + ((size >> 13) & 1U);
  return {static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13))};
#endif
}

}  // namespace edgewise::cuda
