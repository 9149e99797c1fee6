#include "ops/cpu_layer_norm.h"

#include <algorithm>
#include <cmath>

#include "edgewise/util/parallel.h"

namespace edgewise::detail {
namespace {

constexpr std::size_t kBlockEntries = 16'384;
constexpr std::size_t kMaxPieces = 64;

struct Moments {
  double mean = 0;
  double inverse = 0;
};

template <class Real>
Moments momentsOf(const Real* row, std::size_t width, Real epsilon) {
  Real sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t k = 0; k < width; ++k) {
    sum += row[k];
  }
  const Real mean = sum / static_cast<Real>(width);
  Real squares = 0;
#pragma omp simd reduction(+ : squares)
  for (std::size_t k = 0; k < width; ++k) {
    squares += (row[k] - mean) * (row[k] - mean);
  }
  return {mean, Real{1} / std::sqrt(squares / static_cast<Real>(width) + epsilon)};
}

// One row of the gradient of x; adds this row's share to the gradients of scale and shift.
template <class Real>
void backwardRow(const LayerNormInput<Real>& input, std::size_t row, const Real* gradient,
                 Real* to_x, Real* to_scale, Real* to_shift) {
  const std::size_t width = input.width;
  const Real* x = input.x + row * width;
  const Moments moments = momentsOf(x, width, input.epsilon);
  const auto mean = static_cast<Real>(moments.mean);
  const auto inverse = static_cast<Real>(moments.inverse);
  Real sum = 0;
  Real along = 0;
#pragma omp simd reduction(+ : sum, along)
  for (std::size_t k = 0; k < width; ++k) {
    const Real scaled = gradient[k] * input.scale[k];
    sum += scaled;
    along += scaled * (x[k] - mean) * inverse;
  }
  sum /= static_cast<Real>(width);
  along /= static_cast<Real>(width);
#pragma omp simd
  for (std::size_t k = 0; k < width; ++k) {
    const Real normal = (x[k] - mean) * inverse;
    to_x[k] = inverse * (gradient[k] * input.scale[k] - sum - normal * along);
    to_scale[k] += gradient[k] * normal;
    to_shift[k] += gradient[k];
  }
}

}  // namespace

template <class Real>
void normaliseRows(const LayerNormInput<Real>& input, const Real* shift, Real* out) {
  const std::size_t width = input.width;
  const std::size_t grain = std::max<std::size_t>(1, kBlockEntries / width);
  parallelFor(input.rows, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const Real* x = input.x + row * width;
      Real* to = out + row * width;
      const Moments moments = momentsOf(x, width, input.epsilon);
      const auto mean = static_cast<Real>(moments.mean);
      const auto inverse = static_cast<Real>(moments.inverse);
#pragma omp simd
      for (std::size_t k = 0; k < width; ++k) {
        to[k] = (x[k] - mean) * inverse * input.scale[k] + shift[k];
      }
    }
  });
}

template <class Real>
void normaliseRowsBackward(const LayerNormInput<Real>& input, const Real* gradient, Real* to_x,
                           Real* to_scale, Real* to_shift) {
  const std::size_t width = input.width;
  // Pieces by size alone, so that the sums over rows do not depend on threads.
  const std::size_t piece = std::max(std::max<std::size_t>(1, kBlockEntries / width),
                                     (input.rows + kMaxPieces - 1) / kMaxPieces);
  const std::size_t pieces = (input.rows + piece - 1) / piece;
  std::vector<Real> partial(pieces * 2 * width, Real{0});
  parallelFor(pieces, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Real* scale = partial.data() + i * 2 * width;
      for (std::size_t row = i * piece; row < std::min(input.rows, (i + 1) * piece); ++row) {
        backwardRow(input, row, gradient + row * width, to_x + row * width, scale, scale + width);
      }
    }
  });
  std::fill_n(to_scale, width, Real{0});
  std::fill_n(to_shift, width, Real{0});
  for (std::size_t i = 0; i < pieces; ++i) {
    const Real* from = partial.data() + i * 2 * width;
    for (std::size_t k = 0; k < width; ++k) {
      to_scale[k] += from[k];
      to_shift[k] += from[width + k];
    }
  }
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define EDGEWISE_LAYER_NORM(Real)                                                            \
  template void normaliseRows<Real>(const LayerNormInput<Real>&, const Real*, Real*);        \
  template void normaliseRowsBackward<Real>(const LayerNormInput<Real>&, const Real*, Real*, \
                                            Real*, Real*);
EDGEWISE_LAYER_NORM(float)
EDGEWISE_LAYER_NORM(double)
#undef EDGEWISE_LAYER_NORM
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace edgewise::detail
