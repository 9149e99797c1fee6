#include "ops/cuda/kernels.h"

#ifdef __CUDACC__
#include <cub/device/device_radix_sort.cuh>
#else
#include <algorithm>
#include <numeric>
#endif

namespace edgewise::cuda {
namespace {

struct Iota {
  std::int32_t* out;
  EDGEWISE_FN void operator()(std::size_t i) const { out[i] = static_cast<std::int32_t>(i); }
};

// Where the places of node i begin: the first key that is not below it.
struct FirstPlace {
  const std::int32_t* keys;
  std::size_t count;
  std::int32_t* offsets;

  EDGEWISE_FN void operator()(std::size_t node) const {
    std::size_t low = 0;
    std::size_t high = count;
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (static_cast<std::size_t>(keys[middle]) < node) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    offsets[node] = static_cast<std::int32_t>(low);
  }
};

template <class Real>
struct UseWeight {
  Pairs pairs;
  std::size_t positives;
  Real share;
  Real* weights;

  EDGEWISE_FN void operator()(std::size_t node) const {
    Real weight = 0;
    for (std::int32_t i = pairs.offsets[node]; i < pairs.offsets[node + 1]; ++i) {
      const auto place = static_cast<std::size_t>(pairs.places[i]);
      if (place / 2 < positives) {
        weight += Real{1};
      } else if (place % 2 == 1) {
        weight += share;
      }
    }
    weights[node] = weight;
  }
};

// Row i of the rows of one end, or of all places, has this place.
EDGEWISE_FN std::size_t placeOf(std::size_t row, int end) {
  return end == kBothEnds ? row : 2 * row + static_cast<std::size_t>(end);
}

template <class Real, int Width>
struct GatherPack {
  Pairs pairs;
  int end;
  const Real* x;
  std::size_t packs;
  Real* out;

  EDGEWISE_FN void operator()(std::size_t i) const {
    const std::size_t width = packs * Width;
    const auto node = static_cast<std::size_t>(pairs.ends[placeOf(i / packs, end)]);
    packAt<Real, Width>(out, i) = packAt<Real, Width>(x + node * width, i % packs);
  }
};

// What the node whose places these are gets.
template <class Real, int Width>
struct ScatterPack {
  Pairs pairs;
  int end;
  const Real* rows;
  std::size_t packs;
  bool onto;
  Real* out;

  EDGEWISE_FN void add(std::size_t node, std::size_t column) const {
    const std::size_t width = packs * Width;
    Pack<Real, Width> sum{};
    for (std::int32_t at = pairs.offsets[node]; at < pairs.offsets[node + 1]; ++at) {
      const std::int32_t place = pairs.places[at];
      if (end == kBothEnds || place % 2 == end) {
        const auto row = static_cast<std::size_t>(end == kBothEnds ? place : place / 2);
        sum.add(Real{1}, packAt<Real, Width>(rows + row * width, column));
      }
    }
    Pack<Real, Width>& to = packAt<Real, Width>(out + node * width, column);
    if (onto) {
      sum.add(Real{1}, to);
    }
    to = sum;
  }
  EDGEWISE_FN void operator()(std::size_t i) const { add(i / packs, i % packs); }
};

// The same for the nodes that occur, of a sum that is 0 for the others: each by the first of its
// places.
template <class Real, int Width>
struct ScatterFirst {
  ScatterPack<Real, Width> all;

