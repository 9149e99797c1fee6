#include "edgewise/nn/encoder.h"

#include <ATen/TensorOperators.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "edgewise/ops/layer_norm.h"
#include "edgewise/ops/product.h"
#include "edgewise/ops/view_pairs.h"
#include "edgewise/util/error.h"
#include "edgewise/util/text.h"
#include "nn/convolution.h"
#include "nn/recommenders.h"

namespace edgewise {
namespace {

struct NormParameters {
  ParameterId scale{};
  ParameterId shift{};
};

struct Layer {
  std::unique_ptr<detail::Convolution> convolution;
  std::optional<NormParameters> norm;
};

// K convolutions one after another: convolution, normalisation, with residuals + h^(k-1) or a share
// of the embedding, (this is h^k), activation, dropout.
class ConvolutionStack final : public Encoder {
 public:
  ConvolutionStack(Norm norm, const EncoderOptions& options, std::shared_ptr<const NodeInput> input)
      : norm_(norm), options_(options), input_(std::move(input)) {
    if (options_.initial_residual > 0 &&
        (!input_->isEmbedding() || input_->width() != options_.hidden)) {
      throw ConfigError(
          fmt::format(
              "model.initial_residual adds the nodes' embedding to layers of {}: it must be "
              "as wide",
              options_.hidden),
          "set model.features=embedding and model.embedding to model.hidden");
    }
  }

  void add(Layer layer) { layers_.push_back(std::move(layer)); }

  [[nodiscard]] LayerOutputs encode(const Parameters& parameters,
                                    const std::shared_ptr<const MessagePlan>& messages,
                                    const Noise& noise, std::size_t depth) const override {
    return encoded(parameters, messages, noise, depth, nullptr);
  }
  [[nodiscard]] LayerOutputs encodeEnds(
      const Parameters& parameters, const std::shared_ptr<const MessagePlan>& messages,
      const Noise& noise, std::size_t depth,
      const std::shared_ptr<const PairIndex>& pairs) const override {
    return encoded(parameters, messages, noise, depth, pairs);
  }

  [[nodiscard]] Norm norm() const override { return norm_; }
  [[nodiscard]] std::size_t depth() const override { return layers_.size(); }
  [[nodiscard]] std::int64_t width() const override { return options_.hidden; }

 private:
  using Ends = std::shared_ptr<const PairIndex>;

  // At all nodes, or at the ends of pairs; then the deepest layer is computed nowhere else.
  [[nodiscard]] LayerOutputs encoded(const Parameters& parameters,
                                     const std::shared_ptr<const MessagePlan>& messages,
                                     const Noise& noise, std::size_t depth,
                                     const Ends& ends) const {
    invariant(depth >= 1 && depth <= layers_.size(), "an encoder was asked for more than it has");
    detail::requireNodes(*messages, *input_);
    LayerOutputs outputs;
    const PreparedInput input = input_->prepare(parameters, noise);
    at::Tensor activated;
    at::Tensor before;
    for (std::size_t k = 0; k < depth; ++k) {
      const bool last = k + 1 == depth;
      const detail::LayerInput x{
          .times =
              [&](const at::Tensor& weight) {
                return k == 0 ? input.times(weight) : product(activated, weight);
              },
          .heard = k == 0 ? input_->heard(parameters, messages, noise) : at::Tensor()};
      // The input of the first layer may be sparse: it is not gathered.
      const Ends at = last && k > 0 ? ends : nullptr;
      const detail::Convolution& convolution = *layers_[k].convolution;
      at::Tensor h = normalised(parameters, layers_[k],
                                at ? convolution.applyAt(parameters, messages, activated, at)
                                   : convolution.apply(parameters, messages, x));
      if (options_.residual && k > 0) {
        h = h + detail::rowsAt(before, at);
      }
      if (options_.initial_residual > 0) {
        h = h + options_.initial_residual * detail::rowsAt(input.embedding(), at);
      }
      before = h;
      at::Tensor output;
      if (!last) {
        const DropoutMask mask = noise.mask(fmt::format("encoder.{}", k), options_.dropout);
        if (ends && options_.activation == "relu") {
          ActivatedEnds both = activatedEnds(h, mask, ends);
          activated = std::move(both.activated);
          output = std::move(both.ends);
        } else {
          activated = activation(h, mask);
        }
      }
      if (!output.defined()) {
        output = detail::rowsAt(h, at ? nullptr : ends);
      }
      outputs.push_back(options_.layer_output == "after" ? activation(output, DropoutMask())
                                                         : output);
    }
    return outputs;
  }

