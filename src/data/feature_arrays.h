// Features out of number arrays, for every format that stores them that way.
#pragma once

#include <cstddef>

#include "edgewise/data/feature_matrix.h"
#include "edgewise/data/number_array.h"

namespace edgewise {

// The arrays of a compressed sparse row matrix with the shape its file claims.
struct SparseArrays {
  NumberArray offsets;
  NumberArray columns;
  NumberArray values;
  std::size_t row_count = 0;
  std::size_t column_count = 0;
};

// Both throw DataError naming the array, and for a NaN or an infinity its row and column.
[[nodiscard]] FeatureMatrix denseFeatures(const NumberArray& array);
[[nodiscard]] FeatureMatrix sparseFeatures(const SparseArrays& arrays);

}  // namespace edgewise
