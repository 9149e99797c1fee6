// One block of pairs on its way through the selector's MLP; see cpu_view_scores.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "ops/cpu_gemm.h"
#include "ops/cpu_view_scores.h"

namespace edgewise::detail {

// What a block may take of a core's own cache.
inline constexpr std::size_t kScoreBlockBytes = std::size_t{384} * 1024;

// Pairs [begin, begin + count) with all their views; row v * count + p is view v of pair begin + p.
struct PairBlock {
  std::size_t begin = 0;
  std::size_t count = 0;
};

// For a matrix with a row for each of a block.
template <class Real>
using BlockBuffer = std::unique_ptr<Real[]>;  // NOLINT(modernize-avoid-c-arrays): uninitialised

template <class Real>
class ViewScorer {
 public:
  explicit ViewScorer(const ViewScoreInput<Real>& input)
      : input_(input),
        mlp_(input.mlp),
        zeros_(*std::ranges::max_element(mlp_.widths)),
        pairs_per_block_(pairsPerBlock(input)) {}

  [[nodiscard]] std::size_t pairsPerBlock() const { return pairs_per_block_; }
  [[nodiscard]] std::size_t width(std::size_t layer) const { return mlp_.widths[layer]; }
  [[nodiscard]] std::size_t rowsOf(PairBlock block) const {
    return block.count * input_.views.size();
  }
  [[nodiscard]] std::size_t firstRow(PairBlock block) const {
    return block.begin * input_.views.size();
  }
  [[nodiscard]] BlockBuffer<Real> bufferFor(std::size_t columns) const {
    return std::make_unique_for_overwrite<Real[]>(pairs_per_block_ * input_.views.size() * columns);
  }
  // Room for the inputs of the MLP's first layers.
  [[nodiscard]] std::vector<BlockBuffer<Real>> inputBuffers(std::size_t layers) const {
    std::vector<BlockBuffer<Real>> buffers;
    buffers.reserve(layers);
    for (std::size_t l = 0; l < layers; ++l) {
      buffers.push_back(bufferFor(width(l)));
    }
    return buffers;
  }
  // Of one pass through the MLP, on one core.
  [[nodiscard]] double nanoseconds() const {
    constexpr double kProductsPerNanosecond = 20;
    double products = 0;
    for (std::size_t l = 0; l < mlp_.depth(); ++l) {
      products += static_cast<double>(width(l) * width(l + 1));
    }
    return products * static_cast<double>(input_.pairs.size() * input_.views.size()) /
           kProductsPerNanosecond;
  }

  // Fills the inputs of the MLP's first layers; notes open units where `open` has room for them.
  void climb(PairBlock block, std::span<const BlockBuffer<Real>> inputs, OpenUnits& open) const {
    if (!inputs.empty()) {
      representations(block, inputs[0].get());
    }
    for (std::size_t l = 0; l + 1 < inputs.size(); ++l) {
      hiddenLayer(block, l, inputs[l].get(), open, inputs[l + 1].get());
    }
  }

  // out [views, pairs] from what the last layer reads.
  void scores(PairBlock block, const Real* in, Real* out) const {
    const std::size_t last = mlp_.depth() - 1;
    const std::size_t columns = width(last);
    const Real* weight = mlp_.weights[last];
    for (std::size_t row = 0; row < rowsOf(block); ++row, in += columns) {
      Real sum = 0;
#pragma omp simd reduction(+ : sum)
      for (std::size_t k = 0; k < columns; ++k) {
        sum += in[k] * weight[k];
      }
      out[placeOf(block, row)] = sum + biasOf(last)[0];
    }
  }

  // Where a row of a block stands in a matrix [views, pairs].
  [[nodiscard]] std::size_t placeOf(PairBlock block, std::size_t row) const {
    return row / block.count * input_.pairs.size() + block.begin + row % block.count;
  }
  [[nodiscard]] const Real* biasOf(std::size_t layer) const {
    return mlp_.biases[layer] != nullptr ? mlp_.biases[layer] : zeros_.data();
  }

 private:
  static std::size_t pairsPerBlock(const ViewScoreInput<Real>& input) {
    const auto& widths = input.mlp.widths;
    const std::size_t columns = std::accumulate(widths.begin(), widths.end(), std::size_t{0});
    const std::size_t bytes = input.views.size() * columns * sizeof(Real);
    const std::size_t most = std::max<std::size_t>(1, input.pairs.size());
    return std::clamp<std::size_t>(kScoreBlockBytes / bytes, 1, most);
  }

  void representations(PairBlock block, Real* z) const {
    const std::size_t columns = width(0);
    for (const auto& [i, j] : input_.views) {
      for (std::size_t p = block.begin; p < block.begin + block.count; ++p, z += columns) {
        const Edge pair = input_.pairs.pairs()[p];
        const Real* a = input_.layers[i] + index(pair.src) * columns;
        const Real* b = input_.layers[j] + index(pair.dst) * columns;
#pragma omp simd
        for (std::size_t k = 0; k < columns; ++k) {
          z[k] = a[k] * b[k];
        }
      }
    }
  }

  // out = the rectified layer on top of `in`; notes its open units where `open` has room for them.
  void hiddenLayer(PairBlock block, std::size_t layer, const Real* in, OpenUnits& open,
                   Real* out) const {
    multiplyBlock(block, layer, in, out);
    const std::size_t columns = width(layer + 1);
    const Real* bias = biasOf(layer);
    for (std::size_t row = 0; row < rowsOf(block); ++row) {
      Real* const units = out + row * columns;
      rectifyRow(units, bias, columns);
      if (!open.empty()) {
        noteOpen(units, columns, open.row(layer, firstRow(block) + row));
      }
    }
  }

  void multiplyBlock(PairBlock block, std::size_t layer, const Real* in, Real* out) const {
    multiplyRows<Real>({in, rowsOf(block), width(layer)},
                       {mlp_.weights[layer], width(layer), width(layer + 1)}, 0, rowsOf(block), out,
                       false);
  }

  const ViewScoreInput<Real>& input_;
  const ScoringMlp<Real>& mlp_;
  std::vector<Real> zeros_;
  std::size_t pairs_per_block_;
};

}  // namespace edgewise::detail
