#include "edgewise/util/parallel.h"
#include "edgewise/util/scratch_pool.h"
#include "ops/cpu_row_sum.h"
#include "ops/cpu_view_scores.h"
#include "ops/pair_nodes.h"
#include "ops/view_scorer.h"

namespace edgewise::detail {
namespace {

// The weights' gradients are summed in at most this many pieces, which are added up in order.
constexpr std::size_t kMaxPieces = 16;

// The gradients of all layers but a folded one, one after another: weight, then bias.
template <class Real>
class FlatGradients {
 public:
  FlatGradients(std::span<const std::size_t> widths, std::size_t layers) {
    for (std::size_t l = 0; l < layers; ++l) {
      starts_.push_back(size_);
      size_ += (widths[l] + 1) * widths[l + 1];
      biases_.push_back(size_ - widths[l + 1]);
    }
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t weight(std::size_t layer) const { return starts_[layer]; }
  [[nodiscard]] std::size_t bias(std::size_t layer) const { return biases_[layer]; }

 private:
  std::vector<std::size_t> starts_;
  std::vector<std::size_t> biases_;
  std::size_t size_ = 0;
};

// The way back. With h the last hidden layer, m its open units, w the last weights and g the
// gradient of a score, the gradient of that layer is g m w. It is carried as g m alone, and w goes
// into the weights below it once for all: then the gradient of w, too, follows from sums over rows
// of g m, and h itself is not computed again.
template <class Real>
class BackwardPass {
 public:
  BackwardPass(const ViewScoreInput<Real>& input, const OpenUnits& open, const Real* gradient,
               const ViewScoreGradients<Real>& to)
      : input_(input),
        mlp_(input.mlp),
        scorer_(input),
        open_(open),
        gradient_(gradient),
        to_(to),
        folds_(mlp_.depth() > 1),
        top_(mlp_.depth() - (folds_ ? 2 : 1)),
        flat_(mlp_.widths, top_ + 1) {
    if (folds_) {
      folded_.assign(mlp_.weights[top_], mlp_.weights[top_] + width(top_) * width(top_ + 1));
      scaleColumns(mlp_.weights[top_ + 1], width(top_), folded_.data());
    }
  }

  void run() {
    const std::size_t block = scorer_.pairsPerBlock();
    const std::size_t blocks = (input_.pairs.size() + block - 1) / block;
    const std::size_t piece = block * ((blocks + kMaxPieces - 1) / kMaxPieces);
    const std::size_t pieces = piece == 0 ? 0 : (input_.pairs.size() + piece - 1) / piece;
    partial_.resize(wantsMlp() ? pieces * flat_.size() : 0);
    ends_ = wantsLayers() ? std::make_unique_for_overwrite<Real[]>(2 * input_.pairs.size() *
                                                                   input_.layers.size() * width(0))
                          : nullptr;
    ScratchPool<Scratch> pool([&] { return Scratch(*this); });
    parallelFor(
        input_.pairs.size(), std::max<std::size_t>(piece, 1),
        [&](std::size_t begin, std::size_t end) {
          const auto scratch = pool.borrow();
          for (std::size_t first = begin; first < end; first += block) {
            runBlock({first, std::min(block, end - first)}, *scratch,
                     wantsMlp() ? partial_.data() + begin / piece * flat_.size() : nullptr,
                     first == begin);
          }
        },
        2 * scorer_.nanoseconds());
    if (wantsMlp()) {
      finishMlp(pieces);
    }
    if (wantsLayers()) {
      sumEnds();
    }
  }

 private:
  struct Scratch {
    // Of the layers whose weights' gradients are wanted.
    std::vector<BlockBuffer<Real>> inputs;
    // The gradient of the layer at hand and of the one below it.
    BlockBuffer<Real> slope;
    BlockBuffer<Real> below;

    explicit Scratch(const BackwardPass& pass)
        : inputs(pass.scorer_.inputBuffers(pass.wantsMlp() ? pass.top_ + 1 : 0)),
          slope(pass.scorer_.bufferFor(pass.widest())),
          below(pass.scorer_.bufferFor(pass.widest())) {}
  };

