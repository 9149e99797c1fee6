#include <algorithm>
#include <utility>

#include "edgewise/util/parallel.h"
#include "ops/cpu_mixture.h"
#include "ops/pair_nodes.h"

namespace edgewise::detail {
namespace {

constexpr std::size_t kPairBlock = 64;

// The rows that view (i, j) of a pair multiplies.
template <class Real>
struct ViewRows {
  const Real* source;
  const Real* target;

  ViewRows(const MixedInput<Real>& input, std::size_t pair, LayerPair view)
      : source(input.layers[view.source] + index(input.pairs.pairs()[pair].src) * input.width),
        target(input.layers[view.target] + index(input.pairs.pairs()[pair].dst) * input.width) {}

  void times(Real weight, std::size_t width, Real* out) const {
#pragma omp simd
    for (std::size_t k = 0; k < width; ++k) {
      out[k] = weight * (source[k] * target[k]);
    }
  }
  void addTimes(Real weight, std::size_t width, Real* to) const {
#pragma omp simd
    for (std::size_t k = 0; k < width; ++k) {
      to[k] += weight * (source[k] * target[k]);
    }
  }
  // The sum of gradient * source * target.
  [[nodiscard]] Real along(const Real* gradient, std::size_t width) const {
    Real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t k = 0; k < width; ++k) {
      sum += gradient[k] * (source[k] * target[k]);
    }
    return sum;
  }
};

// A weight of 0 leaves its view out, so that a choice written as weights costs what one view costs
// and has the very value of that view.
template <class Real>
void mixPair(const MixedInput<Real>& input, std::size_t pair, Real* out) {
  const std::size_t width = input.width;
  bool empty = true;
  for (std::size_t view = 0; view < input.views.size(); ++view) {
    const Real weight = input.weights[view * input.pairs.size() + pair];
    if (weight == 0) {
      continue;
    }
    const ViewRows<Real> rows(input, pair, input.views[view]);
    if (std::exchange(empty, false)) {
      rows.times(weight, width, out);
    } else {
      rows.addTimes(weight, width, out);
    }
  }
  if (empty) {
    std::fill_n(out, width, Real{0});
  }
}

// All that one place of a node gives to its gradients.
template <class Real>
void addPlace(const MixedInput<Real>& input, const Real* gradient, std::uint32_t place,
              std::span<Real* const> to_layers) {
  const std::size_t width = input.width;
  const std::size_t pair = place / 2;
  const bool source = place % 2 == 0;
  const Edge ends = input.pairs.pairs()[pair];
  const std::size_t node = index(source ? ends.src : ends.dst);
  const Real* from = gradient + pair * width;
  for (std::size_t view = 0; view < input.views.size(); ++view) {
    const auto [i, j] = input.views[view];
    const Real weight = input.weights[view * input.pairs.size() + pair];
    if (weight == 0) {
      continue;
    }
    const ViewRows<Real> rows(input, pair, {i, j});
    const Real* factor = source ? rows.target : rows.source;
    Real* to = to_layers[source ? i : j] + node * width;
#pragma omp simd
    for (std::size_t k = 0; k < width; ++k) {
      to[k] += (weight * from[k]) * factor[k];
    }
  }
}

// On one core, all views of all pairs once.
template <class Real>
double nanosecondsOf(const MixedInput<Real>& input) {
  return 0.3 * static_cast<double>(input.pairs.size() * input.views.size() * input.width);
}

}  // namespace

template <class Real>
void mixedPairsOnCpu(const MixedInput<Real>& input, Real* out) {
  parallelFor(
      input.pairs.size(), kPairBlock,
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t p = begin; p < end; ++p) {
          mixPair(input, p, out + p * input.width);
        }
      },
      nanosecondsOf(input));
}

template <class Real>
void mixedPairsToWeightsOnCpu(const MixedInput<Real>& input, const Real* gradient,
                              Real* to_weights) {
  const std::size_t pairs = input.pairs.size();
  parallelFor(
      pairs, kPairBlock,
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t p = begin; p < end; ++p) {
          for (std::size_t view = 0; view < input.views.size(); ++view) {
            const ViewRows<Real> rows(input, p, input.views[view]);
            to_weights[view * pairs + p] = rows.along(gradient + p * input.width, input.width);
          }
        }
      },
      nanosecondsOf(input));
}

template <class Real>
void mixedPairsToLayersOnCpu(const MixedInput<Real>& input, const Real* gradient,
                             std::span<Real* const> to_layers) {
  forEachNode(
      input.pairs,
      [&](std::size_t i) {
        for (const std::uint32_t place : input.pairs.places(i)) {
          addPlace(input, gradient, place, to_layers);
        }
      },
      2 * nanosecondsOf(input));
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define EDGEWISE_MIXED_PAIRS(Real)                                                           \
  template void mixedPairsOnCpu<Real>(const MixedInput<Real>&, Real*);                       \
  template void mixedPairsToWeightsOnCpu<Real>(const MixedInput<Real>&, const Real*, Real*); \
  template void mixedPairsToLayersOnCpu<Real>(const MixedInput<Real>&, const Real*,          \
                                              std::span<Real* const>);
EDGEWISE_MIXED_PAIRS(float)
EDGEWISE_MIXED_PAIRS(double)
#undef EDGEWISE_MIXED_PAIRS
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace edgewise::detail
