// Scores as 64-bit integers whose order is "best first": sorting, merging and tie detection become
// integer work, and a radix sort needs no comparisons.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "edgewise/evaluation/score_span.h"

namespace edgewise {

// The better the score, the smaller the key. -0 and 0 share one; NaN has no place.
[[nodiscard]] inline std::uint64_t scoreKey(double score) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  // Adding 0 turns -0 into 0 and leaves everything else alone.
  const auto bits = std::bit_cast<std::uint64_t>(score + 0.0);
  return (bits & kSign) != 0 ? bits : ~(bits | kSign);
}

[[nodiscard]] inline double keyScore(std::uint64_t key) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  return std::bit_cast<double>((key & kSign) != 0 ? key : ~key & ~kSign);
}

// The keys of all scores, in parallel. Throws DataError "positives[3] ..." for a NaN, counting
// indices from `first_index`.
[[nodiscard]] std::vector<std::uint64_t> scoreKeys(ScoreSpan scores, std::string_view list,
                                                   std::uint64_t first_index = 0);

// Ascending. Parallel, least significant byte first; bytes in which all keys agree are skipped, so
// widened floats and heavily tied scores cost fewer passes, and sorted input costs one.
void sortKeys(std::vector<std::uint64_t>& keys);

}  // namespace edgewise
