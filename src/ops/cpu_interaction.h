// The blocks of NGCF's layer behind its sums of messages, on the CPU and free of torch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "edgewise/ops/dropout.h"

namespace edgewise::detail {

// Row-major matrices.
template <class Real>
struct InteractionInput {
  // What nodes are and what they hear, [rows, in] each.
  const Real* own = nullptr;
  const Real* heard = nullptr;
  std::size_t rows = 0;
  std::size_t in = 0;
  std::size_t out = 0;
  // [2 * in, out]: those of the sum, below them those of the product.
  const Real* weights = nullptr;
  Real leak = 0;
};

// out [rows, out] = dropout(leaky([heard + own, heard * own] weights + bias)). Row i is dropped as
// row nodes[i] of a matrix of all nodes; `nodes` empty: as itself.
template <class Real>
void interactOnCpu(const InteractionInput<Real>& input, const Real* bias, const DropoutMask& mask,
                   std::span<const std::uint32_t> nodes, Real* out);

// The gradient [rows, out] of what interactOnCpu gave.
template <class Real>
struct InteractionGradient {
  const Real* given = nullptr;
  const Real* gradient = nullptr;
  // Of what was dropped nothing comes back, and of the rest so many times as much.
  bool drops = false;
  Real scale = 1;
};

// Sets gradients of what came in, [rows, in] each, of weights [2 * in, out] and bias [out].
template <class Real>
struct InteractionGradients {
  Real* own = nullptr;
  Real* heard = nullptr;
  Real* weights = nullptr;
  Real* bias = nullptr;
};
template <class Real>
void interactBackwardOnCpu(const InteractionInput<Real>& input,
                           const InteractionGradient<Real>& from,
                           const InteractionGradients<Real>& to);

}  // namespace edgewise::detail
