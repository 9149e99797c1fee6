#include "ops/cpu_pairs.h"

#include <algorithm>

#include "edgewise/util/parallel.h"
#include "ops/pair_nodes.h"

namespace edgewise::detail {
namespace {

constexpr std::size_t kPairBlock = 256;

template <class Real>
void multiplyInto(const Real* a, const Real* b, std::size_t width, Real* out) {
#pragma omp simd
  for (std::size_t k = 0; k < width; ++k) {
    out[k] = a[k] * b[k];
  }
}

template <class Real>
void addProduct(const Real* a, const Real* b, std::size_t width, Real* to) {
#pragma omp simd
  for (std::size_t k = 0; k < width; ++k) {
    to[k] += a[k] * b[k];
  }
}

std::size_t endOf(const PairIndex& pairs, std::size_t pair, PairEnd end) {
  const Edge& edge = pairs.pairs()[pair];
  return index(end == PairEnd::kSource ? edge.src : edge.dst);
}

// All that one place of a node gives to its gradient.
template <class Real>
void addPlace(const PairProductInput<Real>& input, std::span<const Real* const> gradients,
              std::span<Real* const> to, PairEnd end, std::size_t pair) {
  const std::size_t width = input.width;
  const bool source = end == PairEnd::kSource;
  const std::size_t node = endOf(input.pairs, pair, end);
  const std::size_t other = endOf(input.pairs, pair, source ? PairEnd::kTarget : PairEnd::kSource);
  for (std::size_t view = 0; view < input.views.size(); ++view) {
    const auto [i, j] = input.views[view];
    Real* const out = to.empty() ? nullptr : to[source ? i : j];
    const Real* const factor = source ? input.targets[j] : input.sources[i];
    if (gradients[view] == nullptr || out == nullptr || factor == nullptr) {
      continue;
    }
    addProduct(gradients[view] + pair * width, factor + other * width, width, out + node * width);
  }
}

// On one core; rows are met in any order.
template <class Real>
double nanosecondsOf(const PairProductInput<Real>& input) {
  return 0.3 * static_cast<double>(input.pairs.size() * input.views.size() * input.width);
}

}  // namespace

template <class Real>
void pairProductsOnCpu(const PairProductInput<Real>& input, std::span<Real* const> out) {
  const std::size_t width = input.width;
  parallelFor(
      input.pairs.size(), kPairBlock,
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t p = begin; p < end; ++p) {
          const std::size_t u = endOf(input.pairs, p, PairEnd::kSource);
          const std::size_t v = endOf(input.pairs, p, PairEnd::kTarget);
          for (std::size_t view = 0; view < input.views.size(); ++view) {
            const Real* a = input.sources[input.views[view].source];
            const Real* b = input.targets[input.views[view].target];
            if (a == nullptr || b == nullptr) {
              std::fill_n(out[view] + p * width, width, Real{0});
            } else {
              multiplyInto(a + u * width, b + v * width, width, out[view] + p * width);
            }
          }
        }
      },
      nanosecondsOf(input));
}

template <class Real>
void pairProductsBackwardOnCpu(const PairProductInput<Real>& input,
                               std::span<const Real* const> gradients,
                               std::span<Real* const> to_sources,
                               std::span<Real* const> to_targets) {
  forEachNode(
      input.pairs,
      [&](std::size_t i) {
        for (const std::uint32_t place : input.pairs.places(i)) {
          if (place % 2 == 0) {
            addPlace(input, gradients, to_sources, PairEnd::kSource, place / 2);
          } else {
            addPlace(input, gradients, to_targets, PairEnd::kTarget, place / 2);
          }
        }
      },
      3 * nanosecondsOf(input));
}

template <class Real>
void gatherEndOnCpu(const PairIndex& pairs, PairEnd end, const Real* x, std::size_t width,
                    Real* out) {
  const bool both = end == PairEnd::kBoth;
  parallelFor(pairs.size(), kPairBlock, [&](std::size_t begin, std::size_t last) {
    for (std::size_t p = begin; p < last; ++p) {
      const auto copy = [&](PairEnd one, std::size_t row) {
        std::copy_n(x + endOf(pairs, p, one) * width, width, out + row * width);
      };
      if (both) {
        copy(PairEnd::kSource, 2 * p);
        copy(PairEnd::kTarget, 2 * p + 1);
      } else {
        copy(end, p);
      }
    }
  });
}

template <class Real>
void scatterEndOnCpu(const PairIndex& pairs, PairEnd end, const Real* rows, std::size_t width,
                     Real* out) {
  const bool both = end == PairEnd::kBoth;
  const std::uint32_t wanted = end == PairEnd::kSource ? 0 : 1;
  forEachNode(pairs, [&](std::size_t i) {
    Real* to = out + pairs.nodes()[i] * width;
    for (const std::uint32_t place : pairs.places(i)) {
      if (both || place % 2 == wanted) {
        const Real* from = rows + (both ? place : place / 2) * width;
#pragma omp simd
        for (std::size_t k = 0; k < width; ++k) {
          to[k] += from[k];
        }
      }
    }
  });
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define EDGEWISE_PAIRS(Real)                                                                      \
  template void pairProductsOnCpu<Real>(const PairProductInput<Real>&, std::span<Real* const>);   \
  template void pairProductsBackwardOnCpu<Real>(const PairProductInput<Real>&,                    \
                                                std::span<const Real* const>,                     \
                                                std::span<Real* const>, std::span<Real* const>);  \
  template void gatherEndOnCpu<Real>(const PairIndex&, PairEnd, const Real*, std::size_t, Real*); \
  template void scatterEndOnCpu<Real>(const PairIndex&, PairEnd, const Real*, std::size_t, Real*);
EDGEWISE_PAIRS(float)
EDGEWISE_PAIRS(double)
#undef EDGEWISE_PAIRS
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace edgewise::detail
