#include "ops/cuda/kernels.h"

namespace edgewise::cuda {
namespace {

template <class Real, int Width>
struct ProductPack {
  Pairs pairs;
  Views views;
  Layers<Real> sources;
  Layers<Real> targets;
  std::size_t packs;
  PairMatrices<Real> out;

  EDGEWISE_FN void operator()(std::size_t i) const {
    const std::size_t column = i % packs;
    const std::size_t pair = i / packs % pairs.count;
    const std::size_t view = i / packs / pairs.count;
    const std::size_t width = packs * Width;
    if (out.data[view] == nullptr) {
      return;
    }
    const Real* source = sources.data[views.source[view]];
    const Real* target = targets.data[views.target[view]];
    Pack<Real, Width> product{};
    if (source != nullptr && target != nullptr) {
      const auto u = static_cast<std::size_t>(pairs.ends[2 * pair]);
      const auto v = static_cast<std::size_t>(pairs.ends[2 * pair + 1]);
      const Pack<Real, Width> a = packAt<Real, Width>(source + u * width, column);
      const Pack<Real, Width> b = packAt<Real, Width>(target + v * width, column);
      for (int k = 0; k < Width; ++k) {
        product[k] = a[k] * b[k];
      }
    }
    packAt<Real, Width>(out.data[view] + pair * width, column) = product;
  }
};

// The dot product of one view of a pair. Neighbouring threads look at the same pair, whose rows
// they fetch together.
template <class Real, int Width>
struct DotPacks {
  Pairs pairs;
  Views views;
  Layers<Real> sources;
  Layers<Real> targets;
  std::size_t packs;
  PairMatrices<Real> out;

  EDGEWISE_FN void operator()(std::size_t i) const {
    const auto count = static_cast<std::size_t>(views.count);
    const std::size_t pair = i / count;
    const std::size_t view = i % count;
    const std::size_t width = packs * Width;
    const Real* source = sources.data[views.source[view]];
    const Real* target = targets.data[views.target[view]];
    Pack<Real, Width> sums{};
    if (source != nullptr && target != nullptr) {
      source += static_cast<std::size_t>(pairs.ends[2 * pair]) * width;
      target += static_cast<std::size_t>(pairs.ends[2 * pair + 1]) * width;
      for (std::size_t column = 0; column < packs; ++column) {
        sums.addProduct(Real{1}, packAt<Real, Width>(source, column),
                        packAt<Real, Width>(target, column));
      }
    }
    Real sum = 0;
    for (int k = 0; k < Width; ++k) {
      sum += sums[k];
    }
    out.data[view][pair] = sum;
  }
};

// What one node's layer gets, over all pairs that it is an end of. `Gradient` says how that of a
// view and a pair is found.
template <class Real, int Width, class Gradient>
struct BackwardPack {
  Pairs pairs;
  Views views;
  Layers<Real> layers;
  std::size_t packs;
  Gradient gradient;
  LayerGradients<Real> to;

  EDGEWISE_FN void operator()(std::size_t i) const {
    const std::size_t column = i % packs;
    const std::size_t node = i / packs % pairs.nodes;
    const std::size_t layer = i / packs / pairs.nodes;
    const std::size_t width = packs * Width;
    if (to.data[layer] == nullptr) {
      return;
    }
    Pack<Real, Width> sum{};
    for (std::int32_t at = pairs.offsets[node]; at < pairs.offsets[node + 1]; ++at) {
      const auto place = static_cast<std::size_t>(pairs.places[at]);
      const std::size_t pair = place / 2;
      const bool is_target = place % 2 == 1;
      const auto other = static_cast<std::size_t>(pairs.ends[is_target ? place - 1 : place + 1]);
      for (int view = 0; view < views.count; ++view) {
        const std::uint8_t own = is_target ? views.target[view] : views.source[view];
        const std::uint8_t beside = is_target ? views.source[view] : views.target[view];
        if (own != layer || layers.data[beside] == nullptr) {
          continue;
        }
        gradient.add(view, pair, column,
                     packAt<Real, Width>(layers.data[beside] + other * width, column), sum);
      }
    }
    packAt<Real, Width>(to.data[layer] + node * width, column) = sum;
  }
};

// A matrix a view.
template <class Real, int Width>
struct GradientByView {
  PairMatrices<const Real> gradients;
  std::size_t width;

