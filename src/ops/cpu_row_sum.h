// Sums of scaled rows: the inner loop of aggregation and of sparse products. Accumulates in
// registers, a strip of columns at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "ops/fetch_ahead.h"

namespace edgewise::detail {

// Calls add(strip) for every strip of columns; strip.add(row, scale) adds a scaled row of x and
// strip.store(scale) writes the total; strip.fetch(row) asks for a row that will be added soon.
// `body` must make the same calls whatever the strip.
template <class Real, std::size_t Width>
class RowStrip {
 public:
  RowStrip(const Real* x, std::size_t width, std::size_t first) : x_(x + first), width_(width) {}

  void add(std::size_t row, Real scale) {
    const Real* from = x_ + row * width_;
#pragma omp simd
    for (std::size_t k = 0; k < Width; ++k) {
      sum_[k] += scale * from[k];
    }
  }
  void fetch(std::size_t row) const { fetchRow(x_ + row * width_, Width); }
  void store(Real scale, Real* out) const {
#pragma omp simd
    for (std::size_t k = 0; k < Width; ++k) {
      out[k] = scale * sum_[k];
    }
  }

 private:
  std::array<Real, Width> sum_{};
  const Real* x_;
  std::size_t width_;
};

// For the columns that fill no strip.
template <class Real>
class RaggedStrip {
 public:
  static constexpr std::size_t kMost = 15;
  RaggedStrip(const Real* x, std::size_t width, std::size_t first)
      : x_(x + first), width_(width), count_(width - first) {}

  void add(std::size_t row, Real scale) {
    const Real* from = x_ + row * width_;
    for (std::size_t k = 0; k < count_; ++k) {
      sum_[k] += scale * from[k];
    }
  }
  void fetch(std::size_t row) const { fetchRow(x_ + row * width_, count_); }
  void store(Real scale, Real* out) const {
    for (std::size_t k = 0; k < count_; ++k) {
      out[k] = scale * sum_[k];
    }
  }

 private:
  std::array<Real, kMost> sum_{};
  const Real* x_;
  std::size_t width_;
  std::size_t count_;
};

// out [width] = total over the rows that body(strip) adds, times `scale`.
template <class Real, class Body>
void sumRow(const Real* x, std::size_t width, Real scale, Real* out, const Body& body) {
  std::size_t first = 0;
  const auto strips = [&]<std::size_t Width>() {
    for (; first + Width <= width; first += Width) {
      RowStrip<Real, Width> strip(x, width, first);
      body(strip);
      strip.store(scale, out + first);
    }
  };
  strips.template operator()<128>();
  strips.template operator()<64>();
  strips.template operator()<32>();
  strips.template operator()<16>();
  if (first < width) {
    RaggedStrip<Real> strip(x, width, first);
    body(strip);
    strip.store(scale, out + first);
  }
}

}  // namespace edgewise::detail
