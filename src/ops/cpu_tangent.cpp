#include "ops/cpu_tangent.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "edgewise/util/parallel.h"

namespace edgewise::detail {
namespace {

constexpr std::size_t kBlock = 4096;

// With m = exp(2x) - 1, tanh x = m / (m + 2); m itself by powers of two, so that nothing cancels
// near 0. Free of branches and calls, for a compiler to take many at once.
inline float tangent(float x) {
  // Beyond, a float cannot tell the result from 1.
  constexpr float kMost = 9.1F;
  constexpr float kTwiceLog2E = 2.8853900818F;
  // Added and taken away again, it rounds to a whole number.
  constexpr float kRounder = 12'582'912.0F;
  const float bounded = std::min(std::max(x, -kMost), kMost);
  const float exponent = bounded * kTwiceLog2E;
  const float whole = (exponent + kRounder) - kRounder;
  const float part = exponent - whole;
  // 2^part - 1 by Taylor's series of exp(part * ln 2), |part| <= 1/2.
  constexpr float kLog2 = 0.69314718056F;
  const float t = part * kLog2;
  const float series =
      t * (1.0F +
           t * (1.0F / 2 +
                t * (1.0F / 6 +
                     t * (1.0F / 24 + t * (1.0F / 120 + t * (1.0F / 720 + t * (1.0F / 5040)))))));
  const float power = std::bit_cast<float>((static_cast<std::int32_t>(whole) + 127) << 23);
  const float above = power * series + (power - 1.0F);
  return above / (above + 2.0F);
}

}  // namespace

void tangentOf(const float* x, std::size_t count, float* out) {
  parallelFor(
      count, kBlock,
      [&](std::size_t begin, std::size_t end) {
#pragma omp simd
        for (std::size_t i = begin; i < end; ++i) {
          out[i] = tangent(x[i]);
        }
      },
      0.6 * static_cast<double>(count));
}

void tangentOf(const double* x, std::size_t count, double* out) {
  parallelFor(
      count, kBlock,
      [&](std::size_t begin, std::size_t end) {
        std::transform(x + begin, x + end, out + begin,
                       [](double each) { return std::tanh(each); });
      },
      10 * static_cast<double>(count));
}

}  // namespace edgewise::detail
