#include "edgewise/ops/pair_tile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "edgewise/util/error.h"
#include "edgewise/util/parallel.h"
#include "edgewise/util/scratch_pool.h"
#include "ops/cpu_gemm.h"
#include "ops/open_units.h"

namespace edgewise {
namespace {

// Targets of one source that are scored together: their representations and two layers of hidden
// units fit a core's own cache, and a product of this many rows runs at nearly its full rate.
constexpr std::size_t kTargets = 512;

struct TileLayer {
  const float* weight = nullptr;
  const float* bias = nullptr;
  std::size_t in = 0;
  std::size_t out = 0;
};

std::size_t columnsOf(const at::Tensor& x) { return static_cast<std::size_t>(x.size(1)); }

void requireRows(const std::vector<at::Tensor>& rows, std::int64_t height, std::int64_t width) {
  for (const at::Tensor& x : rows) {
    if (x.dim() != 2 || x.size(0) != height || x.size(1) != width ||
        x.scalar_type() != at::kFloat || !x.device().is_cpu()) {
      throw ShapeError(fmt::format("a tile of {} rows and {} columns of floats was given others",
                                   height, width));
    }
  }
}

// Pieces of the work: one source and up to kTargets targets.
class TileScorer {
 public:
  TileScorer(const TileRows& rows, const TileMlp& mlp, double weight, std::span<double> out)
      : weight_(weight), out_(out), residual_(mlp.residual) {
    if (rows.left.empty() || rows.left.size() != rows.right.size()) {
      throw ShapeError("a tile needs as many left terms as right ones");
    }
    requireRows(rows.left, rows.left.front().size(0), rows.left.front().size(1));
    requireRows(rows.right, rows.right.front().size(0), rows.left.front().size(1));
    sources_ = static_cast<std::size_t>(rows.left.front().size(0));
    targets_ = static_cast<std::size_t>(rows.right.front().size(0));
    width_ = columnsOf(rows.left.front());
    if (out.size() != sources_ * targets_) {
      throw ShapeError(
          fmt::format("{} places for the scores of {} x {} pairs", out.size(), sources_, targets_));
    }
    for (std::size_t t = 0; t < rows.left.size(); ++t) {
      left_.push_back(keep(rows.left[t]));
      right_.push_back(keep(rows.right[t]));
    }
    addLayers(mlp);
  }

  void run() {
    const std::size_t pieces = (targets_ + kTargets - 1) / kTargets;
    ScratchPool<Scratch> pool([this] { return makeScratch(); });
    parallelFor(
        sources_ * pieces, 1,
        [&](std::size_t piece, std::size_t) {
          const auto scratch = pool.borrow();
          const std::size_t first = piece % pieces * kTargets;
          score(piece / pieces, first, std::min(kTargets, targets_ - first), *scratch);
        },
        nanoseconds());
  }

 private:
  struct Scratch {
    std::vector<float> z;
    std::vector<float> in;
    std::vector<float> out;
  };

  const float* keep(const at::Tensor& x) {
    kept_.push_back(x.contiguous());
    return kept_.back().data_ptr<float>();
  }

  void addLayers(const TileMlp& mlp) {
    std::size_t width = width_;
    for (std::size_t l = 0; l < mlp.weights.size(); ++l) {
      const at::Tensor& weight = mlp.weights[l];
      const bool last = l + 1 == mlp.weights.size();
      if (weight.dim() != 2 || static_cast<std::size_t>(weight.size(0)) != width ||
          (last && weight.size(1) != 1) || mlp.biases[l].numel() != weight.size(1)) {
        throw ShapeError(fmt::format("layer {} of a tile's predictor does not fit", l));
      }
      width = columnsOf(weight);
      if (residual_ && !last && width != width_) {
        throw ShapeError("a residual predictor's hidden layers must be as wide as its input");
      }
      layers_.push_back(
          {keep(weight), keep(mlp.biases[l]), static_cast<std::size_t>(weight.size(0)), width});
      widest_ = std::max(widest_, width);
    }
  }

