// Asks memory for rows before they are read. Rows that lie anywhere come from far caches or from
// memory; a core that asks early reads several at a time, one that does not waits for each.
#pragma once

#include <cstddef>

namespace edgewise::detail {

// How many rows ahead: enough to hide the way to memory, few enough to stay in the nearest cache.
inline constexpr std::size_t kRowsAhead = 8;

// Harmless for a row that is never read.
template <class Real>
void fetchRow(const Real* row, std::size_t width) {
  constexpr std::size_t kLine = 64 / sizeof(Real);
  for (std::size_t k = 0; k < width; k += kLine) {
    __builtin_prefetch(row + k);
  }
}

}  // namespace edgewise::detail