  [[nodiscard]] bool wantsMlp() const { return !to_.weights.empty(); }
  [[nodiscard]] bool wantsLayers() const { return !to_.layers.empty(); }
  [[nodiscard]] std::size_t width(std::size_t layer) const { return mlp_.widths[layer]; }
  [[nodiscard]] std::size_t widest() const { return *std::ranges::max_element(mlp_.widths); }

  // Each column of a matrix with this many rows times its entry of `scales`.
  void scaleColumns(const Real* scales, std::size_t rows, Real* matrix) const {
    const std::size_t columns = width(top_ + 1);
    for (std::size_t i = 0; i < rows; ++i, matrix += columns) {
#pragma omp simd
      for (std::size_t k = 0; k < columns; ++k) {
        matrix[k] *= scales[k];
      }
    }
  }

  void runBlock(PairBlock block, Scratch& scratch, Real* partial, bool first) const {
    OpenUnits known_already;
    scorer_.climb(block, scratch.inputs, known_already);
    startSlope(block, scratch.slope.get());
    for (std::size_t l = top_ + 1; l-- > 0;) {
      if (wantsMlp()) {
        addMlp(block, l, scratch, partial, first);
      }
      if (l > 0 || wantsLayers()) {
        descend(block, l, scratch);
      }
    }
    if (wantsLayers()) {
      writeEnds(block, scratch.slope.get());
    }
  }

  // The gradient at the top: of the last hidden layer without the last weights, or of the scores.
  void startSlope(PairBlock block, Real* slope) const {
    for (std::size_t row = 0; row < scorer_.rowsOf(block); ++row) {
      const Real value = gradient_[scorer_.placeOf(block, row)];
      if (folds_) {
        const std::size_t columns = width(top_ + 1);
        spreadOverOpen(value, open_.row(top_, scorer_.firstRow(block) + row), columns,
                       slope + row * columns);
      } else {
        slope[row] = value;
      }
    }
  }

  // What a block gives to the gradients of one layer.
  void addMlp(PairBlock block, std::size_t layer, const Scratch& scratch, Real* partial,
              bool first) const {
    const std::size_t rows = scorer_.rowsOf(block);
    const std::size_t columns = width(layer + 1);
    multiplyRows<Real>({scratch.inputs[layer].get(), rows, width(layer), true},
                       {scratch.slope.get(), rows, columns}, 0, width(layer),
                       partial + flat_.weight(layer), !first);
    Real* bias = partial + flat_.bias(layer);
    for (std::size_t row = 0; row < rows; ++row) {
      const Real* slope = scratch.slope.get() + row * columns;
#pragma omp simd
      for (std::size_t k = 0; k < columns; ++k) {
        bias[k] += slope[k];
      }
    }
  }

  // From the gradient of a layer's output to that of its input.
  void descend(PairBlock block, std::size_t layer, Scratch& scratch) const {
    const std::size_t rows = scorer_.rowsOf(block);
    const Real* weight = folds_ && layer == top_ ? folded_.data() : mlp_.weights[layer];
    multiplyRows<Real>({scratch.slope.get(), rows, width(layer + 1)},
                       {weight, width(layer), width(layer + 1), true}, 0, rows, scratch.below.get(),
                       false);
    for (std::size_t row = 0; layer > 0 && row < rows; ++row) {
      closeRow(scratch.below.get() + row * width(layer),
               open_.row(layer - 1, scorer_.firstRow(block) + row), width(layer));
    }
    std::swap(scratch.slope, scratch.below);
  }

  // One row a place (an end of a pair) and layer: what all views of the pair give to it.
  [[nodiscard]] std::size_t endRow(std::size_t place, std::size_t layer) const {
    return place * input_.layers.size() + layer;
  }

  void writeEnds(PairBlock block, const Real* slope) const {
    const std::size_t columns = width(0);
    Real* ends = ends_.get();
    std::fill(ends + endRow(2 * block.begin, 0) * columns,
              ends + endRow(2 * (block.begin + block.count), 0) * columns, Real{0});
    for (const auto& [i, j] : input_.views) {
      for (std::size_t p = block.begin; p < block.begin + block.count; ++p, slope += columns) {
        const Edge pair = input_.pairs.pairs()[p];
        const Real* a = input_.layers[i] + index(pair.src) * columns;
        const Real* b = input_.layers[j] + index(pair.dst) * columns;
        Real* source = ends + endRow(2 * p, i) * columns;
        Real* target = ends + endRow(2 * p + 1, j) * columns;
#pragma omp simd
        for (std::size_t k = 0; k < columns; ++k) {
          source[k] += slope[k] * b[k];
          target[k] += slope[k] * a[k];
        }
      }
    }
  }

