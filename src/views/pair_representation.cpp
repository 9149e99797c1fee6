#include "views/pair_representation.h"

#include <ATen/Functions.h>

namespace edgewise::detail {

std::vector<at::Tensor> representPairs(std::span<const at::Tensor> layers,
                                       const std::shared_ptr<const PairIndex>& pairs,
                                       std::span<const LayerPair> views, bool concatenate) {
  if (!concatenate) {
    return viewPairs(layers, pairs, views);
  }
  // Each end of each layer is gathered once, however many views use it.
  std::vector<at::Tensor> sources(layers.size());
  std::vector<at::Tensor> targets(layers.size());
  std::vector<at::Tensor> result;
  for (const LayerPair& view : views) {
    at::Tensor& source = sources[view.source];
    at::Tensor& target = targets[view.target];
    if (!source.defined()) {
      source = gatherEnd(layers[view.source], pairs, PairEnd::kSource);
    }
    if (!target.defined()) {
      target = gatherEnd(layers[view.target], pairs, PairEnd::kTarget);
    }
    result.push_back(at::cat({source, target}, 1));
  }
  return result;
}

at::Tensor representTurned(std::span<const at::Tensor> layers,
                           const std::shared_ptr<const PairIndex>& pairs, LayerPair view,
                           bool concatenate) {
  if (!concatenate) {
    const LayerPair back{view.target, view.source};
    return viewPairs(layers, pairs, std::span(&back, 1))[0];
  }
  return at::cat({gatherEnd(layers[view.source], pairs, PairEnd::kTarget),
                  gatherEnd(layers[view.target], pairs, PairEnd::kSource)},
                 1);
}

std::shared_ptr<const PairIndex> turned(const PairIndex& pairs) {
  std::vector<Edge> back;
  for (const Edge& pair : pairs.pairs()) {
    back.push_back(reversed(pair));
  }
  return PairIndex::make(back, pairs.nodeCount());
}

}  // namespace edgewise::detail
