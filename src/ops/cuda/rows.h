// Looking into compressed rows.
#pragma once

#include "ops/cuda/kernels.h"

namespace edgewise::cuda {

// Where (row, column) stands among the entries; -1: nowhere.
EDGEWISE_FN std::int64_t findEntry(const Rows& rows, std::size_t row, std::int32_t column) {
  if (row >= rows.count) {
    return -1;
  }
  const std::int64_t end = rows.offsets[row + 1];
  std::int64_t low = rows.offsets[row];
  std::int64_t high = end;
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (rows.columns[middle] < column) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < end && rows.columns[low] == column ? low : -1;
}

}  // namespace edgewise::cuda
