// Layer normalisation on the CPU, free of torch.
#pragma once

#include <cstddef>
#include <vector>

namespace edgewise::detail {

template <class Real>
struct LayerNormInput {
  const Real* x = nullptr;
  const Real* scale = nullptr;
  std::size_t rows = 0;
  std::size_t width = 0;
  Real epsilon = 0;
};

// out [rows, width].
template <class Real>
void normaliseRows(const LayerNormInput<Real>& input, const Real* shift, Real* out);

// From the gradient of the output: of x [rows, width], scale [width] and shift [width].
template <class Real>
void normaliseRowsBackward(const LayerNormInput<Real>& input, const Real* gradient, Real* to_x,
                           Real* to_scale, Real* to_shift);

}  // namespace edgewise::detail
