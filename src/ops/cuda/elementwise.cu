#include <cmath>

#include "ops/cuda/kernels.h"

namespace edgewise::cuda {
namespace {

constexpr std::size_t kElementsPerBlock = 8;

EDGEWISE_FN std::uint64_t stepOf(const Mask& mask) {
  return mask.step_at == nullptr ? mask.step : *mask.step_at;
}

// Whether element i of the block's eight stays.
EDGEWISE_FN bool keeps(const RandomBlock& block, std::size_t i, std::uint32_t threshold) {
  const std::uint32_t word = block.words[i / 2];
  return (i % 2 == 0 ? word & 0xFFFFU : word >> 16) >= threshold;
}

// Eight elements, which one random block decides.
template <class Real, bool Rectified, bool Whole>
struct DropEight {
  const Real* in;
  Mask mask;
  std::size_t count;
  Real* out;
  // A bit for each element that comes through; null: not wanted.
  std::uint8_t* gates;

  EDGEWISE_FN void operator()(std::size_t block) const {
    const RandomBlock random =
        mask.threshold == 0 ? RandomBlock{} : randomBlock(mask.key, block, stepOf(mask));
    const std::size_t first = block * kElementsPerBlock;
    unsigned open = 0;
    if (Whole && first + kElementsPerBlock <= count) {
      constexpr int kWidth = 4;
      for (std::size_t part = 0; part < kElementsPerBlock / kWidth; ++part) {
        const Pack<Real, kWidth> from = packAt<Real, kWidth>(in + first, part);
        Pack<Real, kWidth> to;
        for (int k = 0; k < kWidth; ++k) {
          const std::size_t i = part * kWidth + static_cast<std::size_t>(k);
          to[k] = gated(from[k], random, i);
          open |= (to[k] > Real{0} ? 1U : 0U) << i;
        }
        packAt<Real, kWidth>(out + first, part) = to;
      }
    } else {
      for (std::size_t i = 0; i < kElementsPerBlock && first + i < count; ++i) {
        out[first + i] = gated(in[first + i], random, i);
        open |= (out[first + i] > Real{0} ? 1U : 0U) << i;
      }
    }
    if (gates != nullptr) {
      gates[block] = static_cast<std::uint8_t>(open);
    }
  }

  EDGEWISE_FN Real gated(Real value, const RandomBlock& random, std::size_t i) const {
    const Real scaled = value * static_cast<Real>(mask.scale);
    const bool kept = mask.threshold == 0 || keeps(random, i, mask.threshold);
    return !kept || (Rectified && scaled < Real{0}) ? Real{0} : scaled;
  }
};

// Eight elements, whose gates are one byte.
template <class Real, bool Whole>
struct GateEight {
  const Real* in;
  const std::uint8_t* gates;
  Real scale;
  std::size_t count;
  Real* out;

  EDGEWISE_FN void operator()(std::size_t block) const {
    const unsigned open = gates[block];
    const std::size_t first = block * kElementsPerBlock;
    if (Whole && first + kElementsPerBlock <= count) {
      constexpr int kWidth = 4;
      for (std::size_t part = 0; part < kElementsPerBlock / kWidth; ++part) {
        const Pack<Real, kWidth> from = packAt<Real, kWidth>(in + first, part);
        Pack<Real, kWidth> to;
        for (int k = 0; k < kWidth; ++k) {
          to[k] = gated(from[k], open, part * kWidth + static_cast<std::size_t>(k));
        }
        packAt<Real, kWidth>(out + first, part) = to;
      }
      return;
    }
    for (std::size_t i = 0; i < kElementsPerBlock && first + i < count; ++i) {
      out[first + i] = gated(in[first + i], open, i);
    }
  }

  EDGEWISE_FN Real gated(Real value, unsigned open, std::size_t i) const {
    return ((open >> i) & 1U) != 0 ? value * scale : Real{0};
  }
};

template <class Real, int Width>
struct GatePack {
  const Real* in;
  const Real* open;
  Real scale;
  Real* out;

  EDGEWISE_FN void operator()(std::size_t i) const {
    const Pack<Real, Width> from = packAt<Real, Width>(in, i);
    const Pack<Real, Width> gate = packAt<Real, Width>(open, i);
    Pack<Real, Width> result;
    for (int k = 0; k < Width; ++k) {
      result[k] = gate[k] > Real{0} ? from[k] * scale : Real{0};
    }
    packAt<Real, Width>(out, i) = result;
  }
};

template <class Real, int Width>
struct OuterPack {
  const Real* column;
  const Real* row;
  const Real* open;
  std::size_t packs;
  Real* out;

  EDGEWISE_FN void operator()(std::size_t i) const {
    const Real scale = column[i / packs];
    const Pack<Real, Width> by = packAt<Real, Width>(row, i % packs);
    const Pack<Real, Width> gate = packAt<Real, Width>(open, i);
    Pack<Real, Width> result;
    for (int k = 0; k < Width; ++k) {
      result[k] = gate[k] > Real{0} ? scale * by[k] : Real{0};
    }
    packAt<Real, Width>(out, i) = result;
  }
};

// The sum over one block of rows.
constexpr std::size_t kRowsPerSum = 64;
template <class Real, int Width>
struct SumBlock {
  const Real* x;
  std::size_t rows;
  std::size_t packs;
  Real* out;

