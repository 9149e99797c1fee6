// Pairs, views and layers as kernels of a device take them.
#pragma once

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <span>

#include "edgewise/ops/pair_index.h"
#include "edgewise/ops/view_pairs.h"
#include "edgewise/util/error.h"
#include "ops/device_kernels.h"

namespace edgewise::detail {

// The ends alone, which is what a forward pass reads.
[[nodiscard]] inline cuda::Pairs deviceEnds(const PairIndex& pairs, at::Device device) {
  return {.count = pairs.size(),
          .nodes = pairs.nodeCount(),
          .ends = pairs.ends(device).data_ptr<std::int32_t>(),
          .places = nullptr,
          .offsets = nullptr};
}

// With the places of each node, for what is added up by node.
[[nodiscard]] inline cuda::Pairs devicePairs(const PairIndex& pairs, at::Device device) {
  cuda::Pairs result = deviceEnds(pairs, device);
  const PairIndex::DevicePlaces places = pairs.devicePlaces(device);
  result.places = places.places.data_ptr<std::int32_t>();
  result.offsets = places.offsets.data_ptr<std::int32_t>();
  return result;
}

[[nodiscard]] inline cuda::Views deviceViews(std::span<const LayerPair> views) {
  if (views.size() > cuda::kMostViews) {
    throw ShapeError(fmt::format("{} views are more than the {} that a GPU handles", views.size(),
                                 cuda::kMostViews));
  }
  cuda::Views result{.count = static_cast<int>(views.size())};
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (views[i].source >= cuda::kMostLayers || views[i].target >= cuda::kMostLayers) {
      throw ShapeError(fmt::format("a GPU handles {} layers", cuda::kMostLayers));
    }
    result.source[i] = static_cast<std::uint8_t>(views[i].source);
    result.target[i] = static_cast<std::uint8_t>(views[i].target);
  }
  return result;
}

// Of layers, pair matrices or gradients, whichever the kernel takes; undefined ones are null.
template <class Pointers, class Real>
[[nodiscard]] Pointers devicePointers(std::span<const at::Tensor> tensors) {
  Pointers result{};
  if (tensors.size() > std::size(result.data)) {
    throw ShapeError(fmt::format("{} matrices are more than the {} that a GPU kernel takes",
                                 tensors.size(), std::size(result.data)));
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    result.data[i] = tensors[i].defined() ? tensors[i].data_ptr<Real>() : nullptr;
  }
  return result;
}

template <class Real>
[[nodiscard]] cuda::Layers<Real> deviceLayers(std::span<const at::Tensor> layers) {
  auto result = devicePointers<cuda::Layers<Real>, Real>(layers);
  result.count = static_cast<int>(layers.size());
  return result;
}

}  // namespace edgewise::detail
