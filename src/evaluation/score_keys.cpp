#include "evaluation/score_keys.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "edgewise/util/parallel.h"
#include "evaluation/checks.h"

namespace edgewise {
namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;
constexpr std::size_t kKeysPerThread = std::size_t{1} << 20;
constexpr std::size_t kSmallSort = std::size_t{1} << 12;
constexpr unsigned kKeyBits = 64;
constexpr unsigned kDigitBits = 8;
constexpr std::size_t kDigitValues = std::size_t{1} << kDigitBits;

// One bit for every bit position in which two keys differ.
std::uint64_t differingBits(std::span<const std::uint64_t> keys) {
  std::vector<std::uint64_t> partial((keys.size() + kGrain - 1) / kGrain, 0);
  parallelFor(keys.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t differing = 0;
    for (std::size_t i = begin; i < end; ++i) {
      differing |= keys[i] ^ keys[0];
    }
    partial[begin / kGrain] = differing;
  });
  return std::accumulate(partial.begin(), partial.end(), std::uint64_t{0}, std::bit_or<>());
}

// A stable counting sort by one byte. Each chunk of the input knows where its keys of a byte value
// go, so chunks are counted and moved independently. The number of chunks follows the threads; the
// result does not depend on it.
class RadixPass {
 public:
  RadixPass(std::span<const std::uint64_t> from, std::span<std::uint64_t> to)
      : from_(from), to_(to) {
    constexpr std::size_t kMostChunks = 64;
    // Sixteen times waking threads and waiting for the last costs more than moving a million keys
    // alone, on a busy machine by far.
    const std::size_t worthwhile = from.size() / kKeysPerThread;
    const auto threads = static_cast<std::size_t>(threadCount());
    const std::size_t chunks =
        std::clamp<std::size_t>(worthwhile, 1, std::min(threads, kMostChunks));
    chunk_size_ = (from.size() + chunks - 1) / chunks;
    places_.resize(chunks);
  }

  void run(unsigned shift) {
    parallelFor(from_.size(), chunk_size_, [&](std::size_t begin, std::size_t end) {
      auto& counts = places_[begin / chunk_size_];
      for (std::size_t i = begin; i < end; ++i) {
        ++counts[digit(from_[i], shift)];
      }
    });
    countsToPlaces();
    parallelFor(from_.size(), chunk_size_, [&](std::size_t begin, std::size_t end) {
      auto places = places_[begin / chunk_size_];
      for (std::size_t i = begin; i < end; ++i) {
        to_[places[digit(from_[i], shift)]++] = from_[i];
      }
    });
  }

 private:
  static std::size_t digit(std::uint64_t key, unsigned shift) {
    return (key >> shift) & (kDigitValues - 1);
  }

  void countsToPlaces() {
    std::size_t place = 0;
    for (std::size_t value = 0; value < kDigitValues; ++value) {
      for (auto& counts : places_) {
        place += std::exchange(counts[value], place);
      }
    }
  }

  std::span<const std::uint64_t> from_;
  std::span<std::uint64_t> to_;
  std::size_t chunk_size_ = 0;
  std::vector<std::array<std::size_t, kDigitValues>> places_;
};

void writeKeys(ScoreSpan scores, std::span<std::uint64_t> keys) {
  scores.visit([&](auto values) {
    parallelFor(values.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        keys[i] = scoreKey(static_cast<double>(values[i]));
      }
    });
  });
}

// Whether the keys are in order now, at the price of one pass or less.
bool sortedEasily(std::span<std::uint64_t> keys) {
  if (keys.size() < kSmallSort) {
    std::ranges::sort(keys);
    return true;
  }
  if (std::ranges::is_sorted(keys, std::greater<>())) {
    std::ranges::reverse(keys);
    return true;
  }
  return std::ranges::is_sorted(keys);
}

}  // namespace

std::span<std::uint64_t> KeySorter::Buffer::first(std::size_t count) {
  if (count > capacity) {
    keys = std::make_unique_for_overwrite<std::uint64_t[]>(count);
    capacity = count;
  }
  return {keys.get(), count};
}

std::span<const std::uint64_t> KeySorter::sorted(ScoreSpan scores, std::string_view list,
                                                 std::uint64_t first_index) {
  requireNumbers(scores, list, first_index);
  std::span<std::uint64_t> keys = keys_.first(scores.size());
  writeKeys(scores, keys);
  if (sortedEasily(keys)) {
    return keys;
  }
  const std::uint64_t differing = differingBits(keys);
  std::span<std::uint64_t> other = other_.first(scores.size());
  for (unsigned shift = 0; shift < kKeyBits; shift += kDigitBits) {
    if (((differing >> shift) & (kDigitValues - 1)) != 0) {
      RadixPass(keys, other).run(shift);
      std::swap(keys, other);
    }
  }
  return keys;
}

}  // namespace edgewise
