#include "ops/cpu_mixture.h"

#include <algorithm>
#include <cmath>

#include "edgewise/util/parallel.h"
#include "ops/pair_nodes.h"

namespace edgewise::detail {
namespace {

constexpr std::size_t kPairBlock = 512;

template <class Real>
void softmaxColumn(const Real* scores, std::size_t views, std::size_t pairs, Real temperature,
                   Real* out) {
  Real largest = scores[0];
  for (std::size_t view = 1; view < views; ++view) {
    largest = std::max(largest, scores[view * pairs]);
  }
  Real sum = 0;
  for (std::size_t view = 0; view < views; ++view) {
    const Real value = std::exp((scores[view * pairs] - largest) / temperature);
    out[view * pairs] = value;
    sum += value;
  }
  for (std::size_t view = 0; view < views; ++view) {
    out[view * pairs] /= sum;
  }
}

// On one core; rows are met in any order.
template <class Real>
double nanosecondsOf(const ChosenInput<Real>& input) {
  return 0.3 * static_cast<double>(input.pairs.size() * input.width);
}

}  // namespace

template <class Real>
void viewSoftmaxOnCpu(const Real* scores, std::size_t views, std::size_t pairs, Real temperature,
                      Real* out) {
  constexpr double kNanosecondsPerEntry = 5;
  parallelFor(
      pairs, kPairBlock,
      [=](std::size_t begin, std::size_t end) {
        for (std::size_t p = begin; p < end; ++p) {
          softmaxColumn(scores + p, views, pairs, temperature, out + p);
        }
      },
      kNanosecondsPerEntry * static_cast<double>(views * pairs));
}

template <class Real>
void chosenPairsOnCpu(const ChosenInput<Real>& input, Real* out) {
  const std::size_t width = input.width;
  parallelFor(
      input.pairs.size(), kPairBlock,
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t p = begin; p < end; ++p) {
          const Edge pair = input.pairs.pairs()[p];
          const Real* a = input.layers[input.choice[p].source] + index(pair.src) * width;
          const Real* b = input.layers[input.choice[p].target] + index(pair.dst) * width;
          Real* to = out + p * width;
#pragma omp simd
          for (std::size_t k = 0; k < width; ++k) {
            to[k] = a[k] * b[k];
          }
        }
      },
      nanosecondsOf(input));
}

template <class Real>
void chosenPairsBackwardOnCpu(const ChosenInput<Real>& input, const Real* gradient,
                              std::span<Real* const> to_layers) {
  const std::size_t width = input.width;
  const auto add_place = [&](std::uint32_t place) {
    const std::size_t p = place / 2;
    const Edge pair = input.pairs.pairs()[p];
    const LayerPair view = input.choice[p];
    const bool source = place % 2 == 0;
    const std::size_t node = index(source ? pair.src : pair.dst);
    const std::size_t other = index(source ? pair.dst : pair.src);
    const Real* factor = input.layers[source ? view.target : view.source] + other * width;
    Real* to = to_layers[source ? view.source : view.target] + node * width;
    const Real* from = gradient + p * width;
#pragma omp simd
    for (std::size_t k = 0; k < width; ++k) {
      to[k] += from[k] * factor[k];
    }
  };
  forEachNode(
      input.pairs,
      [&](std::size_t i) {
        for (const std::uint32_t place : input.pairs.places(i)) {
          add_place(place);
        }
      },
      3 * nanosecondsOf(input));
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define EDGEWISE_MIXTURE(Real)                                                              \
  template void viewSoftmaxOnCpu<Real>(const Real*, std::size_t, std::size_t, Real, Real*); \
  template void chosenPairsOnCpu<Real>(const ChosenInput<Real>&, Real*);                    \
  template void chosenPairsBackwardOnCpu<Real>(const ChosenInput<Real>&, const Real*,       \
                                               std::span<Real* const>);
EDGEWISE_MIXTURE(float)
EDGEWISE_MIXTURE(double)
#undef EDGEWISE_MIXTURE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace edgewise::detail
