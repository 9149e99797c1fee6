// Counter-based random numbers (Philox4x32-10, Salmon et al. 2011). A value depends only on (seed,
// stream, counter), so work can be cut into any number of threads, resumed, or repeated in part,
// and every number stays the same.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

namespace edgewise {

// A stable 64-bit name for a purpose ("split", "negatives"), so that two purposes never share
// numbers (FNV-1a).
constexpr std::uint64_t streamId(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char letter : name) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3ULL;
  }
  return hash;
}

// Random access to one stream of random numbers. Cheap to copy; holds no position.
class CounterRng {
 public:
  CounterRng(std::uint64_t seed, std::uint64_t stream);
  CounterRng(std::uint64_t seed, std::string_view purpose) : CounterRng(seed, streamId(purpose)) {}

  // What (seed, stream) became.
  [[nodiscard]] std::array<std::uint32_t, 2> key() const { return key_; }
  // The 128 random bits at a 128-bit counter (`low` runs fastest).
  [[nodiscard]] std::array<std::uint32_t, 4> block(std::uint64_t low, std::uint64_t high = 0) const;
  // The blocks at counters (first, high), (first + 1, high), ... word after word; the last block
  // may be cut short. Much faster than one `block` after another.
  void fill(std::uint64_t first, std::uint64_t high, std::span<std::uint32_t> words) const;
  // 64 random bits at `counter`; `lane` gives independent further draws at the same counter.
  [[nodiscard]] std::uint64_t bits(std::uint64_t counter, std::uint64_t lane = 0) const;
  // Uniform in [0, 1) with 53 random bits.
  [[nodiscard]] double uniform(std::uint64_t counter, std::uint64_t lane = 0) const;
  // Uniform in [0, bound), exactly (rejection moves to further lanes). `bound` must be positive.
  [[nodiscard]] std::uint64_t below(std::uint64_t counter, std::uint64_t bound,
                                    std::uint64_t lane = 0) const;
  // Standard normal (Box-Muller).
  [[nodiscard]] double normal(std::uint64_t counter, std::uint64_t lane = 0) const;

 private:
  std::array<std::uint32_t, 2> key_;
};

// The same numbers drawn one after another, for sequential code. Satisfies
// UniformRandomBitGenerator; `position` can be stored and restored.
class RngStream {
 public:
  using result_type = std::uint64_t;  // NOLINT(readability-identifier-naming): the standard's name

  explicit RngStream(CounterRng rng, std::uint64_t position = 0) : rng_(rng), position_(position) {}
  RngStream(std::uint64_t seed, std::string_view purpose) : RngStream(CounterRng(seed, purpose)) {}

  static constexpr std::uint64_t min() { return 0; }
  static constexpr std::uint64_t max() { return std::numeric_limits<std::uint64_t>::max(); }
  std::uint64_t operator()() { return rng_.bits(position_++); }

  double uniform() { return rng_.uniform(position_++); }
  double normal() { return rng_.normal(position_++); }
  std::uint64_t below(std::uint64_t bound) { return rng_.below(position_++, bound); }

  // Fisher-Yates; the order depends on seed and position alone (std::shuffle may differ between
  // libraries).
  template <class T>
  void shuffle(std::span<T> values) {
    for (std::size_t i = values.size(); i > 1; --i) {
      std::swap(values[i - 1], values[below(i)]);
    }
  }

  [[nodiscard]] std::uint64_t position() const { return position_; }

 private:
  CounterRng rng_;
  std::uint64_t position_;
};

}  // namespace edgewise
