// Scores as 64-bit integers whose order is "best first": sorting, merging and tie detection become
// integer work, and a radix sort needs no comparisons.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

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

// Turns lists of scores into sorted keys, one list after another in the same memory: fresh memory
// for lists of millions would cost more time than the work on it.
class KeySorter {
 public:
  // The keys in ascending order; valid until the next call. Parallel, least significant byte
  // first; bytes in which all keys agree are skipped, so widened floats and heavily tied scores
  // cost fewer passes, and sorted input costs one. Throws DataError "negatives[3] ..." for a NaN,
  // counting indices from `first_index`.
  std::span<const std::uint64_t> sorted(ScoreSpan scores, std::string_view list,
                                        std::uint64_t first_index = 0);

 private:
  // Memory that is not cleared, for it is written before it is read.
  struct Buffer {
    std::unique_ptr<std::uint64_t[]> keys;
    std::size_t capacity = 0;
    std::span<std::uint64_t> first(std::size_t count);
  };

  Buffer keys_;
  Buffer other_;
};

}  // namespace edgewise