  EDGEWISE_FN void add(int view, std::size_t pair, std::size_t column,
                       const Pack<Real, Width>& other, Pack<Real, Width>& sum) const {
    if (gradients.data[view] != nullptr) {
      sum.addProduct(Real{1}, packAt<Real, Width>(gradients.data[view] + pair * width, column),
                     other);
    }
  }
};

// A number a view: that of its dot product.
template <class Real, int Width>
struct GradientByDot {
  PairMatrices<const Real> gradients;

  EDGEWISE_FN void add(int view, std::size_t pair, std::size_t, const Pack<Real, Width>& other,
                       Pack<Real, Width>& sum) const {
    if (gradients.data[view] == nullptr) {
      return;
    }
    // Of views that count for nothing the other end's row need not be read.
    const Real by = gradients.data[view][pair];
    if (by != Real{0}) {
      sum.add(by, other);
    }
  }
};

// One matrix, by the weights of the views.
template <class Real, int Width>
struct GradientByWeight {
  const Real* weights;
  const Real* gradient;
  std::size_t pairs;
  std::size_t width;

  EDGEWISE_FN void add(int view, std::size_t pair, std::size_t column,
                       const Pack<Real, Width>& other, Pack<Real, Width>& sum) const {
    const Real weight = weights[static_cast<std::size_t>(view) * pairs + pair];
    if (weight != Real{0}) {
      sum.addProduct(weight, packAt<Real, Width>(gradient + pair * width, column), other);
    }
  }
};

template <class Real, int Width>
struct MixPack {
  Pairs pairs;
  Views views;
  Layers<Real> layers;
  const Real* weights;
  std::size_t packs;
  Real* out;

  EDGEWISE_FN void operator()(std::size_t i) const {
    const std::size_t pair = i / packs;
    const std::size_t column = i % packs;
    const std::size_t width = packs * Width;
    const auto u = static_cast<std::size_t>(pairs.ends[2 * pair]);
    const auto v = static_cast<std::size_t>(pairs.ends[2 * pair + 1]);
    Pack<Real, Width> sum{};
    for (int view = 0; view < views.count; ++view) {
      const Real weight = weights[static_cast<std::size_t>(view) * pairs.count + pair];
      if (weight != Real{0}) {
        sum.addProduct(weight,
                       packAt<Real, Width>(layers.data[views.source[view]] + u * width, column),
                       packAt<Real, Width>(layers.data[views.target[view]] + v * width, column));
      }
    }
    packAt<Real, Width>(out + pair * width, column) = sum;
  }
};

// Terms of the product of a pair's gradient with one view of it; rows are view * pairs + pair.
template <class Real>
struct WeightTerm {
  Pairs pairs;
  Views views;
  Layers<Real> layers;
  std::size_t width;
  const Real* gradient;

