// The parts of a model written out with torch's own dense operations, straight from their
// definitions and in another order than the library's: messages are summed before they are
// transformed, ends are gathered before they are multiplied.
#pragma once

#include <ATen/ATen.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "edgewise/nn/encoder.h"
#include "edgewise/nn/noise.h"
#include "edgewise/nn/parameters.h"
#include "support/dense_graphs.h"
#include "support/random_features.h"
#include "support/tensors.h"

namespace edgewise::testing {

// Parameters by name. All of them are random, the biases too, so that nothing is zero by chance.
class NamedParameters {
 public:
  NamedParameters(const ParameterLayout& layout, std::uint64_t seed,
                  at::ScalarType type = at::kDouble)
      : layout_(layout), values_(Parameters::initial(layout, seed, type)) {
    values_.flat().copy_(0.7 * randomTensor({values_.size()}, seed));
  }

  [[nodiscard]] const Parameters& values() const { return values_; }
  [[nodiscard]] Tensors leaves() const {
    return {values_.tensors().begin(), values_.tensors().end()};
  }
  [[nodiscard]] const at::Tensor& operator[](const std::string& name) const {
    for (std::size_t i = 0; i < layout_.entries().size(); ++i) {
      if (layout_.entries()[i].name == name) {
        return values_.tensors()[i];
      }
    }
    throw std::out_of_range("no parameter " + name);
  }

 private:
  const ParameterLayout& layout_;
  Parameters values_;
};

inline at::Tensor denseLayerNorm(const at::Tensor& x, const at::Tensor& scale,
                                 const at::Tensor& shift) {
  const at::Tensor centred = x - x.mean(1, /*keepdim=*/true);
  const at::Tensor variance = (centred * centred).mean(1, /*keepdim=*/true);
  return centred / (variance + 1e-5).sqrt() * scale + shift;
}

// max(x, 0) with the dropout of one place.
inline at::Tensor denseActivation(const at::Tensor& x, const DropoutMask& mask) {
  return x.clamp_min(0) * maskTensor(mask, x.sizes());
}

// The encoder `kind` over a dense adjacency matrix and a dense input.
struct DenseEncoder {
  std::string kind;
  EncoderOptions options;
  at::Tensor adjacency;
  at::Tensor input;
  Noise noise = Noise();

  [[nodiscard]] Tensors encode(const NamedParameters& parameters, std::size_t depth) const {
    const at::Tensor messages =
        denseOperator(adjacency, kind == "gae" ? Norm::kSymmetric : Norm::kMean);
    Tensors outputs;
    at::Tensor x = input;
    at::Tensor before;
    for (std::size_t k = 0; k < depth; ++k) {
      const std::string name = "encoder." + std::to_string(k);
      at::Tensor h;
      if (kind == "gae") {
        h = messages.matmul(x).matmul(parameters[name + ".weight"]);
      } else {
        h = messages.matmul(x).matmul(parameters[name + ".neighbours.weight"]) +
            x.matmul(parameters[name + ".self.weight"]);
      }
      h = h + parameters[name + ".bias"];
      if (options.norm == "layer") {
        h = denseLayerNorm(h, parameters[name + ".norm.scale"], parameters[name + ".norm.shift"]);
      }
      if (options.residual && k > 0) {
        h = h + before;
      }
      if (options.initial_residual > 0) {
        h = h + options.initial_residual * input;
      }
      before = h;
      const bool linear = options.activation == "none";
      outputs.push_back(options.layer_output == "after" && !linear ? h.clamp_min(0) : h);
      const DropoutMask mask = noise.mask(name, options.dropout);
      x = linear ? h * maskTensor(mask, h.sizes()) : denseActivation(h, mask);
    }
    return outputs;
  }
};

// The MLP `name` with this many layers.
struct DenseMlp {
  std::string name;
  std::size_t layers = 0;
  double dropout = 0;
  Noise noise = Noise();
  bool residual = false;

  [[nodiscard]] at::Tensor apply(const NamedParameters& parameters, at::Tensor x) const {
    const at::Tensor input = x;
    for (std::size_t i = 0; i < layers; ++i) {
      const std::string place = name + "." + std::to_string(i);
      x = x.matmul(parameters[place + ".weight"]) + parameters[place + ".bias"];
      if (i + 1 < layers) {
        x = residual ? x + input : x;
        x = denseActivation(x, noise.mask(place, dropout));
      }
    }
    return x;
  }
};

// Features as a dense matrix in double precision.
inline at::Tensor denseFeatures(const FeatureMatrix& features) {
  at::Tensor dense = at::zeros(
      {static_cast<std::int64_t>(features.rows()), static_cast<std::int64_t>(features.columns())},
      at::TensorOptions(at::kDouble));
  auto entries = dense.accessor<double, 2>();
  for (std::int64_t row = 0; row < dense.size(0); ++row) {
    for (std::int64_t column = 0; column < dense.size(1); ++column) {
      entries[row][column] =
          features.at(static_cast<std::size_t>(row), static_cast<std::size_t>(column));
    }
  }
  return dense;
}

}  // namespace edgewise::testing
