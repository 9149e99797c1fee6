#include "ops/cpu_pairs.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

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

template <class Real>
Real dot(const Real* a, const Real* b, std::size_t width) {
  Real sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t k = 0; k < width; ++k) {
    sum += a[k] * b[k];
  }
  return sum;
}

template <class Real>
void addScaled(const Real* a, Real scale, std::size_t width, Real* to) {
#pragma omp simd
  for (std::size_t k = 0; k < width; ++k) {
    to[k] += scale * a[k];
  }
}

std::size_t endOf(const PairIndex& pairs, std::size_t pair, PairEnd end) {
  const Edge& edge = pairs.pairs()[pair];
  return index(end == PairEnd::kSource ? edge.src : edge.dst);
}

// All that one place of a node gives to its gradient: add(view, other end's row, node's sum) for
// every view that has both.
template <class Real, class Add>
void addPlace(const PairProductInput<Real>& input, std::span<Real* const> to, PairEnd end,
              std::size_t pair, const Add& add) {
  const std::size_t width = input.width;
  const bool source = end == PairEnd::kSource;
  const std::size_t node = endOf(input.pairs, pair, end);
  const std::size_t other = endOf(input.pairs, pair, source ? PairEnd::kTarget : PairEnd::kSource);
  for (std::size_t view = 0; view < input.views.size(); ++view) {
    const auto [i, j] = input.views[view];
    Real* const out = to.empty() ? nullptr : to[source ? i : j];
    const Real* const factor = source ? input.targets[j] : input.sources[i];
    if (out != nullptr && factor != nullptr) {
      add(view, factor + other * width, out + node * width);
    }
  }
}

// On one core; rows are met in any order.
template <class Real>
double nanosecondsOf(const PairProductInput<Real>& input) {
  return 0.3 * static_cast<double>(input.pairs.size() * input.views.size() * input.width);
}

// addPlace for every place of every node: add(pair, view, row, sum).
template <class Real, class Add>
void addPlaces(const PairProductInput<Real>& input, std::span<Real* const> to_sources,
               std::span<Real* const> to_targets, const Add& add) {
  forEachNode(
      input.pairs,
      [&](std::size_t i) {
        for (const std::uint32_t place : input.pairs.places(i)) {
          const bool source = place % 2 == 0;
          const std::size_t pair = place / 2;
          addPlace(
              input, source ? to_sources : to_targets, source ? PairEnd::kSource : PairEnd::kTarget,
              pair,
              [&](std::size_t view, const Real* row, Real* sum) { add(pair, view, row, sum); });
        }
      },
      3 * nanosecondsOf(input));
}

// Calls body.operator()<K>() where the views are all those of K = 2 to 4 layers, in order, and
// nothing of them is left out of layers and `views`; else <0>.
template <class Real, class Pointer, class Body>
void dispatchDepth(const PairProductInput<Real>& input, std::span<Pointer const> views,
                   const Body& body) {
  const std::size_t depth = input.sources.size();
  bool all = input.views.size() == depth * depth && views.size() == depth * depth;
  for (std::size_t view = 0; all && view < views.size(); ++view) {
    all = input.views[view] == LayerPair{static_cast<std::uint32_t>(view / depth),
                                         static_cast<std::uint32_t>(view % depth)} &&
          views[view] != nullptr;
  }
  for (std::size_t i = 0; all && i < depth; ++i) {
    all = input.sources[i] != nullptr && input.targets[i] != nullptr;
  }
  if (all && depth == 4) {
    body.template operator()<4>();
  } else if (all && depth == 3) {
    body.template operator()<3>();
  } else if (all && depth == 2) {
    body.template operator()<2>();
  } else {
    body.template operator()<0>();
  }
}

template <class Real>
void dotEach(const PairProductInput<Real>& input, std::size_t p, std::span<Real* const> out) {
  const std::size_t width = input.width;
  const std::size_t u = endOf(input.pairs, p, PairEnd::kSource);
  const std::size_t v = endOf(input.pairs, p, PairEnd::kTarget);
  for (std::size_t view = 0; view < input.views.size(); ++view) {
    const Real* a = input.sources[input.views[view].source];
    const Real* b = input.targets[input.views[view].target];
    out[view][p] =
        a == nullptr || b == nullptr ? Real{0} : dot(a + u * width, b + v * width, width);
  }
}

