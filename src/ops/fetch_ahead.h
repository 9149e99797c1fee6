// Asks memory for rows before they are read. Rows that lie anywhere come from far caches or from
// memory; a core that asks early reads several at a time, one that does not waits for each.
#pragma once

#include <cstddef>

namespace edgewise::detail {

// How many rows ahead: enough to hide the way to memory, few enough to stay in the nearest cache.
inline constexpr std::size_t kRowsAhead = 8;

// Whether rows of a table are far enough away to be asked for: those of a small one are at hand,
// and asking costs a few percent.
template <class Real>
[[nodiscard]] constexpr bool liesFar(std::size_t rows, std::size_t width) {
  constexpr std::size_t kNearBytes = std::size_t{1} << 20;
  return rows * width * sizeof(Real) > kNearBytes;
}

// Harmless for a row that is never read.
template <class Real>
void fetchRow(const Real* row, std::size_t width) {
  constexpr std::size_t kLine = 64 / sizeof(Real);
  for (std::size_t k = 0; k < width; k += kLine) {
    __builtin_prefetch(row + k);
  }
}

}  // namespace edgewise::detail