  [[nodiscard]] at::Tensor activation(const at::Tensor& h, const DropoutMask& mask) const {
    return options_.activation == "relu" ? reluDropout(h, mask) : dropout(h, mask);
  }

  static at::Tensor normalised(const Parameters& parameters, const Layer& layer,
                               const at::Tensor& h) {
    return layer.norm ? layerNorm(h, parameters[layer.norm->scale], parameters[layer.norm->shift])
                      : h;
  }

  Norm norm_;
  EncoderOptions options_;
  std::shared_ptr<const NodeInput> input_;
  std::vector<Layer> layers_;
};

// The layers of another encoder from some depth on.
class LaterLayers final : public Encoder {
 public:
  LaterLayers(std::unique_ptr<Encoder> layers, std::size_t skipped)
      : layers_(std::move(layers)), skipped_(skipped) {}

  [[nodiscard]] LayerOutputs encode(const Parameters& parameters,
                                    const std::shared_ptr<const MessagePlan>& messages,
                                    const Noise& noise, std::size_t depth) const override {
    return later(layers_->encode(parameters, messages, noise, depth + skipped_));
  }
  [[nodiscard]] LayerOutputs encodeEnds(
      const Parameters& parameters, const std::shared_ptr<const MessagePlan>& messages,
      const Noise& noise, std::size_t depth,
      const std::shared_ptr<const PairIndex>& pairs) const override {
    return later(layers_->encodeEnds(parameters, messages, noise, depth + skipped_, pairs));
  }
  [[nodiscard]] Norm norm() const override { return layers_->norm(); }
  [[nodiscard]] std::size_t depth() const override { return layers_->depth() - skipped_; }
  [[nodiscard]] int firstHops() const override {
    return layers_->firstHops() + static_cast<int>(skipped_);
  }
  [[nodiscard]] std::int64_t width() const override { return layers_->width(); }

 private:
  [[nodiscard]] LayerOutputs later(LayerOutputs outputs) const {
    outputs.erase(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(skipped_));
    return outputs;
  }

