#include "edgewise/util/rng.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "edgewise/util/error.h"

namespace edgewise {
namespace {

constexpr std::uint32_t kMultiplier0 = 0xD2511F53;
constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;

__extension__ using Wide = unsigned __int128;  // ISO C++ has no 128-bit product

// Below this lane are the caller's draws; rejected draws continue above it, so that they never
// meet.
constexpr std::uint64_t kRetryLanes = 1ULL << 32;

std::array<std::uint32_t, 4> philoxRound(const std::array<std::uint32_t, 4>& counter,
                                         const std::array<std::uint32_t, 2>& key) {
  const std::uint64_t product0 = static_cast<std::uint64_t>(kMultiplier0) * counter[0];
  const std::uint64_t product1 = static_cast<std::uint64_t>(kMultiplier1) * counter[2];
  return {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
          static_cast<std::uint32_t>(product1),
          static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
          static_cast<std::uint32_t>(product0)};
}

// SplitMix64's finaliser: spreads related (seed, stream) pairs over the key space.
std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

std::uint64_t join(std::uint32_t low, std::uint32_t high) {
  return (static_cast<std::uint64_t>(high) << 32) | low;
}

}  // namespace

CounterRng::CounterRng(std::uint64_t seed, std::uint64_t stream) {
  const std::uint64_t key = mix(seed + 0x9e3779b97f4a7c15ULL * (1 + mix(stream)));
  key_ = {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
}

std::array<std::uint32_t, 4> CounterRng::block(std::uint64_t low, std::uint64_t high) const {
  std::array<std::uint32_t, 4> counter = {
      static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
      static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32)};
  std::array<std::uint32_t, 2> key = key_;
  for (int round = 0; round < kRounds; ++round) {
    counter = philoxRound(counter, key);
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

void CounterRng::fill(std::uint64_t first, std::uint64_t high,
                      std::span<std::uint32_t> words) const {
  // Side by side in arrays, so that the compiler turns each round into a few vector instructions.
  constexpr std::size_t kLanes = 16;
  using Lanes = std::array<std::uint32_t, kLanes>;
  for (std::size_t done = 0; done < words.size(); done += 4 * kLanes) {
    Lanes a;
    Lanes b;
    Lanes c;
    Lanes d;
    for (std::size_t i = 0; i < kLanes; ++i) {
      const std::uint64_t low = first + done / 4 + i;
      a[i] = static_cast<std::uint32_t>(low);
      b[i] = static_cast<std::uint32_t>(low >> 32);
      c[i] = static_cast<std::uint32_t>(high);
      d[i] = static_cast<std::uint32_t>(high >> 32);
    }
    std::array<std::uint32_t, 2> key = key_;
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t i = 0; i < kLanes; ++i) {
        const std::uint64_t product0 = static_cast<std::uint64_t>(kMultiplier0) * a[i];
        const std::uint64_t product1 = static_cast<std::uint64_t>(kMultiplier1) * c[i];
        a[i] = static_cast<std::uint32_t>(product1 >> 32) ^ b[i] ^ key[0];
        b[i] = static_cast<std::uint32_t>(product1);
        c[i] = static_cast<std::uint32_t>(product0 >> 32) ^ d[i] ^ key[1];
        d[i] = static_cast<std::uint32_t>(product0);
      }
      key[0] += kWeyl0;
      key[1] += kWeyl1;
    }
    const std::size_t left = words.size() - done;
    for (std::size_t i = 0; i < std::min(kLanes, (left + 3) / 4); ++i) {
      const std::array<std::uint32_t, 4> block = {a[i], b[i], c[i], d[i]};
      std::copy_n(block.begin(), std::min<std::size_t>(4, left - 4 * i),
                  words.begin() + static_cast<std::ptrdiff_t>(done + 4 * i));
    }
  }
}

std::uint64_t CounterRng::bits(std::uint64_t counter, std::uint64_t lane) const {
  const auto words = block(counter, lane);
  return join(words[0], words[1]);
}

double CounterRng::uniform(std::uint64_t counter, std::uint64_t lane) const {
  return static_cast<double>(bits(counter, lane) >> 11) * 0x1.0p-53;
}

std::uint64_t CounterRng::below(std::uint64_t counter, std::uint64_t bound,
                                std::uint64_t lane) const {
  invariant(bound > 0, "CounterRng::below needs a positive bound");
  // Lemire's multiply-shift with exact rejection of the biased remainder.
  const std::uint64_t threshold = (0 - bound) % bound;
  for (std::uint64_t attempt = 0;; ++attempt) {
    const auto product = static_cast<Wide>(bits(counter, lane + attempt * kRetryLanes)) * bound;
    if (static_cast<std::uint64_t>(product) >= threshold) {
      return static_cast<std::uint64_t>(product >> 64);
    }
  }
}

double CounterRng::normal(std::uint64_t counter, std::uint64_t lane) const {
  const auto words = block(counter, lane);
  const double radius_draw =
      (static_cast<double>(join(words[0], words[1]) >> 11) + 1.0) * 0x1.0p-53;
  const double angle_draw = static_cast<double>(join(words[2], words[3]) >> 11) * 0x1.0p-53;
  return std::sqrt(-2.0 * std::log(radius_draw)) * std::cos(2.0 * std::numbers::pi * angle_draw);
}

}  // namespace edgewise
