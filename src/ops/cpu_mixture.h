// Soft and hard choices among views on the CPU, free of torch.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "edgewise/ops/view_pairs.h"

namespace edgewise::detail {

// out [views, pairs]: softmax of scores [views, pairs] / temperature within each column.
template <class Real>
void viewSoftmaxOnCpu(const Real* scores, std::size_t views, std::size_t pairs, Real temperature,
                      Real* out);

// All layers are [nodes, width].
template <class Real>
struct ChosenInput {
  const PairIndex& pairs;
  std::span<const LayerPair> choice;
  std::vector<const Real*> layers;
  std::size_t width = 0;
};

// out [pairs, width].
template <class Real>
void chosenPairsOnCpu(const ChosenInput<Real>& input, Real* out);
// Adds to to_layers what gradient [pairs, width] gives.
template <class Real>
void chosenPairsBackwardOnCpu(const ChosenInput<Real>& input, const Real* gradient,
                              std::span<Real* const> to_layers);

// Layers are [nodes, width], weights [views, pairs].
template <class Real>
struct MixedInput {
  const PairIndex& pairs;
  std::span<const LayerPair> views;
  std::vector<const Real*> layers;
  const Real* weights = nullptr;
  std::size_t width = 0;
};

// out [pairs, width]: the views' products by their weights, in the order of the views.
template <class Real>
void mixedPairsOnCpu(const MixedInput<Real>& input, Real* out);
// to_weights [views, pairs]: what gradient [pairs, width] gives to the weights.
template <class Real>
void mixedPairsToWeightsOnCpu(const MixedInput<Real>& input, const Real* gradient,
                              Real* to_weights);
// Adds to to_layers what it gives to them.
template <class Real>
void mixedPairsToLayersOnCpu(const MixedInput<Real>& input, const Real* gradient,
                             std::span<Real* const> to_layers);

}  // namespace edgewise::detail