  void sumEnds() const {
    const std::size_t columns = width(0);
    const std::size_t layers = input_.layers.size();
    forEachNode(
        input_.pairs,
        [&](std::size_t i) {
          for (std::size_t layer = 0; layer < layers; ++layer) {
            Real* out = to_.layers[layer] + input_.pairs.nodes()[i] * columns;
            sumRow(ends_.get(), columns, Real{1}, out, [&](auto& strip) {
              for (const std::uint32_t place : input_.pairs.places(i)) {
                strip.add(endRow(place, layer), Real{1});
              }
            });
          }
        },
        0.5 * static_cast<double>(input_.pairs.size() * layers * columns));
  }

  // Adds the pieces up in order and takes the last weights out again.
  void finishMlp(std::size_t pieces) {
    std::vector<Real> total(flat_.size());
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      const Real* from = partial_.data() + piece * flat_.size();
#pragma omp simd
      for (std::size_t k = 0; k < flat_.size(); ++k) {
        total[k] += from[k];
      }
    }
    if (folds_) {
      unfold(total);
    }
    for (std::size_t l = 0; l <= top_; ++l) {
      std::copy_n(total.data() + flat_.weight(l), width(l) * width(l + 1), to_.weights[l]);
      if (to_.biases[l] != nullptr) {
        std::copy_n(total.data() + flat_.bias(l), width(l + 1), to_.biases[l]);
      }
    }
  }

  // With s = sum over rows of g m and P = sum over rows of (layer's input)^T g m, the gradient of
  // the last weights is the sum over rows of W * P, plus b s.
  void unfold(std::vector<Real>& total) const {
    const std::size_t columns = width(top_ + 1);
    Real* sums = total.data() + flat_.weight(top_);
    Real* bias_sums = total.data() + flat_.bias(top_);
    Real* last = to_.weights[top_ + 1];
    const Real* bias = scorer_.biasOf(top_);
    for (std::size_t k = 0; k < columns; ++k) {
      last[k] = bias[k] * bias_sums[k];
    }
    for (std::size_t i = 0; i < width(top_); ++i) {
      for (std::size_t k = 0; k < columns; ++k) {
        last[k] += mlp_.weights[top_][i * columns + k] * sums[i * columns + k];
      }
    }
    scaleColumns(mlp_.weights[top_ + 1], width(top_) + 1, sums);
    if (Real* bias_of_last = to_.biases[top_ + 1]; bias_of_last != nullptr) {
      const std::size_t scores = input_.views.size() * input_.pairs.size();
      *bias_of_last = static_cast<Real>(std::accumulate(gradient_, gradient_ + scores, 0.0));
    }
  }

  const ViewScoreInput<Real>& input_;
  const ScoringMlp<Real>& mlp_;
  ViewScorer<Real> scorer_;
  const OpenUnits& open_;
  const Real* gradient_;
  const ViewScoreGradients<Real>& to_;
  // Whether there is a hidden layer for the last weights to go into, and the layer below it.
  bool folds_;
  std::size_t top_;
  FlatGradients<Real> flat_;
  std::vector<Real> folded_;
  std::vector<Real> partial_;
  BlockBuffer<Real> ends_;
};

}  // namespace

template <class Real>
void viewScoresBackwardOnCpu(const ViewScoreInput<Real>& input, const OpenUnits& open,
                             const Real* gradient, const ViewScoreGradients<Real>& to) {
  BackwardPass<Real>(input, open, gradient, to).run();
}

template void viewScoresBackwardOnCpu<float>(const ViewScoreInput<float>&, const OpenUnits&,
                                             const float*, const ViewScoreGradients<float>&);
template void viewScoresBackwardOnCpu<double>(const ViewScoreInput<double>&, const OpenUnits&,
                                              const double*, const ViewScoreGradients<double>&);

}  // namespace edgewise::detail
