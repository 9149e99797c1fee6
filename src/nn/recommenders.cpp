#include "nn/recommenders.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "edgewise/ops/aggregate.h"
#include "edgewise/ops/interaction.h"
#include "edgewise/ops/rowwise.h"
#include "edgewise/util/error.h"
#include "nn/convolution.h"

namespace edgewise::detail {
namespace {

void requireEmbedding(const NodeInput& input, const EncoderOptions& options) {
  if (!input.isEmbedding() || input.width() != options.hidden) {
    throw ConfigError(fmt::format("a recommender starts from embeddings as wide as its layers, {}",
                                  options.hidden),
                      "set model.features=embedding and model.embedding to model.hidden");
  }
}

// Layers on top of an embedding, which is itself the first output where depth zero is asked for.
class EmbeddingEncoder : public Encoder {
 public:
  EmbeddingEncoder(const EncoderOptions& options, std::shared_ptr<const NodeInput> input)
      : options_(options), input_(std::move(input)) {
    requireEmbedding(*input_, options_);
  }

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

  [[nodiscard]] Norm norm() const override { return Norm::kSymmetricOpen; }
  [[nodiscard]] std::size_t depth() const override {
    return static_cast<std::size_t>(options_.layers) + (options_.depth_zero ? 1 : 0);
  }
  [[nodiscard]] int firstHops() const override { return options_.depth_zero ? 0 : 1; }
  [[nodiscard]] std::int64_t width() const override { return options_.hidden; }

 protected:
  using Ends = std::shared_ptr<const PairIndex>;

  [[nodiscard]] const EncoderOptions& options() const { return options_; }

 private:
  // Layer k + 1 from layer k [nodes, width]; at both ends of pairs alone where `ends` are given.
  [[nodiscard]] virtual at::Tensor next(const Parameters& parameters,
                                        const std::shared_ptr<const MessagePlan>& messages,
                                        const at::Tensor& h, const Noise& noise, std::size_t k,
                                        const Ends& ends) const = 0;
  // A layer as whoever looks at it sees it.
  [[nodiscard]] virtual at::Tensor seen(const at::Tensor& h) const { return h; }

  // At all nodes, or at the ends of pairs; then the deepest layer is computed nowhere else.
  [[nodiscard]] LayerOutputs encoded(const Parameters& parameters,
                                     const std::shared_ptr<const MessagePlan>& messages,
                                     const Noise& noise, std::size_t depth,
                                     const Ends& ends) const {
    invariant(depth >= 1 && depth <= this->depth(), "an encoder was asked for more than it has");
    requireNodes(*messages, *input_);
    at::Tensor h = input_->prepare(parameters, noise).embedding();
    LayerOutputs outputs;
    if (options_.depth_zero) {
      outputs.push_back(rowsAt(h, ends));
    }
    for (std::size_t k = 0; outputs.size() < depth; ++k) {
      const bool deepest = outputs.size() + 1 == depth;
      h = next(parameters, messages, h, noise, k, deepest ? ends : nullptr);
      outputs.push_back(seen(rowsAt(h, deepest ? nullptr : ends)));
    }
    return outputs;
  }

  EncoderOptions options_;
  std::shared_ptr<const NodeInput> input_;
};

// One output for all layers: their weighted sum, which no layer has to be kept for.
class LightGcnSum final : public Encoder {
 public:
  LightGcnSum(const EncoderOptions& options, std::shared_ptr<const NodeInput> input)
      : weights_(options.layerWeights()), input_(std::move(input)) {
    requireEmbedding(*input_, options);
  }

  [[nodiscard]] LayerOutputs encode(const Parameters& parameters,
                                    const std::shared_ptr<const MessagePlan>& messages,
                                    const Noise& noise, std::size_t depth) const override {
    invariant(depth == 1, "an encoder was asked for more than it has");
    requireNodes(*messages, *input_);
    return {propagate(messages, input_->prepare(parameters, noise).embedding(), weights_)};
  }
  [[nodiscard]] LayerOutputs encodeEnds(
      const Parameters& parameters, const std::shared_ptr<const MessagePlan>& messages,
      const Noise& noise, std::size_t depth,
      const std::shared_ptr<const PairIndex>& pairs) const override {
    invariant(depth == 1, "an encoder was asked for more than it has");
    requireNodes(*messages, *input_);
    return {
        propagateEnds(messages, input_->prepare(parameters, noise).embedding(), weights_, pairs)};
  }
  [[nodiscard]] Norm norm() const override { return Norm::kSymmetricOpen; }
  [[nodiscard]] std::size_t depth() const override { return 1; }
  [[nodiscard]] int firstHops() const override { return static_cast<int>(weights_.size()) - 1; }
  [[nodiscard]] std::int64_t width() const override { return input_->width(); }

