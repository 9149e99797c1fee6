#include "edgewise/nn/predictor.h"

#include <ATen/TensorOperators.h>
#include <fmt/format.h>

#include "edgewise/ops/dropout.h"
#include "edgewise/ops/product.h"
#include "edgewise/ops/rowwise.h"
#include "edgewise/util/error.h"

namespace edgewise {

void PredictorOptions::bind(OptionSet& set) {
  set.add("model.predictor", kind, {"dot", "hadamard", "concat"},
          "dot product, or an MLP on the ends' product (hadamard) or on both (concat)");
  set.add("model.predictor_layers", layers, {1, 8}, "layers of the predictor's MLP");
  set.add("model.predictor_hidden", hidden, {0, 4096}, "its width; 0: the encoder's");
  set.add("model.predictor_dropout", dropout, {-1.0, 0.99}, "its dropout; -1: model.dropout");
  set.add("model.predictor_residual", residual,
          "add the predictor's input to each of its hidden layers");
}

Mlp::Mlp(const std::string& name, const std::vector<std::int64_t>& widths, double dropout,
         ParameterLayout& layout, bool residual)
    : name_(name), dropout_(dropout), residual_(residual) {
  invariant(widths.size() >= 2, "an MLP has an input and an output");
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    const std::string place = fmt::format("{}.{}", name, i);
    layers_.push_back(
        {layout.add(place + ".weight", {widths[i], widths[i + 1]}, Initial::fanIn(widths[i])),
         layout.add(place + ".bias", {widths[i + 1]}, Initial::fanIn(widths[i]))});
  }
}

at::Tensor Mlp::apply(const Parameters& parameters, const at::Tensor& x, const Noise& noise) const {
  at::Tensor h = x;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    h = affine(h, parameters[layers_[i].weight], parameters[layers_[i].bias]);
    if (i + 1 < layers_.size()) {
      h = residual_ ? h + x : h;
      h = reluDropout(h, noise.mask(fmt::format("{}.{}", name_, i), dropout_));
    }
  }
  return h;
}

std::vector<at::Tensor> Mlp::weights(const Parameters& parameters) const {
  std::vector<at::Tensor> all;
  all.reserve(layers_.size());
  for (const AffineLayer& layer : layers_) {
    all.push_back(parameters[layer.weight]);
  }
  return all;
}

std::vector<at::Tensor> Mlp::biases(const Parameters& parameters) const {
  std::vector<at::Tensor> all;
  all.reserve(layers_.size());
  for (const AffineLayer& layer : layers_) {
    all.push_back(parameters[layer.bias]);
  }
  return all;
}

Predictor::Predictor(const std::string& name, const PredictorOptions& options, std::int64_t width,
                     double dropout, ParameterLayout& layout) {
  if (options.kind == "dot") {
    return;
  }
  std::vector<std::int64_t> widths = {options.concatenates() ? 2 * width : width};
  for (std::int64_t i = 1; i < options.layers; ++i) {
    widths.push_back(options.hidden > 0 ? options.hidden : width);
  }
  if (options.residual && widths.size() > 1 && widths[0] != widths[1]) {
    throw ConfigError(
        fmt::format("model.predictor_residual: the predictor reads {} columns and its "
                    "hidden layers have {}",
                    widths[0], widths[1]),
        "set model.predictor_hidden to the former");
  }
  widths.push_back(1);
  mlp_ = std::make_unique<Mlp>(name, widths, options.dropout >= 0 ? options.dropout : dropout,
                               layout, options.residual);
}

at::Tensor Predictor::logits(const Parameters& parameters, const at::Tensor& z,
                             const Noise& noise) const {
  return mlp_ ? mlp_->apply(parameters, z, noise).reshape({-1}) : rowSum(z);
}

TileMlp Predictor::forTiles(const Parameters& parameters) const {
  if (!mlp_) {
    return {};
  }
  return {mlp_->weights(parameters), mlp_->biases(parameters), mlp_->residual()};
}

}  // namespace edgewise