// Columns that are summed in registers: for dot products, and for gradients, whose rows lie far
// apart in memory.
constexpr std::size_t kStrip = 16;
constexpr std::size_t kWideStrip = 64;

// All views of a pair; a source's row is read once for all targets.
template <class Real, std::size_t Depth>
void dotAll(const PairProductInput<Real>& input, std::size_t p, std::span<Real* const> out) {
  const std::size_t width = input.width;
  const std::size_t u = endOf(input.pairs, p, PairEnd::kSource) * width;
  const std::size_t v = endOf(input.pairs, p, PairEnd::kTarget) * width;
  for (std::size_t i = 0; i < Depth; ++i) {
    const Real* const a = input.sources[i] + u;
    std::array<std::array<Real, kStrip>, Depth> sums{};
    std::size_t k = 0;
    for (; k + kStrip <= width; k += kStrip) {
      for (std::size_t j = 0; j < Depth; ++j) {
        const Real* const b = input.targets[j] + v;
#pragma omp simd
        for (std::size_t c = 0; c < kStrip; ++c) {
          sums[j][c] += a[k + c] * b[k + c];
        }
      }
    }
    for (std::size_t j = 0; j < Depth; ++j) {
      const Real* const b = input.targets[j] + v;
      Real sum = 0;
      for (const Real part : sums[j]) {
        sum += part;
      }
      for (std::size_t rest = k; rest < width; ++rest) {
        sum += a[rest] * b[rest];
      }
      out[i * Depth + j][p] = sum;
    }
  }
}

// [pairs, views] of one array [pairs] a view.
template <class Real>
std::vector<Real> sideBySide(std::span<const Real* const> views, std::size_t pairs) {
  std::vector<Real> all(pairs * views.size());
  parallelFor(
      pairs, kPairBlock,
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t p = begin; p < end; ++p) {
          for (std::size_t view = 0; view < views.size(); ++view) {
            all[p * views.size() + view] = views[view][p];
          }
        }
      },
      static_cast<double>(pairs * views.size()));
  return all;
}

// What all places of the i-th node give to its gradients, of all views: `Width` columns from
// `first`.
template <class Real, std::size_t Depth, std::size_t Width>
void addColumns(const PairProductInput<Real>& input, std::span<const Real> by_pair,
                std::span<Real* const> to, std::size_t i, std::size_t first) {
  std::array<std::array<Real, Width>, Depth> sums{};
  for (const std::uint32_t place : input.pairs.places(i)) {
    const bool source = place % 2 == 0;
    const std::size_t pair = place / 2;
    const std::size_t other =
        endOf(input.pairs, pair, source ? PairEnd::kTarget : PairEnd::kSource);
    const Real* const scale = by_pair.data() + pair * Depth * Depth;
    // A source's layer runs slowest among the views.
    const std::size_t mine = source ? Depth : 1;
    const std::size_t others = source ? 1 : Depth;
    for (std::size_t far = 0; far < Depth; ++far) {
      const Real* const row =
          (source ? input.targets[far] : input.sources[far]) + other * input.width + first;
      for (std::size_t near = 0; near < Depth; ++near) {
        const Real by = scale[near * mine + far * others];
#pragma omp simd
        for (std::size_t c = 0; c < Width; ++c) {
          sums[near][c] += by * row[c];
        }
      }
    }
  }
  for (std::size_t near = 0; near < Depth; ++near) {
    if (to[near] != nullptr) {
      Real* const out = to[near] + input.pairs.nodes()[i] * input.width + first;
      for (std::size_t c = 0; c < Width; ++c) {
        out[c] += sums[near][c];
      }
    }
  }
}