 private:
  std::vector<double> weights_;
  std::shared_ptr<const NodeInput> input_;
};

// One output for all layers of another encoder, side by side.
class SideBySide final : public Encoder {
 public:
  explicit SideBySide(std::unique_ptr<Encoder> layers) : layers_(std::move(layers)) {}

  [[nodiscard]] LayerOutputs encode(const Parameters& parameters,
                                    const std::shared_ptr<const MessagePlan>& messages,
                                    const Noise& noise, std::size_t depth) const override {
    invariant(depth == 1, "an encoder was asked for more than it has");
    return {at::cat(layers_->encode(parameters, messages, noise, layers_->depth()), 1)};
  }
  [[nodiscard]] LayerOutputs encodeEnds(
      const Parameters& parameters, const std::shared_ptr<const MessagePlan>& messages,
      const Noise& noise, std::size_t depth,
      const std::shared_ptr<const PairIndex>& pairs) const override {
    invariant(depth == 1, "an encoder was asked for more than it has");
    return {at::cat(layers_->encodeEnds(parameters, messages, noise, layers_->depth(), pairs), 1)};
  }
  [[nodiscard]] Norm norm() const override { return layers_->norm(); }
  [[nodiscard]] std::size_t depth() const override { return 1; }
  [[nodiscard]] int firstHops() const override {
    return layers_->firstHops() + static_cast<int>(layers_->depth()) - 1;
  }
  [[nodiscard]] std::int64_t width() const override {
    return layers_->width() * static_cast<std::int64_t>(layers_->depth());
  }

 private:
  std::unique_ptr<Encoder> layers_;
};

class LightGcn final : public EmbeddingEncoder {
 public:
  using EmbeddingEncoder::EmbeddingEncoder;

 private:
  [[nodiscard]] at::Tensor next(const Parameters&,
                                const std::shared_ptr<const MessagePlan>& messages,
                                const at::Tensor& h, const Noise&, std::size_t,
                                const Ends& ends) const override {
    return ends ? aggregateEnds(messages, h, ends) : aggregate(messages, h);
  }
};

class Ngcf final : public EmbeddingEncoder {
 public:
  Ngcf(const EncoderOptions& options, std::shared_ptr<const NodeInput> input,
       ParameterLayout& layout)
      : EmbeddingEncoder(options, std::move(input)) {
    const std::int64_t width = options.hidden;
    for (std::int64_t k = 0; k < options.layers; ++k) {
      const auto add = [&](const char* what, std::vector<std::int64_t> shape) {
        return layout.add(fmt::format("encoder.{}.{}", k, what), std::move(shape),
                          Initial::glorot(width, width));
      };
      layers_.push_back({.sum = add("sum.weight", {width, width}),
                         .sum_bias = add("sum.bias", {width}),
                         .product = add("product.weight", {width, width}),
                         .product_bias = add("product.bias", {width})});
    }
  }

 private:
  struct Weights {
    ParameterId sum;
    ParameterId sum_bias;
    ParameterId product;
    ParameterId product_bias;
  };

  static constexpr double kLeak = 0.2;

  [[nodiscard]] at::Tensor next(const Parameters& parameters,
                                const std::shared_ptr<const MessagePlan>& messages,
                                const at::Tensor& h, const Noise& noise, std::size_t k,
                                const Ends& ends) const override {
    const Weights& ids = layers_[k];
    const InteractionWeights weights{parameters[ids.sum], parameters[ids.sum_bias],
                                     parameters[ids.product], parameters[ids.product_bias]};
    const InteractionEnd end{kLeak, noise.mask(fmt::format("encoder.{}", k), options().dropout)};
    return ends ? interactionAtEnds(messages, h, weights, end, ends)
                : interaction(messages, h, weights, end);
  }

  [[nodiscard]] at::Tensor seen(const at::Tensor& h) const override {
    return options().normalise_layers ? unitRows(h) : h;
  }

  std::vector<Weights> layers_;
};

}  // namespace

std::unique_ptr<Encoder> makeLightGcn(const EncoderOptions& options,
                                      std::shared_ptr<const NodeInput> input) {
  if (options.readout == "none") {
    return std::make_unique<LightGcn>(options, std::move(input));
  }
  return std::make_unique<LightGcnSum>(options, std::move(input));
}

std::unique_ptr<Encoder> makeNgcf(const EncoderOptions& options,
                                  std::shared_ptr<const NodeInput> input, ParameterLayout& layout) {
  if (options.readout == "none") {
    return std::make_unique<Ngcf>(options, std::move(input), layout);
  }
  EncoderOptions all = options;
  all.depth_zero = true;
  return std::make_unique<SideBySide>(std::make_unique<Ngcf>(all, std::move(input), layout));
}

}  // namespace edgewise::detail
