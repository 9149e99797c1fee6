// The random numbers of util/rng.h on a GPU: the same bits at the same counters.
#pragma once

#include "ops/cuda/launch.h"

namespace edgewise::cuda {

struct RandomKey {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
};

struct RandomBlock {
  std::uint32_t words[4];
};

EDGEWISE_FN RandomBlock randomBlock(RandomKey key, std::uint64_t low, std::uint64_t high) {
  std::uint32_t a = static_cast<std::uint32_t>(low);
  std::uint32_t b = static_cast<std::uint32_t>(low >> 32);
  std::uint32_t c = static_cast<std::uint32_t>(high);
  std::uint32_t d = static_cast<std::uint32_t>(high >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53U} * a;
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57U} * c;
    a = static_cast<std::uint32_t>(product1 >> 32) ^ b ^ key.low;
    b = static_cast<std::uint32_t>(product1);
    c = static_cast<std::uint32_t>(product0 >> 32) ^ d ^ key.high;
    d = static_cast<std::uint32_t>(product0);
    key.low += 0x9E3779B9U;
    key.high += 0xBB67AE85U;
  }
  return {{a, b, c, d}};
}

EDGEWISE_FN std::uint64_t highProduct(std::uint64_t a, std::uint64_t b) {
#ifdef __CUDA_ARCH__
  return __umul64hi(a, b);
#else
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(a) * b) >> 64);
#endif
}

// CounterRng::below.
EDGEWISE_FN std::uint64_t randomBelow(RandomKey key, std::uint64_t counter, std::uint64_t bound,
                                      std::uint64_t lane) {
  const std::uint64_t threshold = (0 - bound) % bound;
  for (std::uint64_t attempt = 0;; ++attempt) {
    const RandomBlock block = randomBlock(key, counter, lane + (attempt << 32));
    const std::uint64_t bits = (static_cast<std::uint64_t>(block.words[1]) << 32) | block.words[0];
    if (bits * bound >= threshold) {
      return highProduct(bits, bound);
    }
  }
}

}  // namespace edgewise::cuda
