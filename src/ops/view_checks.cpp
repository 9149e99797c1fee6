#include "ops/view_checks.h"

#include "ops/autograd_support.h"

namespace edgewise::detail {

void requireNodes(const char* op, const at::Tensor& x, const PairIndex& pairs) {
  requireMatrix(op, x);
  if (sizeOf(x, 0) != pairs.nodeCount()) {
    throw ShapeError(
        fmt::format("{}: pairs of {} nodes against {} rows", op, pairs.nodeCount(), x.size(0)));
  }
}

void requireLayers(const char* op, std::span<const at::Tensor> layers, const PairIndex& pairs) {
  if (layers.empty()) {
    throw ShapeError(fmt::format("{} needs a layer", op));
  }
  const at::Tensor& first = layers.front();
  for (const at::Tensor& layer : layers) {
    requireNodes(op, layer, pairs);
    if (layer.size(1) != first.size(1) || layer.scalar_type() != first.scalar_type()) {
      throw ShapeError(fmt::format("{}: layers are {} ({}) and {} ({}) wide", op, first.size(1),
                                   c10::toString(first.scalar_type()), layer.size(1),
                                   c10::toString(layer.scalar_type())));
    }
  }
}

void requireViews(std::span<const LayerPair> views, std::size_t layers) {
  for (const LayerPair& view : views) {
    if (view.source >= layers || view.target >= layers) {
      throw ShapeError(
          fmt::format("view ({}, {}) of {} layers", view.source + 1, view.target + 1, layers));
    }
  }
}

void requireLayersAndViews(const char* op, std::span<const at::Tensor> layers,
                           const PairIndex& pairs, std::span<const LayerPair> views) {
  if (layers.empty() || views.empty()) {
    throw ShapeError(fmt::format("{} needs a layer and a view", op));
  }
  requireLayers(op, layers, pairs);
  requireViews(views, layers.size());
}

void requireViewWeights(const char* op, const at::Tensor& weights, std::size_t views,
                        std::size_t pairs) {
  requireMatrix(op, weights);
  if (sizeOf(weights, 0) != views || sizeOf(weights, 1) != pairs) {
    throw ShapeError(fmt::format("{}: weights [{}, {}] for {} views of {} pairs", op,
                                 weights.size(0), weights.size(1), views, pairs));
  }
}

}  // namespace edgewise::detail