  EDGEWISE_FN void operator()(std::size_t i) const {
    const std::size_t first = i / packs * kRowsPerSum;
    const std::size_t last = first + kRowsPerSum < rows ? first + kRowsPerSum : rows;
    Pack<Real, Width> sum{};
    for (std::size_t row = first; row < last; ++row) {
      sum.add(Real{1}, packAt<Real, Width>(x, row * packs + i % packs));
    }
    packAt<Real, Width>(out, i) = sum;
  }
};

std::size_t sumBlocks(std::size_t rows) { return (rows + kRowsPerSum - 1) / kRowsPerSum; }

template <class Real>
struct ScatterEight {
  const float* values;
  const std::int64_t* places;
  std::size_t count;
  Mask mask;
  Real* out;

  EDGEWISE_FN void operator()(std::size_t block) const {
    const RandomBlock random =
        mask.threshold == 0 ? RandomBlock{} : randomBlock(mask.key, block, stepOf(mask));
    const std::size_t first = block * kElementsPerBlock;
    for (std::size_t i = 0; i < kElementsPerBlock && first + i < count; ++i) {
      if (mask.threshold == 0 || keeps(random, i, mask.threshold)) {
        out[places[first + i]] =
            static_cast<Real>(values[first + i] * static_cast<float>(mask.scale));
      }
    }
  }
};

template <class Real>
struct Logistic {
  const Real* x;
  Real* out;
  EDGEWISE_FN void operator()(std::size_t i) const { out[i] = Real{1} / (Real{1} + exp(-x[i])); }
};

template <class Real>
struct CrossEntropy {
  const Real* logits;
  const Real* labels;
  Real* out;

  EDGEWISE_FN void operator()(std::size_t i) const {
    const Real x = logits[i];
    const Real size = x < Real{0} ? -x : x;
    out[i] = (x < Real{0} ? Real{0} : x) - x * labels[i] + log1p(exp(-size));
  }
};

struct SetValues {
  StepValues values;
  StepValues* out;
  EDGEWISE_FN void operator()(std::size_t) const { *out = values; }
};

template <class Real>
struct CountStep {
  const Real* loss;
  const double* norm_at;
  double clip;
  const StepValues* numbers;
  StepSums* sums;

  EDGEWISE_FN void operator()(std::size_t) const {
    const auto value = static_cast<double>(*loss);
    const double norm = *norm_at;
    // Not a number differs from itself; infinities from what a number minus itself is.
    const bool finite = value - value == 0 && norm - norm == 0;
    if (!finite && sums->diverged == 0) {
      sums->diverged = static_cast<double>(numbers->noise_step) + 1;
    }
    if (sums->diverged != 0) {
      sums->scale = 0;
      return;
    }
    sums->loss += value;
    sums->norm += norm;
    sums->scale = clip > 0 && norm > clip ? clip / norm : 1;
  }
};

template <class Real>
struct AdamElement {
  AdamSettings settings;
  const double* step;
  const double* root;
  const double* scale;
  const Real* gradient;
  Real* value;
  Real* first;
  Real* second;