template <class Real, std::size_t Depth>
void addNode(const PairProductInput<Real>& input, std::span<const Real> by_pair,
             std::span<Real* const> to, std::size_t i) {
  std::size_t first = 0;
  for (; first + kWideStrip <= input.width; first += kWideStrip) {
    addColumns<Real, Depth, kWideStrip>(input, by_pair, to, i, first);
  }
  for (; first + kStrip <= input.width; first += kStrip) {
    addColumns<Real, Depth, kStrip>(input, by_pair, to, i, first);
  }
  for (; first < input.width; ++first) {
    addColumns<Real, Depth, 1>(input, by_pair, to, i, first);
  }
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
  const std::size_t width = input.width;
  addPlaces(input, to_sources, to_targets,
            [&](std::size_t pair, std::size_t view, const Real* factor, Real* to) {
              if (gradients[view] != nullptr) {
                addProduct(gradients[view] + pair * width, factor, width, to);
              }
            });
}

template <class Real>
void pairDotsOnCpu(const PairProductInput<Real>& input, std::span<Real* const> out) {
  dispatchDepth(input, out, [&]<std::size_t Depth>() {
    parallelFor(
        input.pairs.size(), kPairBlock,
        [&](std::size_t begin, std::size_t end) {
          for (std::size_t p = begin; p < end; ++p) {
            if constexpr (Depth > 0) {
              dotAll<Real, Depth>(input, p, out);
            } else {
              dotEach(input, p, out);
            }
          }
        },
        nanosecondsOf(input));
  });
}

template <class Real>
void pairDotsBackwardOnCpu(const PairProductInput<Real>& input,
                           std::span<const Real* const> gradients,
                           std::span<Real* const> to_sources, std::span<Real* const> to_targets) {
  const bool same = std::ranges::equal(to_sources, to_targets);
  const auto all = same ? gradients : std::span<const Real* const>();
  dispatchDepth(input, all, [&]<std::size_t Depth>() {
    if constexpr (Depth > 0) {
      const std::vector<Real> by_pair = sideBySide(gradients, input.pairs.size());
      forEachNode(
          input.pairs, [&](std::size_t i) { addNode<Real, Depth>(input, by_pair, to_sources, i); },
          3 * nanosecondsOf(input));
    } else {
      addPlaces(input, to_sources, to_targets,
                [&](std::size_t pair, std::size_t view, const Real* factor, Real* to) {
                  if (gradients[view] != nullptr) {
                    addScaled(factor, gradients[view][pair], input.width, to);
                  }
                });
    }
  });
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
        addScaled(rows + (both ? place : place / 2) * width, Real{1}, width, to);
      }
    }
  });
}

template <class Real>
void sumPlacesOnCpu(const PairIndex& pairs, const Real* rows, std::size_t width, Real* out) {
  forEachNode(pairs, [&](std::size_t i) {
    Real* to = out + i * width;
    std::fill_n(to, width, Real{0});
    for (const std::uint32_t place : pairs.places(i)) {
      addScaled(rows + place * width, Real{1}, width, to);
    }
  });
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define EDGEWISE_PAIRS(Real)                                                                       \
  template void pairProductsOnCpu<Real>(const PairProductInput<Real>&, std::span<Real* const>);    \
  template void pairProductsBackwardOnCpu<Real>(const PairProductInput<Real>&,                     \
                                                std::span<const Real* const>,                      \
                                                std::span<Real* const>, std::span<Real* const>);   \
  template void pairDotsOnCpu<Real>(const PairProductInput<Real>&, std::span<Real* const>);        \
  template void pairDotsBackwardOnCpu<Real>(const PairProductInput<Real>&,                         \
                                            std::span<const Real* const>, std::span<Real* const>,  \
                                            std::span<Real* const>);                               \
  template void gatherEndOnCpu<Real>(const PairIndex&, PairEnd, const Real*, std::size_t, Real*);  \
  template void scatterEndOnCpu<Real>(const PairIndex&, PairEnd, const Real*, std::size_t, Real*); \
  template void sumPlacesOnCpu<Real>(const PairIndex&, const Real*, std::size_t, Real*);
EDGEWISE_PAIRS(float)
EDGEWISE_PAIRS(double)
#undef EDGEWISE_PAIRS
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace edgewise::detail
