#include "ops/cuda/rows.h"

#ifdef __CUDACC__
#include <cub/device/device_scan.cuh>
#endif

namespace edgewise::cuda {
namespace {

struct TakeEdge {
  const std::int32_t* supervision;
  const std::int32_t* order;
  std::int32_t* rows;
  std::int32_t* ends;

  EDGEWISE_FN void operator()(std::size_t i) const {
    const std::int32_t row = order[i];
    rows[i] = row;
    ends[2 * i] = supervision[2 * static_cast<std::size_t>(row)];
    ends[2 * i + 1] = supervision[2 * static_cast<std::size_t>(row) + 1];
  }
};

// As TargetSampler::draw.
struct DrawTarget {
  TargetDraw draw;
  const std::int32_t* positive;
  std::size_t per_positive;
  std::int32_t* ends;

  EDGEWISE_FN void operator()(std::size_t i) const {
    const std::int32_t source = positive[2 * (i / per_positive)];
    const std::int64_t begin = draw.known.offsets[source];
    const std::int64_t size = draw.known.offsets[source + 1] - begin;
    const std::uint64_t rank =
        randomBelow(draw.key, i, draw.target_count - static_cast<std::uint64_t>(size), 0);
    std::int64_t low = 0;
    std::int64_t high = size;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (static_cast<std::uint64_t>(draw.known.columns[begin + middle] - middle) > rank) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    ends[2 * i] = source;
    ends[2 * i + 1] = draw.targets[rank + static_cast<std::uint64_t>(low)];
  }
};

struct Drawn {
  std::int32_t source;
  std::int32_t target;
};

// Lanes of NegativeSampler's draws.
constexpr std::uint64_t kSourceLane = 0;
constexpr std::uint64_t kTargetLane = 1;

EDGEWISE_FN Drawn drawPair(const PairDraw& draw, std::uint64_t counter) {
  if (draw.users > 0) {
    return {static_cast<std::int32_t>(randomBelow(draw.key, counter, draw.users, kSourceLane)),
            static_cast<std::int32_t>(
                draw.users + randomBelow(draw.key, counter, draw.nodes - draw.users, kTargetLane))};
  }
  const std::uint64_t source = randomBelow(draw.key, counter, draw.nodes, kSourceLane);
  const std::uint64_t other = randomBelow(draw.key, counter, draw.nodes - 1, kTargetLane);
  const std::uint64_t target = other < source ? other : other + 1;
  const bool turned = !draw.directed && target < source;
  return {static_cast<std::int32_t>(turned ? target : source),
          static_cast<std::int32_t>(turned ? source : target)};
}

EDGEWISE_FN bool isKnown(const PairDraw& draw, Drawn pair) {
  return findEntry(draw.known, static_cast<std::size_t>(pair.source), pair.target) >= 0;
}

EDGEWISE_FN void store(const PairDraw& draw, Drawn pair, std::int32_t* ends) {
  ends[0] = draw.candidates == nullptr ? pair.source : draw.candidates[pair.source];
  ends[1] = draw.candidates == nullptr ? pair.target : draw.candidates[pair.target];
}

struct IsFit {
  PairDraw draw;
  std::int32_t* fit;
  EDGEWISE_FN void operator()(std::size_t i) const {
    fit[i] = isKnown(draw, drawPair(draw, i)) ? 0 : 1;
  }
};

// `ranks[i]`: how many fit draws came before draw i.
struct KeepFit {
  PairDraw draw;
  const std::int32_t* fit;
  const std::int32_t* ranks;
  std::size_t count;
  std::int32_t* ends;

  EDGEWISE_FN void operator()(std::size_t i) const {
    const auto rank = static_cast<std::size_t>(ranks[i]);
    if (fit[i] != 0 && rank < count) {
      store(draw, drawPair(draw, i), ends + 2 * rank);
    }
  }
};

// Pairs that are missing still, each from draws of its own.
struct DrawMissing {
  PairDraw draw;
  const std::int32_t* fit;
  const std::int32_t* ranks;
  std::size_t draws;
  std::int32_t* ends;

  EDGEWISE_FN void operator()(std::size_t i) const {
    const auto found = static_cast<std::size_t>(ranks[draws - 1] + fit[draws - 1]);
    if (i < found) {
      return;
    }
    for (std::uint64_t attempt = 1;; ++attempt) {
      const Drawn pair = drawPair(draw, draws + i + (attempt << 32));
      if (!isKnown(draw, pair)) {
        store(draw, pair, ends + 2 * i);
        return;
      }
    }
  }
};

}  // namespace

void takeEdges(Stream stream, const std::int32_t* supervision, const std::int32_t* order,
               std::size_t count, std::int32_t* rows, std::int32_t* ends) {
  forEach(stream, count, TakeEdge{supervision, order, rows, ends});
}

void drawTargets(Stream stream, const TargetDraw& draw, const std::int32_t* positive,
                 std::size_t count, std::size_t per_positive, std::int32_t* ends) {
  forEach(stream, count * per_positive, DrawTarget{draw, positive, per_positive, ends});
}

std::size_t drawBytes(std::size_t draws) {
  std::size_t bytes = 0;
#ifdef __CUDACC__
  const std::int32_t* in = nullptr;
  std::int32_t* out = nullptr;
  require(cub::DeviceScan::ExclusiveSum(nullptr, bytes, in, out, static_cast<int>(draws)));
#endif
  return bytes + 2 * inScratch(draws * sizeof(std::int32_t));
}

void drawNonEdges(Stream stream, const PairDraw& draw, std::size_t draws, std::size_t count,
                  void* scratch, std::size_t scratch_bytes, std::int32_t* ends) {
  const std::size_t part = inScratch(draws * sizeof(std::int32_t));
  auto* const fit = static_cast<std::int32_t*>(scratch);
  auto* const ranks = reinterpret_cast<std::int32_t*>(static_cast<char*>(scratch) + part);
  forEach(stream, draws, IsFit{draw, fit});
#ifdef __CUDACC__
  std::size_t bytes = scratch_bytes - 2 * part;
  require(cub::DeviceScan::ExclusiveSum(static_cast<char*>(scratch) + 2 * part, bytes, fit, ranks,
                                        static_cast<int>(draws),
                                        static_cast<cudaStream_t>(stream.handle)));
#else
  static_cast<void>(scratch_bytes);
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < draws; ++i) {
    ranks[i] = sum;
    sum += fit[i];
  }
#endif
  forEach(stream, draws, KeepFit{draw, fit, ranks, count, ends});
  forEach(stream, count, DrawMissing{draw, fit, ranks, draws, ends});
}

}  // namespace edgewise::cuda