  EDGEWISE_FN Real operator()(std::size_t row, std::size_t k) const {
    const std::size_t pair = row % pairs.count;
    const std::size_t view = row / pairs.count;
    const auto u = static_cast<std::size_t>(pairs.ends[2 * pair]);
    const auto v = static_cast<std::size_t>(pairs.ends[2 * pair + 1]);
    return gradient[pair * width + k] * layers.data[views.source[view]][u * width + k] *
           layers.data[views.target[view]][v * width + k];
  }
};

struct SameWidth {
  std::size_t width;
  EDGEWISE_FN std::size_t operator()(std::size_t) const { return width; }
};

template <class Real>
struct StoreSum {
  Real* out;
  EDGEWISE_FN void operator()(std::size_t row, Real sum) const { out[row] = sum; }
};

}  // namespace

template <class Real>
void pairProducts(Stream stream, const Pairs& pairs, const Views& views,
                  const Layers<Real>& sources, const Layers<Real>& targets, std::size_t width,
                  const PairMatrices<Real>& out) {
  byPack(
      width,
      [&]<int Width>() {
        const std::size_t packs = width / Width;
        forEach(stream, static_cast<std::size_t>(views.count) * pairs.count * packs,
                ProductPack<Real, Width>{pairs, views, sources, targets, packs, out});
      },
      sources.data, targets.data, out.data);
}

template <class Real>
void pairProductsBackward(Stream stream, const Pairs& pairs, const Views& views,
                          const Layers<Real>& layers, std::size_t width,
                          const PairMatrices<const Real>& gradients,
                          const LayerGradients<Real>& to) {
  byPack(
      width,
      [&]<int Width>() {
        const std::size_t packs = width / Width;
        using Gradient = GradientByView<Real, Width>;
        forEach(stream, static_cast<std::size_t>(layers.count) * pairs.nodes * packs,
                BackwardPack<Real, Width, Gradient>{pairs, views, layers, packs,
                                                    Gradient{gradients, width}, to});
      },
      layers.data, gradients.data, to.data);
}

template <class Real>
void pairDots(Stream stream, const Pairs& pairs, const Views& views, const Layers<Real>& sources,
              const Layers<Real>& targets, std::size_t width, const PairMatrices<Real>& out) {
  byPack(
      width,
      [&]<int Width>() {
        forEach(stream, static_cast<std::size_t>(views.count) * pairs.count,
                DotPacks<Real, Width>{pairs, views, sources, targets, width / Width, out});
      },
      sources.data, targets.data);
}

template <class Real>
void pairDotsBackward(Stream stream, const Pairs& pairs, const Views& views,
                      const Layers<Real>& layers, std::size_t width,
                      const PairMatrices<const Real>& gradients, const LayerGradients<Real>& to) {
  byPack(
      width,
      [&]<int Width>() {
        const std::size_t packs = width / Width;
        using Gradient = GradientByDot<Real, Width>;
        forEach(stream, static_cast<std::size_t>(layers.count) * pairs.nodes * packs,
                BackwardPack<Real, Width, Gradient>{pairs, views, layers, packs,
                                                    Gradient{gradients}, to});
      },
      layers.data, to.data);
}

template <class Real>
void mixedPairs(Stream stream, const Pairs& pairs, const Views& views, const Layers<Real>& layers,
                const Real* weights, std::size_t width, Real* out) {
  byPack(
      width,
      [&]<int Width>() {
        const std::size_t packs = width / Width;
        forEach(stream, pairs.count * packs,
                MixPack<Real, Width>{pairs, views, layers, weights, packs, out});
      },
      layers.data, out);
}

template <class Real>
void mixedPairsToWeights(Stream stream, const Pairs& pairs, const Views& views,
                         const Layers<Real>& layers, std::size_t width, const Real* gradient,
                         Real* to_weights) {
  sumRows<Real>(stream, static_cast<std::size_t>(views.count) * pairs.count, SameWidth{width},
                WeightTerm<Real>{pairs, views, layers, width, gradient},
                StoreSum<Real>{to_weights});
}

template <class Real>
void mixedPairsToLayers(Stream stream, const Pairs& pairs, const Views& views,
                        const Layers<Real>& layers, const Real* weights, std::size_t width,
                        const Real* gradient, const LayerGradients<Real>& to) {
  byPack(
      width,
      [&]<int Width>() {
        const std::size_t packs = width / Width;
        using Gradient = GradientByWeight<Real, Width>;
        forEach(
            stream, static_cast<std::size_t>(layers.count) * pairs.nodes * packs,
            BackwardPack<Real, Width, Gradient>{
                pairs, views, layers, packs, Gradient{weights, gradient, pairs.count, width}, to});
      },
      layers.data, gradient, to.data);
}

#define EDGEWISE_PAIRS(Real)                                                                       \
  template void pairProducts<Real>(Stream, const Pairs&, const Views&, const Layers<Real>&,        \
                                   const Layers<Real>&, std::size_t, const PairMatrices<Real>&);   \
  template void pairProductsBackward<Real>(                                                        \
      Stream, const Pairs&, const Views&, const Layers<Real>&, std::size_t,                        \
      const PairMatrices<const Real>&, const LayerGradients<Real>&);                               \
  template void pairDots<Real>(Stream, const Pairs&, const Views&, const Layers<Real>&,            \
                               const Layers<Real>&, std::size_t, const PairMatrices<Real>&);       \
  template void pairDotsBackward<Real>(Stream, const Pairs&, const Views&, const Layers<Real>&,    \
                                       std::size_t, const PairMatrices<const Real>&,               \
                                       const LayerGradients<Real>&);                               \
  template void mixedPairs<Real>(Stream, const Pairs&, const Views&, const Layers<Real>&,          \
                                 const Real*, std::size_t, Real*);                                 \
  template void mixedPairsToWeights<Real>(Stream, const Pairs&, const Views&, const Layers<Real>&, \
                                          std::size_t, const Real*, Real*);                        \
  template void mixedPairsToLayers<Real>(Stream, const Pairs&, const Views&, const Layers<Real>&,  \
                                         const Real*, std::size_t, const Real*,                    \
                                         const LayerGradients<Real>&);
EDGEWISE_PAIRS(float)
EDGEWISE_PAIRS(double)
#undef EDGEWISE_PAIRS

}  // namespace edgewise::cuda
