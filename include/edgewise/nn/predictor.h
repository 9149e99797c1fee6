// Predictors: from the representation of a pair to its score, a logit.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "edgewise/nn/noise.h"
#include "edgewise/nn/parameters.h"
#include "edgewise/ops/pair_tile.h"
#include "edgewise/util/options.h"

namespace edgewise {

struct PredictorOptions {
  std::string kind = "hadamard";
  std::int64_t layers = 3;
  // 0: as wide as the encoder.
  std::int64_t hidden = 0;
  // Below 0: the encoder's.
  double dropout = -1;
  bool residual = false;
  void bind(OptionSet& set);
  // Whether a pair's representation is the two ends side by side, not their product.
  [[nodiscard]] bool concatenates() const { return kind == "concat"; }
};

// A stack of affine layers with rectifiers and dropout between; initialised as torch's Linear.
class Mlp {
 public:
  // `widths`: input, hidden ..., output; at least two. With `residual` the input is added to every
  // hidden layer before its rectifier; they must be as wide.
  Mlp(const std::string& name, const std::vector<std::int64_t>& widths, double dropout,
      ParameterLayout& layout, bool residual = false);

  // x [rows, widths.front()] -> [rows, widths.back()].
  [[nodiscard]] at::Tensor apply(const Parameters& parameters, const at::Tensor& x,
                                 const Noise& noise) const;
  // Of all layers, first to last, for operations that apply them in their own way.
  [[nodiscard]] std::vector<at::Tensor> weights(const Parameters& parameters) const;
  [[nodiscard]] std::vector<at::Tensor> biases(const Parameters& parameters) const;
  [[nodiscard]] bool residual() const { return residual_; }

 private:
  struct AffineLayer {
    ParameterId weight{};
    ParameterId bias{};
  };
  std::string name_;
  double dropout_;
  bool residual_;
  std::vector<AffineLayer> layers_;
};

class Predictor {
 public:
  // For encoder outputs of this width. `name` starts its parameters' names.
  Predictor(const std::string& name, const PredictorOptions& options, std::int64_t width,
            double dropout, ParameterLayout& layout);

  // z [pairs, width] (products), or [pairs, 2 * width] when it concatenates -> [pairs].
  [[nodiscard]] at::Tensor logits(const Parameters& parameters, const at::Tensor& z,
                                  const Noise& noise) const;
  // The same for tiles of pairs.
  [[nodiscard]] TileMlp forTiles(const Parameters& parameters) const;

 private:
  // None: the sum of the products, that is the dot product.
  std::unique_ptr<Mlp> mlp_;
};

}  // namespace edgewise
