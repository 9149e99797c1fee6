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

// Elements that one thread works on: neighbours in a group of threads then read and write
// neighbours in memory. A random block decides two of them, a byte holds the gates of one.
constexpr std::size_t kQuad = 4;

std::size_t quadsOf(std::size_t count) { return (count + kQuad - 1) / kQuad; }

// to(value, i) for the elements 4 * quad + i there are; `Whole`: read and written at once where all
// four are.
template <bool Whole, class Real, class To>
EDGEWISE_FN void overQuad(const Real* in, std::size_t quad, std::size_t count, Real* out,
                          const To& to) {
  const std::size_t first = quad * kQuad;
  if (Whole && first + kQuad <= count) {
    const Pack<Real, kQuad> from = packAt<Real, kQuad>(in, quad);
    Pack<Real, kQuad> result;
    for (int i = 0; i < static_cast<int>(kQuad); ++i) {
      result[i] = to(from[i], static_cast<std::size_t>(i));
    }
    packAt<Real, kQuad>(out, quad) = result;
    return;
  }
  for (std::size_t i = 0; i < kQuad && first + i < count; ++i) {
    out[first + i] = to(in[first + i], i);
  }
}

template <class Real, bool Rectified, bool Whole>
struct DropQuad {
  const Real* in;
  Mask mask;
  std::size_t count;
  Real* out;
  // A bit for each element that comes through; null: not wanted.
  std::uint8_t* gates;

  EDGEWISE_FN void operator()(std::size_t quad) const {
    constexpr std::size_t kQuads = kElementsPerBlock / kQuad;
    const RandomBlock random =
        mask.threshold == 0 ? RandomBlock{} : randomBlock(mask.key, quad / kQuads, stepOf(mask));
    unsigned open = 0;
    overQuad<Whole>(in, quad, count, out, [&](Real value, std::size_t i) {
      const Real scaled = value * static_cast<Real>(mask.scale);
      const bool kept =
          mask.threshold == 0 || keeps(random, quad % kQuads * kQuad + i, mask.threshold);
      const Real result = !kept || (Rectified && scaled < Real{0}) ? Real{0} : scaled;
      open |= (result > Real{0} ? 1U : 0U) << i;
      return result;
    });
    if (gates != nullptr) {
      gates[quad] = static_cast<std::uint8_t>(open);
    }
  }
};

template <class Real, bool Whole>
struct GateQuad {
  const Real* in;
  const std::uint8_t* gates;
  Real scale;
  std::size_t count;
  Real* out;

  EDGEWISE_FN void operator()(std::size_t quad) const {
    const unsigned open = gates[quad];
    overQuad<Whole>(in, quad, count, out, [&](Real value, std::size_t i) {
      return ((open >> i) & 1U) != 0 ? value * scale : Real{0};
    });
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

  // What comes out of these gates, scaled.
  EDGEWISE_FN Pack<Real, Width> through(const Pack<Real, Width>& gate, Real scale,
                                        std::size_t at) const {
    const Pack<Real, Width> by = packAt<Real, Width>(row, at);
    Pack<Real, Width> result;
    for (int k = 0; k < Width; ++k) {
      result[k] = gate[k] > Real{0} ? scale * by[k] : Real{0};
    }
    return result;
  }
  EDGEWISE_FN void operator()(std::size_t i) const {
    packAt<Real, Width>(out, i) =
        through(packAt<Real, Width>(open, i), column[i / packs], i % packs);
  }
};

constexpr std::size_t kRowsPerSum = 64;

// One pack of columns of a block of rows of an outer product, with sums over them.
template <class Real, int Width>
struct OuterSums {
  OuterPack<Real, Width> outer;
  std::size_t rows;
  // [blocks, 2 * width]: of the gates' own values by the column, and of what comes out.
  Real* sums;

