// Pair products and their gradients on the CPU, free of torch.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "edgewise/ops/pair_index.h"
#include "edgewise/ops/view_pairs.h"

namespace edgewise::detail {

// All matrices are row-major and `width` wide: `sources` and `targets` by layer [nodes, width],
// pair matrices by view [pairs, width]. A null gradient is left out; a null layer counts as 0.
template <class Real>
struct PairProductInput {
  const PairIndex& pairs;
  std::span<const LayerPair> views;
  std::vector<const Real*> sources;
  std::vector<const Real*> targets;
  std::size_t width = 0;
};

// out[view][p] = sources[i][u] * targets[j][v].
template <class Real>
void pairProductsOnCpu(const PairProductInput<Real>& input, std::span<Real* const> out);

// to_sources[i][u] += gradient[view][p] * targets[j][v] and to_targets[j][v] += gradient[view][p] *
// sources[i][u]. The outputs must hold what is to be added to; a source and a target of the same
// layer may be the same memory, and null ones are left out.
template <class Real>
void pairProductsBackwardOnCpu(const PairProductInput<Real>& input,
                               std::span<const Real* const> gradients,
                               std::span<Real* const> to_sources,
                               std::span<Real* const> to_targets);

// out[view][p] = the dot product of sources[i][u] and targets[j][v].
template <class Real>
void pairDotsOnCpu(const PairProductInput<Real>& input, std::span<Real* const> out);

// As pairProductsBackwardOnCpu does, with one number a pair and view for its gradient.
template <class Real>
void pairDotsBackwardOnCpu(const PairProductInput<Real>& input,
                           std::span<const Real* const> gradients,
                           std::span<Real* const> to_sources, std::span<Real* const> to_targets);

// out[p] = x[end of p].
template <class Real>
void gatherEndOnCpu(const PairIndex& pairs, PairEnd end, const Real* x, std::size_t width,
                    Real* out);
// out[node] += rows[p] for every p whose end is that node.
template <class Real>
void scatterEndOnCpu(const PairIndex& pairs, PairEnd end, const Real* rows, std::size_t width,
                     Real* out);
// out [pairs.nodes().size(), width], of the i-th of these nodes = the total of rows [2 * pairs,
// width] at its places; the same bits as by node.
template <class Real>
void sumPlacesOnCpu(const PairIndex& pairs, const Real* rows, std::size_t width, Real* out);

}  // namespace edgewise::detail