  [[nodiscard]] Scratch makeScratch() const {
    return {std::vector<float>(kTargets * width_), std::vector<float>(kTargets * widest_),
            std::vector<float>(kTargets * widest_)};
  }

  // Of the whole tile on one core.
  [[nodiscard]] double nanoseconds() const {
    constexpr double kProductsPerNanosecond = 20;
    double products = static_cast<double>(width_ * left_.size());
    for (const TileLayer& layer : layers_) {
      products += static_cast<double>(layer.in * layer.out);
    }
    return products * static_cast<double>(sources_ * targets_) / kProductsPerNanosecond;
  }

  void score(std::size_t source, std::size_t first, std::size_t count, Scratch& scratch) const {
    represent(source, first, count, scratch.z.data());
    const float* in = scratch.z.data();
    for (std::size_t l = 0; l + 1 < layers_.size(); ++l) {
      const TileLayer& layer = layers_[l];
      detail::multiplyRows<float>({in, count, layer.in}, {layer.weight, layer.in, layer.out}, 0,
                                  count, scratch.out.data(), false);
      rectify(layer, residual_ ? scratch.z.data() : nullptr, count, scratch.out.data());
      std::swap(scratch.in, scratch.out);
      in = scratch.in.data();
    }
    double* to = out_.data() + source * targets_ + first;
    const bool sums = layers_.empty();
    const std::size_t columns = sums ? width_ : layers_.back().in;
    for (std::size_t row = 0; row < count; ++row, in += columns) {
      const float value = sums ? total(in, columns) : lastLayer(in);
      to[row] += weight_ * static_cast<double>(value);
    }
  }

  void represent(std::size_t source, std::size_t first, std::size_t count, float* z) const {
    const std::size_t width = width_;
    for (std::size_t row = first; row < first + count; ++row, z += width) {
      multiplyRow(left_[0] + source * width, right_[0] + row * width, width, z);
      for (std::size_t t = 1; t < left_.size(); ++t) {
        addProduct(left_[t] + source * width, right_[t] + row * width, width, z);
      }
    }
  }

  static void multiplyRow(const float* a, const float* b, std::size_t width, float* z) {
#pragma omp simd
    for (std::size_t k = 0; k < width; ++k) {
      z[k] = a[k] * b[k];
    }
  }

  static void addProduct(const float* a, const float* b, std::size_t width, float* z) {
#pragma omp simd
    for (std::size_t k = 0; k < width; ++k) {
      z[k] += a[k] * b[k];
    }
  }

  static void rectify(const TileLayer& layer, const float* input, std::size_t count, float* units) {
    const std::size_t width = layer.out;
    for (std::size_t row = 0; row < count; ++row, units += width) {
      if (input != nullptr) {
#pragma omp simd
        for (std::size_t k = 0; k < width; ++k) {
          units[k] += input[k];
        }
        input += width;
      }
      detail::rectifyRow(units, layer.bias, width);
    }
  }

  static float total(const float* in, std::size_t columns) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t k = 0; k < columns; ++k) {
      sum += in[k];
    }
    return sum;
  }

  [[nodiscard]] float lastLayer(const float* in) const {
    const TileLayer& layer = layers_.back();
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t k = 0; k < layer.in; ++k) {
      sum += in[k] * layer.weight[k];
    }
    return sum + layer.bias[0];
  }

  double weight_;
  std::span<double> out_;
  bool residual_;
  std::size_t sources_ = 0;
  std::size_t targets_ = 0;
  std::size_t width_ = 0;
  std::size_t widest_ = 1;
  std::vector<at::Tensor> kept_;
  std::vector<const float*> left_;
  std::vector<const float*> right_;
  std::vector<TileLayer> layers_;
};

}  // namespace

void addTileScores(const TileRows& rows, const TileMlp& mlp, double weight, std::span<double> out) {
  TileScorer(rows, mlp, weight, out).run();
}

}  // namespace edgewise
