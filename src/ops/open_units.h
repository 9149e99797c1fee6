// Which hidden units of an MLP let their input through, one bit each: all that the way back through
// a rectifier needs to know, at a thirty-second of the memory of the units themselves.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace edgewise::detail {

// Bits are laid so that a vector of units meets a vector of words: word j of a group has the units
// j, j + 16, j + 32 ... of 512, the first in its lowest bit.
class OpenUnits {
 public:
  static constexpr std::size_t kLanes = 16;
  static constexpr std::size_t kGroup = kLanes * 32;

  OpenUnits() = default;
  // `widths` of the hidden layers, in order.
  OpenUnits(std::size_t rows, std::span<const std::size_t> widths) {
    std::size_t total = 0;
    for (const std::size_t width : widths) {
      words_.push_back((width + kGroup - 1) / kGroup * kLanes);
      starts_.push_back(total);
      total += rows * words_.back();
    }
    bits_ = std::make_unique_for_overwrite<std::uint32_t[]>(total);
  }

  [[nodiscard]] bool empty() const { return bits_ == nullptr; }
  [[nodiscard]] std::uint32_t* row(std::size_t layer, std::size_t row) {
    return bits_.get() + starts_[layer] + row * words_[layer];
  }
  [[nodiscard]] const std::uint32_t* row(std::size_t layer, std::size_t row) const {
    return bits_.get() + starts_[layer] + row * words_[layer];
  }

 private:
  std::vector<std::size_t> words_;
  std::vector<std::size_t> starts_;
  // NOLINTNEXTLINE(modernize-avoid-c-arrays): every word is written before it is read
  std::unique_ptr<std::uint32_t[]> bits_;
};

// h = max(h + bias, 0).
template <class Real>
void rectifyRow(Real* h, const Real* bias, std::size_t width) {
#pragma omp simd
  for (std::size_t k = 0; k < width; ++k) {
    // In this order what is not a number stays so.
    h[k] = std::max(h[k] + bias[k], Real{0});
  }
}

// `open` gets 1 where h is positive. From the last units to the first, each run moving the others
// up a bit: compilers make plain vector instructions of that.
template <class Real>
void noteOpen(const Real* h, std::size_t width, std::uint32_t* open) {
  constexpr std::size_t kLanes = OpenUnits::kLanes;
  for (std::size_t begin = 0; begin < width; begin += OpenUnits::kGroup, open += kLanes) {
    std::array<std::uint32_t, kLanes> words{};
    std::size_t first = std::min(width, begin + OpenUnits::kGroup);
    for (; first % kLanes != 0; --first) {
      words[(first - 1) % kLanes] = h[first - 1] > 0 ? 1U : 0U;
    }
    while (first > begin) {
      first -= kLanes;
#pragma omp simd
      for (std::size_t k = 0; k < kLanes; ++k) {
        words[k] = 2 * words[k] + (h[first + k] > 0 ? 1U : 0U);
      }
    }
    std::ranges::copy(words, open);
  }
}

// Calls body(first, count, words, bit) for each run of units of a row that stand in the same bit of
// neighbouring words; all counts but the last are kLanes, known to the compiler.
template <class Body>
inline void forLanes(std::size_t width, const std::uint32_t* row, const Body& body) {
  constexpr std::size_t kLanes = OpenUnits::kLanes;
  const auto at = [&](std::size_t first, auto count) {
    body(first, count, row + first / OpenUnits::kGroup * kLanes,
         std::uint32_t{1} << first % OpenUnits::kGroup / kLanes);
  };
  const std::size_t whole = width / kLanes * kLanes;
  for (std::size_t first = 0; first < whole; first += kLanes) {
    at(first, std::integral_constant<std::size_t, kLanes>());
  }
  if (whole < width) {
    at(whole, width - whole);
  }
}

// to = value where a unit is open, else 0.
template <class Real>
void spreadOverOpen(Real value, const std::uint32_t* open, std::size_t width, Real* to) {
  forLanes(width, open,
           [=](std::size_t first, auto count, const std::uint32_t* words, std::uint32_t bit) {
#pragma omp simd
             for (std::size_t k = 0; k < count; ++k) {
               to[first + k] = (words[k] & bit) != 0 ? value : Real{0};
             }
           });
}

// row = 0 where a unit is not open.
template <class Real>
void closeRow(Real* row, const std::uint32_t* open, std::size_t width) {
  forLanes(width, open,
           [=](std::size_t first, auto count, const std::uint32_t* words, std::uint32_t bit) {
#pragma omp simd
             for (std::size_t k = 0; k < count; ++k) {
               const Real value = row[first + k];
               row[first + k] = (words[k] & bit) != 0 ? value : Real{0};
             }
           });
}

}  // namespace edgewise::detail
