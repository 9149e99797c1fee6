// Random node features, and masks of dropout as tensors.
#pragma once

#include <ATen/ATen.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "edgewise/data/feature_matrix.h"
#include "edgewise/ops/dropout.h"
#include "edgewise/util/rng.h"

namespace edgewise::testing {

// Sparse, with about 1 of 8 entries; some rows have none.
inline FeatureMatrix randomFeatures(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  const CounterRng random(seed, "random features");
  std::vector<std::uint64_t> offsets = {0};
  std::vector<std::uint32_t> indices;
  std::vector<float> values;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      if (random.below(row * columns + column, 8) == 0) {
        indices.push_back(static_cast<std::uint32_t>(column));
        values.push_back(static_cast<float>(random.normal(row * columns + column, 1)));
      }
    }
    offsets.push_back(indices.size());
  }
  return FeatureMatrix::sparse(columns, std::move(offsets), std::move(indices), std::move(values));
}

// What the mask multiplies a tensor of this shape by: 0, or the scale.
inline at::Tensor maskTensor(const DropoutMask& mask, at::IntArrayRef shape,
                             at::ScalarType type = at::kDouble) {
  at::Tensor factors = at::empty(shape, at::TensorOptions(at::kDouble));
  std::vector<std::uint8_t> keep(static_cast<std::size_t>(factors.numel()));
  mask.draw(0, keep);
  for (std::size_t i = 0; i < keep.size(); ++i) {
    factors.data_ptr<double>()[i] = keep[i] != 0 ? mask.scale() : 0.0;
  }
  return factors.to(type);
}

}  // namespace edgewise::testing