  EDGEWISE_FN void operator()(std::size_t i) const {
    const auto by = static_cast<Real>(scale == nullptr ? 1.0 : *scale);
    if (by == Real{0}) {
      return;
    }
    const Real slope = gradient[i] * by + static_cast<Real>(settings.weight_decay) * value[i];
    const Real mean = static_cast<Real>(settings.beta1) * first[i] +
                      static_cast<Real>(1 - settings.beta1) * slope;
    const Real square = static_cast<Real>(settings.beta2) * second[i] +
                        static_cast<Real>(1 - settings.beta2) * slope * slope;
    first[i] = mean;
    second[i] = square;
    value[i] -= static_cast<Real>(*step) * mean /
                (sqrt(square) / static_cast<Real>(*root) + static_cast<Real>(settings.epsilon));
  }
};

std::size_t blocksOf(std::size_t count) {
  return (count + kElementsPerBlock - 1) / kElementsPerBlock;
}

template <class Real, bool Rectified>
void dropEights(Stream stream, const Real* in, const Mask& mask, std::size_t count, Real* out,
                std::uint8_t* gates) {
  byPack(
      kElementsPerBlock,
      [&]<int Width>() {
        constexpr bool kWhole = Width > 1;
        forEach(stream, blocksOf(count),
                DropEight<Real, Rectified, kWhole>{in, mask, count, out, gates});
      },
      in, out);
}

}  // namespace

template <class Real>
void drop(Stream stream, const Real* in, const Mask& mask, std::size_t count, Real* out) {
  dropEights<Real, false>(stream, in, mask, count, out, nullptr);
}

template <class Real>
void rectifyAndDrop(Stream stream, const Real* in, const Mask& mask, std::size_t count, Real* out,
                    std::uint8_t* gates) {
  dropEights<Real, true>(stream, in, mask, count, out, gates);
}

template <class Real>
void gateByBits(Stream stream, const Real* in, const std::uint8_t* gates, Real scale,
                std::size_t count, Real* out) {
  byPack(
      kElementsPerBlock,
      [&]<int Width>() {
        constexpr bool kWhole = Width > 1;
        forEach(stream, blocksOf(count), GateEight<Real, kWhole>{in, gates, scale, count, out});
      },
      in, out);
}

template <class Real>
void gate(Stream stream, const Real* in, const Real* open, Real scale, std::size_t count,
          Real* out) {
  byPack(
      count,
      [&]<int Width>() {
        forEach(stream, count / Width, GatePack<Real, Width>{in, open, scale, out});
      },
      in, open, out);
}

template <class Real>
void gatedOuter(Stream stream, const Real* column, const Real* row, const Real* open,
                std::size_t rows, std::size_t width, Real* out) {
  byPack(
      width,
      [&]<int Width>() {
        const std::size_t packs = width / Width;
        forEach(stream, rows * packs, OuterPack<Real, Width>{column, row, open, packs, out});
      },
      row, open, out);
}

std::size_t columnSumScratch(std::size_t rows, std::size_t width) {
  std::size_t blocks = 0;
  for (rows = sumBlocks(rows); rows > 1; rows = sumBlocks(rows)) {
    blocks += rows;
  }
  return blocks * width;
}

template <class Real>
void columnSum(Stream stream, const Real* x, std::size_t rows, std::size_t width, Real* scratch,
               Real* out) {
  byPack(
      width,
      [&]<int Width>() {
        const std::size_t packs = width / Width;
        const Real* from = x;
        Real* to = scratch;
        std::size_t left = rows;
        for (std::size_t blocks = sumBlocks(left); blocks > 1; blocks = sumBlocks(left)) {
          forEach(stream, blocks * packs, SumBlock<Real, Width>{from, left, packs, to});
          from = to;
          to += blocks * width;
          left = blocks;
        }
        forEach(stream, packs, SumBlock<Real, Width>{from, left, packs, out});
      },
      x, scratch, out);
}

template <class Real>
void scatterDropped(Stream stream, const float* values, const std::int64_t* places,
                    std::size_t count, const Mask& mask, Real* out) {
  forEach(stream, blocksOf(count), ScatterEight<Real>{values, places, count, mask, out});
}

template <class Real>
void logistic(Stream stream, const Real* x, std::size_t count, Real* out) {
  forEach(stream, count, Logistic<Real>{x, out});
}

template <class Real>
void crossEntropy(Stream stream, const Real* logits, const Real* labels, std::size_t count,
                  Real* out) {
  forEach(stream, count, CrossEntropy<Real>{logits, labels, out});
}

void setStepValues(Stream stream, const StepValues& values, StepValues* out) {
  forEach(stream, 1, SetValues{values, out});
}

template <class Real>
void countStep(Stream stream, const Real* loss, const double* norm, double clip,
               const StepValues* numbers, StepSums* sums) {
  forEach(stream, 1, CountStep<Real>{loss, norm, clip, numbers, sums});
}

template <class Real>
void adam(Stream stream, const AdamSettings& settings, const double* step, const double* root,
          const double* scale, const Real* gradient, std::size_t count, Real* value, Real* first,
          Real* second) {
  forEach(stream, count,
          AdamElement<Real>{settings, step, root, scale, gradient, value, first, second});
}

#define EDGEWISE_ELEMENTWISE(Real)                                                             \
  template void drop<Real>(Stream, const Real*, const Mask&, std::size_t, Real*);              \
  template void rectifyAndDrop<Real>(Stream, const Real*, const Mask&, std::size_t, Real*,     \
                                     std::uint8_t*);                                           \
  template void gateByBits<Real>(Stream, const Real*, const std::uint8_t*, Real, std::size_t,  \
                                 Real*);                                                       \
  template void gate<Real>(Stream, const Real*, const Real*, Real, std::size_t, Real*);        \
  template void gatedOuter<Real>(Stream, const Real*, const Real*, const Real*, std::size_t,   \
                                 std::size_t, Real*);                                          \
  template void columnSum<Real>(Stream, const Real*, std::size_t, std::size_t, Real*, Real*);  \
  template void scatterDropped<Real>(Stream, const float*, const std::int64_t*, std::size_t,   \
                                     const Mask&, Real*);                                      \
  template void logistic<Real>(Stream, const Real*, std::size_t, Real*);                       \
  template void crossEntropy<Real>(Stream, const Real*, const Real*, std::size_t, Real*);      \
  template void countStep<Real>(Stream, const Real*, const double*, double, const StepValues*, \
                                StepSums*);                                                    \
  template void adam<Real>(Stream, const AdamSettings&, const double*, const double*,          \
                           const double*, const Real*, std::size_t, Real*, Real*, Real*);
EDGEWISE_ELEMENTWISE(float)
EDGEWISE_ELEMENTWISE(double)
#undef EDGEWISE_ELEMENTWISE

}  // namespace edgewise::cuda
