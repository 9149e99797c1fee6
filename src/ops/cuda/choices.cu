#include <cmath>

#include "ops/cuda/kernels.h"

namespace edgewise::cuda {
namespace {

template <class Real>
struct SoftmaxColumn {
  const Real* scores;
  std::size_t views;
  std::size_t pairs;
  Real temperature;
  Real* out;

  EDGEWISE_FN void operator()(std::size_t pair) const {
    Real most = scores[pair];
    for (std::size_t view = 1; view < views; ++view) {
      const Real score = scores[view * pairs + pair];
      most = score > most ? score : most;
    }
    Real total = 0;
    for (std::size_t view = 0; view < views; ++view) {
      const Real share = exp((scores[view * pairs + pair] - most) / temperature);
      out[view * pairs + pair] = share;
      total += share;
    }
    for (std::size_t view = 0; view < views; ++view) {
      out[view * pairs + pair] /= total;
    }
  }
};

// The order of ViewSelector::choose: by score, of equals the earlier view, mirrored where the pair
// stands the other way round.
template <class Real>
struct ChooseTop {
  TopChoice choice;
  const std::int32_t* ends;
  const Real* scores;
  std::size_t pairs;
  Real* shares;

  EDGEWISE_FN int orderOf(int view, bool mirrored) const {
    return mirrored ? view % choice.depth * choice.depth + view / choice.depth : view;
  }

  EDGEWISE_FN void operator()(std::size_t pair) const {
    const int views = choice.depth * choice.depth;
    const bool mirrored = choice.symmetric && ends[2 * pair + 1] < ends[2 * pair];
    bool taken[kMostViews] = {};
    double weights[kMostViews];
    int chosen[kMostViews];
    double first = 0;
    double used = 0;
    for (int rank = 0; rank < choice.top; ++rank) {
      int best = -1;
      for (int view = 0; view < views; ++view) {
        if (taken[view]) {
          continue;
        }
        const Real score = scores[static_cast<std::size_t>(view) * pairs + pair];
        const Real to_beat =
            best < 0 ? score : scores[static_cast<std::size_t>(best) * pairs + pair];
        if (best < 0 || score > to_beat ||
            (score == to_beat && orderOf(view, mirrored) < orderOf(best, mirrored))) {
          best = view;
        }
      }
      taken[best] = true;
      chosen[rank] = best;
      const auto score = static_cast<double>(scores[static_cast<std::size_t>(best) * pairs + pair]);
      first = rank == 0 ? score : first;
      weights[rank] = exp((score - first) / choice.temperature);
      used += weights[rank];
    }
    for (int view = 0; view < views; ++view) {
      shares[static_cast<std::size_t>(view) * pairs + pair] = Real{0};
    }
    for (int rank = 0; rank < choice.top; ++rank) {
      shares[static_cast<std::size_t>(chosen[rank]) * pairs + pair] =
          static_cast<Real>(weights[rank] / used);
    }
  }
};

template <class Real>
struct TakeKnown {
  const std::int32_t* rows;
  int views;
  int top;
  const std::uint8_t* places;
  const float* weights;
  std::size_t pairs;
  Real* shares;

  EDGEWISE_FN void operator()(std::size_t pair) const {
    for (int view = 0; view < views; ++view) {
      shares[static_cast<std::size_t>(view) * pairs + pair] = Real{0};
    }
    const std::size_t from = static_cast<std::size_t>(rows[pair]) * static_cast<std::size_t>(top);
    for (int rank = 0; rank < top; ++rank) {
      shares[places[from + static_cast<std::size_t>(rank)] * pairs + pair] =
          static_cast<Real>(weights[from + static_cast<std::size_t>(rank)]);
    }
  }
};

template <class Real>
struct ChooseRandom {
  RandomKey key;
  int depth;
  bool symmetric;
  const std::int32_t* ends;
  std::size_t pairs;
  Real* shares;

  EDGEWISE_FN void operator()(std::size_t i) const {
    auto source = static_cast<std::uint64_t>(ends[2 * i]);
    auto target = static_cast<std::uint64_t>(ends[2 * i + 1]);
    const bool turned = symmetric && target < source;
    if (turned) {
      const std::uint64_t kept = source;
      source = target;
      target = kept;
    }
    const int views = depth * depth;
    int view = static_cast<int>(
        randomBelow(key, (source << 32) | target, static_cast<std::uint64_t>(views), 0));
    if (turned) {
      view = view % depth * depth + view / depth;
    }
    for (int other = 0; other < views; ++other) {
      shares[static_cast<std::size_t>(other) * pairs + i] = other == view ? Real{1} : Real{0};
    }
  }
};

}  // namespace

template <class Real>
void viewSoftmax(Stream stream, const Real* scores, std::size_t views, std::size_t pairs,
                 Real temperature, Real* out) {
  forEach(stream, pairs, SoftmaxColumn<Real>{scores, views, pairs, temperature, out});
}

template <class Real>
void topShares(Stream stream, const TopChoice& choice, const std::int32_t* ends, const Real* scores,
               std::size_t pairs, Real* shares) {
  forEach(stream, pairs, ChooseTop<Real>{choice, ends, scores, pairs, shares}, 128);
}

template <class Real>
void knownShares(Stream stream, const std::int32_t* rows, std::size_t count, int views, int top,
                 const std::uint8_t* places, const float* weights, std::size_t pairs,
                 Real* shares) {
  forEach(stream, count, TakeKnown<Real>{rows, views, top, places, weights, pairs, shares});
}

template <class Real>
void randomShares(Stream stream, RandomKey key, int depth, bool symmetric, const std::int32_t* ends,
                  std::size_t pairs, Real* shares) {
  forEach(stream, pairs, ChooseRandom<Real>{key, depth, symmetric, ends, pairs, shares});
}

#define EDGEWISE_CHOICES(Real)                                                                     \
  template void viewSoftmax<Real>(Stream, const Real*, std::size_t, std::size_t, Real, Real*);     \
  template void topShares<Real>(Stream, const TopChoice&, const std::int32_t*, const Real*,        \
                                std::size_t, Real*);                                               \
  template void knownShares<Real>(Stream, const std::int32_t*, std::size_t, int, int,              \
                                  const std::uint8_t*, const float*, std::size_t, Real*);          \
  template void randomShares<Real>(Stream, RandomKey, int, bool, const std::int32_t*, std::size_t, \
                                   Real*);
EDGEWISE_CHOICES(float)
EDGEWISE_CHOICES(double)
#undef EDGEWISE_CHOICES

}  // namespace edgewise::cuda
