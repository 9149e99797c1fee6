#include "ops/cpu_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "edgewise/util/error.h"
#include "edgewise/util/parallel.h"

namespace edgewise {
namespace {

constexpr double kLevels = 65'536;
// Elements that one counter block of 128 bits decides.
constexpr std::size_t kElementsPerBlock = 8;

}  // namespace

DropoutMask::DropoutMask(double rate, const CounterRng& rng, std::uint64_t step)
    : rng_(rng), step_(step) {
  if (rate < 0 || rate >= 1 || std::isnan(rate)) {
    throw ConfigError(fmt::format("a dropout rate of {} is not in [0, 1)", rate));
  }
  threshold_ = static_cast<std::uint32_t>(std::lround(rate * kLevels));
  threshold_ = std::min(threshold_, static_cast<std::uint32_t>(kLevels) - 1);
  scale_ = 1.0 / (1.0 - threshold_ / kLevels);
}

DropoutMask::DropoutMask(double rate, const CounterRng& rng, const std::uint64_t* step_on_device)
    : DropoutMask(rate, rng, std::uint64_t{0}) {
  step_on_device_ = step_on_device;
}

void DropoutMask::draw(std::uint64_t first, std::span<std::uint8_t> keep) const {
  constexpr std::size_t kChunk = 1024;
  std::array<std::uint32_t, kChunk / 2> words;
  for (std::size_t done = 0; done < keep.size(); done += kChunk) {
    const std::size_t count = std::min(kChunk, keep.size() - done);
    rng_.fill((first + done) / kElementsPerBlock, step_, std::span(words).first((count + 1) / 2));
    std::uint8_t* out = keep.data() + done;
    for (std::size_t i = 0; i < count / 2; ++i) {
      out[2 * i] = static_cast<std::uint8_t>((words[i] & 0xFFFFU) >= threshold_);
      out[2 * i + 1] = static_cast<std::uint8_t>((words[i] >> 16) >= threshold_);
    }
    if (count % 2 == 1) {
      out[count - 1] = static_cast<std::uint8_t>((words[count / 2] & 0xFFFFU) >= threshold_);
    }
  }
}

namespace detail {
namespace {

constexpr std::size_t kGateBlock = 16'384;

// Calls body(begin, end, keep) for blocks, with keep[i - begin] saying whether i stays.
template <class Body>
void forKept(const DropoutMask& mask, std::size_t count, const Body& body) {
  parallelFor(
      count, kGateBlock,
      [&](std::size_t begin, std::size_t end) {
        std::array<std::uint8_t, kGateBlock> keep;
        mask.draw(begin, std::span(keep).first(end - begin));
        body(begin, end, keep.data());
      },
      0.6 * static_cast<double>(count));
}

}  // namespace

// The product is taken before the choice: compilers then choose without branching.
template <class Real>
void dropOnCpu(const Real* in, const DropoutMask& mask, std::size_t count, Real* out) {
  forKept(mask, count, [=, &mask](std::size_t begin, std::size_t end, const std::uint8_t* keep) {
    const auto scale = static_cast<Real>(mask.scale());
    const Real* from = in + begin;
    Real* to = out + begin;
#pragma omp simd
    for (std::size_t i = 0; i < end - begin; ++i) {
      const Real scaled = from[i] * scale;
      to[i] = keep[i] != 0 ? scaled : Real{0};
    }
  });
}

template <class Real>
void rectifyAndDropOnCpu(const Real* in, const DropoutMask& mask, std::size_t count, Real* out) {
  if (mask.keepsAll()) {
    parallelFor(count, kGateBlock, [=](std::size_t begin, std::size_t end) {
#pragma omp simd
      for (std::size_t i = begin; i < end; ++i) {
        // In this order what is not a number stays so, here as below.
        out[i] = std::max(in[i], Real{0});
      }
    });
    return;
  }
  forKept(mask, count, [=, &mask](std::size_t begin, std::size_t end, const std::uint8_t* keep) {
    const auto scale = static_cast<Real>(mask.scale());
    const Real* from = in + begin;
    Real* to = out + begin;
#pragma omp simd
    for (std::size_t i = 0; i < end - begin; ++i) {
      const Real scaled = std::max(from[i] * scale, Real{0});
      to[i] = keep[i] != 0 ? scaled : Real{0};
    }
  });
}

template <class Real>
void gateOnCpu(const Real* in, const Real* open, Real scale, std::size_t count, Real* out) {
  parallelFor(
      count, kGateBlock,
      [=](std::size_t begin, std::size_t end) {
        const Real* from = in + begin;
        const Real* gate = open + begin;
        Real* to = out + begin;
#pragma omp simd
        for (std::size_t i = 0; i < end - begin; ++i) {
          const Real scaled = from[i] * scale;
          to[i] = gate[i] > 0 ? scaled : Real{0};
        }
      },
      0.2 * static_cast<double>(count));
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define EDGEWISE_GATE(Real)                                                                     \
  template void dropOnCpu<Real>(const Real*, const DropoutMask&, std::size_t, Real*);           \
  template void rectifyAndDropOnCpu<Real>(const Real*, const DropoutMask&, std::size_t, Real*); \
  template void gateOnCpu<Real>(const Real*, const Real*, Real, std::size_t, Real*);
EDGEWISE_GATE(float)
EDGEWISE_GATE(double)
#undef EDGEWISE_GATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace detail
}  // namespace edgewise