  EDGEWISE_FN void operator()(std::size_t i) const {
    const std::size_t at = i / all.packs;
    const Pairs& pairs = all.pairs;
    const std::int32_t node = pairs.ends[pairs.places[at]];
    if (at == 0 || pairs.ends[pairs.places[at - 1]] != node) {
      all.add(static_cast<std::size_t>(node), i % all.packs);
    }
  }
};

int bitsOf(std::size_t nodes) {
  int bits = 1;
  while (bits < 31 && (std::size_t{1} << bits) < nodes) {
    ++bits;
  }
  return bits;
}

}  // namespace

std::size_t sortBytes(std::size_t count) {
#ifdef __CUDACC__
  std::size_t bytes = 0;
  const std::int32_t* keys = nullptr;
  std::int32_t* sorted = nullptr;
  require(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, sorted, keys, sorted,
                                          static_cast<int>(count)));
  // The unsorted places stand in front.
  return bytes + inScratch(count * sizeof(std::int32_t));
#else
  return count * sizeof(std::int32_t) + 1;
#endif
}

void sortPlaces(Stream stream, const std::int32_t* keys, std::size_t count, std::size_t nodes,
                void* scratch, std::size_t scratch_bytes, std::int32_t* sorted_keys,
                std::int32_t* places, std::int32_t* offsets) {
#ifdef __CUDACC__
  auto* const unsorted = static_cast<std::int32_t*>(scratch);
  const std::size_t before = inScratch(count * sizeof(std::int32_t));
  std::size_t bytes = scratch_bytes - before;
  forEach(stream, count, Iota{unsorted});
  require(cub::DeviceRadixSort::SortPairs(static_cast<char*>(scratch) + before, bytes, keys,
                                          sorted_keys, unsorted, places, static_cast<int>(count), 0,
                                          bitsOf(nodes), static_cast<cudaStream_t>(stream.handle)));
#else
  static_cast<void>(scratch);
  static_cast<void>(scratch_bytes);
  static_cast<void>(bitsOf(nodes));
  std::iota(places, places + count, 0);
  std::stable_sort(places, places + count,
                   [&](std::int32_t a, std::int32_t b) { return keys[a] < keys[b]; });
  for (std::size_t i = 0; i < count; ++i) {
    sorted_keys[i] = keys[places[i]];
  }
#endif
  forEach(stream, nodes + 1, FirstPlace{sorted_keys, count, offsets});
}

template <class Real>
void gatherEnd(Stream stream, const Pairs& pairs, int end, const Real* x, std::size_t width,
               Real* out) {
  byPack(
      width,
      [&]<int Width>() {
        const std::size_t packs = width / Width;
        const std::size_t rows = end == kBothEnds ? 2 * pairs.count : pairs.count;
        forEach(stream, rows * packs, GatherPack<Real, Width>{pairs, end, x, packs, out});
      },
      x, out);
}

template <class Real>
void scatterEnd(Stream stream, const Pairs& pairs, int end, const Real* rows, std::size_t width,
                bool onto, Real* out) {
  byPack(
      width,
      [&]<int Width>() {
        const std::size_t packs = width / Width;
        const ScatterPack<Real, Width> all{pairs, end, rows, packs, onto, out};
        if (pairs.nodes <= 2 * pairs.count) {
          forEach(stream, pairs.nodes * packs, all);
          return;
        }
        if (!onto) {
          fillZero(stream, out, pairs.nodes * width * sizeof(Real));
        }
        forEach(stream, 2 * pairs.count * packs, ScatterFirst<Real, Width>{all});
      },
      rows, out);
}

template <class Real>
void useWeights(Stream stream, const Pairs& pairs, std::size_t positives, Real share,
                Real* weights) {
  forEach(stream, pairs.nodes, UseWeight<Real>{pairs, positives, share, weights});
}

#define EDGEWISE_PAIR_ENDS(Real)                                                             \
  template void gatherEnd<Real>(Stream, const Pairs&, int, const Real*, std::size_t, Real*); \
  template void scatterEnd<Real>(Stream, const Pairs&, int, const Real*, std::size_t, bool,  \
                                 Real*);                                                     \
  template void useWeights<Real>(Stream, const Pairs&, std::size_t, Real, Real*);
EDGEWISE_PAIR_ENDS(float)
EDGEWISE_PAIR_ENDS(double)
#undef EDGEWISE_PAIR_ENDS

}  // namespace edgewise::cuda