  EDGEWISE_FN void operator()(std::size_t i) const {
    const std::size_t packs = outer.packs;
    const std::size_t block = i / packs;
    const std::size_t column = i % packs;
    const std::size_t first = block * kRowsPerSum;
    const std::size_t last = first + kRowsPerSum < rows ? first + kRowsPerSum : rows;
    Pack<Real, Width> values{};
    Pack<Real, Width> results{};
    for (std::size_t row = first; row < last; ++row) {
      const std::size_t place = row * packs + column;
      const Pack<Real, Width> gate = packAt<Real, Width>(outer.open, place);
      const Pack<Real, Width> result = outer.through(gate, outer.column[row], column);
      packAt<Real, Width>(outer.out, place) = result;
      values.add(outer.column[row], gate);
      results.add(Real{1}, result);
    }
    packAt<Real, Width>(sums, 2 * block * packs + column) = values;
    packAt<Real, Width>(sums, (2 * block + 1) * packs + column) = results;
  }
};

// The sum over one block of rows.
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

// start.template operator()<Whole>()
template <class Start, class... Matrices>
void byQuad(const Start& start, const Matrices&... matrices) {
  byPack<kQuad>(
      kQuad,
      [&]<int Width>() {
        constexpr bool kWhole = Width > 1;
        start.template operator()<kWhole>();
      },
      matrices...);
}

template <class Real, bool Rectified>
void dropQuads(Stream stream, const Real* in, const Mask& mask, std::size_t count, Real* out,
               std::uint8_t* gates) {
  byQuad(
      [&]<bool Whole>() {
        forEach(stream, quadsOf(count),
                DropQuad<Real, Rectified, Whole>{in, mask, count, out, gates});
      },
      in, out);
}

}  // namespace

template <class Real>
void drop(Stream stream, const Real* in, const Mask& mask, std::size_t count, Real* out) {
  dropQuads<Real, false>(stream, in, mask, count, out, nullptr);
}

template <class Real>
void rectifyAndDrop(Stream stream, const Real* in, const Mask& mask, std::size_t count, Real* out,
                    std::uint8_t* gates) {
  dropQuads<Real, true>(stream, in, mask, count, out, gates);
}

template <class Real>
void gateByBits(Stream stream, const Real* in, const std::uint8_t* gates, Real scale,
                std::size_t count, Real* out) {
  byQuad(
      [&]<bool Whole>() {
        forEach(stream, quadsOf(count), GateQuad<Real, Whole>{in, gates, scale, count, out});
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

std::size_t outerSumRows(std::size_t rows) { return sumBlocks(rows); }

template <class Real>
void gatedOuterSums(Stream stream, const Real* column, const Real* row, const Real* open,
                    std::size_t rows, std::size_t width, Real* out, Real* sums) {
  byPack(
      width,
      [&]<int Width>() {
        const std::size_t packs = width / Width;
        forEach(stream, sumBlocks(rows) * packs,
                OuterSums<Real, Width>{{column, row, open, packs, out}, rows, sums});
      },
      row, open, out, sums);
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

#define EDGEWISE_ELEMENTWISE(Real)                                                               \
  template void drop<Real>(Stream, const Real*, const Mask&, std::size_t, Real*);                \
  template void rectifyAndDrop<Real>(Stream, const Real*, const Mask&, std::size_t, Real*,       \
                                     std::uint8_t*);                                             \
  template void gateByBits<Real>(Stream, const Real*, const std::uint8_t*, Real, std::size_t,    \
                                 Real*);                                                         \
  template void gate<Real>(Stream, const Real*, const Real*, Real, std::size_t, Real*);          \
  template void gatedOuter<Real>(Stream, const Real*, const Real*, const Real*, std::size_t,     \
                                 std::size_t, Real*);                                            \
  template void gatedOuterSums<Real>(Stream, const Real*, const Real*, const Real*, std::size_t, \
                                     std::size_t, Real*, Real*);                                 \
  template void columnSum<Real>(Stream, const Real*, std::size_t, std::size_t, Real*, Real*);    \
  template void scatterDropped<Real>(Stream, const float*, const std::int64_t*, std::size_t,     \
                                     const Mask&, Real*);                                        \
  template void logistic<Real>(Stream, const Real*, std::size_t, Real*);                         \
  template void crossEntropy<Real>(Stream, const Real*, const Real*, std::size_t, Real*);        \
  template void countStep<Real>(Stream, const Real*, const double*, double, const StepValues*,   \
                                StepSums*);                                                      \
  template void adam<Real>(Stream, const AdamSettings&, const double*, const double*,            \
                           const double*, const Real*, std::size_t, Real*, Real*, Real*);
EDGEWISE_ELEMENTWISE(float)
EDGEWISE_ELEMENTWISE(double)
#undef EDGEWISE_ELEMENTWISE

}  // namespace edgewise::cuda