  std::unique_ptr<Encoder> layers_;
  std::size_t skipped_;
};

std::unique_ptr<Encoder> makeStack(const std::string& kind, const EncoderOptions& options,
                                   std::shared_ptr<const NodeInput> input,
                                   ParameterLayout& layout) {
  const bool gcn = kind == "gae";
  if (!gcn && kind != "sage") {
    throw ConfigError(fmt::format("no encoder is called '{}'", kind),
                      "known: gae, sage, lightgcn, ngcf");
  }
  auto stack =
      std::make_unique<ConvolutionStack>(gcn ? Norm::kSymmetric : Norm::kMean, options, input);
  for (std::int64_t k = 0; k < options.layers; ++k) {
    const detail::ConvolutionShape shape{fmt::format("encoder.{}", k),
                                         k == 0 ? input->width() : options.hidden, options.hidden};
    Layer layer;
    layer.convolution = gcn ? detail::makeGcnConvolution(shape, layout)
                            : detail::makeSageConvolution(shape, layout);
    if (options.norm == "layer") {
      layer.norm = NormParameters{
          layout.add(shape.name + ".norm.scale", {options.hidden}, Initial::constant(1)),
          layout.add(shape.name + ".norm.shift", {options.hidden}, Initial::constant(0))};
    }
    stack->add(std::move(layer));
  }
  return stack;
}

std::unique_ptr<Encoder> makeAllLayers(const std::string& kind, const EncoderOptions& options,
                                       std::shared_ptr<const NodeInput> input,
                                       ParameterLayout& layout) {
  if (kind == "lightgcn") {
    return detail::makeLightGcn(options, std::move(input));
  }
  if (kind == "ngcf") {
    return detail::makeNgcf(options, std::move(input), layout);
  }
  return makeStack(kind, options, std::move(input), layout);
}

}  // namespace

LayerOutputs Encoder::encodeEnds(const Parameters& parameters,
                                 const std::shared_ptr<const MessagePlan>& messages,
                                 const Noise& noise, std::size_t depth,
                                 const std::shared_ptr<const PairIndex>& pairs) const {
  LayerOutputs layers = encode(parameters, messages, noise, depth);
  for (at::Tensor& layer : layers) {
    layer = gatherEnd(layer, pairs, PairEnd::kBoth);
  }
  return layers;
}

at::Tensor detail::rowsAt(const at::Tensor& x, const std::shared_ptr<const PairIndex>& ends) {
  return ends ? gatherEnd(x, ends, PairEnd::kBoth) : x;
}

void detail::requireNodes(const MessagePlan& messages, const NodeInput& input) {
  if (messages.nodeCount() != input.nodeCount()) {
    throw ShapeError(fmt::format("messages among {} nodes for a model of {}", messages.nodeCount(),
                                 input.nodeCount()));
  }
}

void EncoderOptions::bind(OptionSet& set) {
  set.add("model.layers", layers, {1, 5}, "layers of the encoder, K: views reach up to K hops");
  set.add("model.hidden", hidden, {1, 4096}, "width of every layer");
  set.add("model.dropout", dropout, {0.0, 0.99}, "dropout between layers, and in the predictor");
  set.add("model.norm", norm, {"none", "layer"}, "normalisation after each convolution");
  set.add("model.residual", residual,
          "add each layer's output before its activation to the next one's");
  set.add("model.initial_residual", initial_residual, {0.0, 1.0},
          "add so much of the nodes' embedding to every layer's output");
  set.add("model.activation", activation, {"relu", "none"},
          "between convolutions; none: propagation is linear");
  set.add("model.layer_output", layer_output, {"before", "after"},
          "take a layer's output before or after its activation");
  set.add(
      "model.readout", readout, {"auto", "none"},
      "lightgcn, ngcf without a selector: what stands for a node, all its layers together (auto: "
      "lightgcn's mean, ngcf's side by side) or the deepest alone (none)");
  set.add("model.layer_weights", layer_weights,
          "lightgcn's readout: equal, or a weight for each layer from 0 on, as in 0.4,0.3,0.2,0.1");
  set.add("model.first_depth", first_depth, {1, 5},
          "with a selector: the least hops of a view around either end");
  set.add("model.depth_zero", depth_zero,
          "lightgcn, ngcf with a selector: depth 0, the embedding itself, is a view's depth too");
  set.add("model.normalise_layers", normalise_layers,
          "ngcf: scale every layer's output to length 1 for whoever looks at it");
}

std::vector<double> EncoderOptions::layerWeights() const {
  const auto count = static_cast<std::size_t>(layers) + 1;
  if (layer_weights == "equal") {
    return std::vector<double>(count, 1 / static_cast<double>(count));
  }
  std::vector<double> weights;
  for (const std::string_view part : splitText(layer_weights, ',')) {
    const std::optional<double> weight = parseReal(trimmed(part));
    if (!weight || !std::isfinite(*weight)) {
      throw ConfigError(fmt::format("model.layer_weights: '{}' is not a number", part),
                        "write equal, or numbers with commas between them");
    }
    weights.push_back(*weight);
  }
  const bool any = std::ranges::any_of(weights, [](double weight) { return weight != 0; });
  if (weights.size() != count || !any) {
    throw ConfigError(
        fmt::format("model.layer_weights: {} weights, {}, for layers 0 to {}", weights.size(),
                    any ? "some of them not 0" : "all of them 0", layers),
        fmt::format("give {} numbers that are not all 0", count));
  }
  return weights;
}

void EncoderOptions::checkDepths() const {
  if (first_depth > layers) {
    throw ConfigError(fmt::format("model.first_depth={}: views of {} layers do not look that far",
                                  first_depth, layers),
                      "lower it, or raise model.layers (seal.hops for seal)");
  }
  if (first_depth > 1 && depth_zero) {
    throw ConfigError(
        fmt::format("views begin at 0 hops (model.depth_zero) or at {} (model.first_depth), not "
                    "both",
                    first_depth),
        "leave one of them out");
  }
}

bool isRecommender(std::string_view kind) { return kind == "lightgcn" || kind == "ngcf"; }

std::unique_ptr<Encoder> makeEncoder(const std::string& kind, const EncoderOptions& options,
                                     std::shared_ptr<const NodeInput> input,
                                     ParameterLayout& layout) {
  options.checkDepths();
  auto layers = makeAllLayers(kind, options, std::move(input), layout);
  // What stands for all layers together has no depths to leave out.
  if (options.first_depth == 1 || layers->depth() == 1) {
    return layers;
  }
  return std::make_unique<LaterLayers>(std::move(layers),
                                       static_cast<std::size_t>(options.first_depth - 1));
}

}  // namespace edgewise
