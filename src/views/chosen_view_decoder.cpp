#include <ATen/TensorOperators.h>

#include "edgewise/ops/rowwise.h"
#include "edgewise/ops/view_mixture.h"
#include "edgewise/util/error.h"
#include "views/view_decoders.h"

namespace edgewise::detail {
namespace {

// Each pair by the view that was chosen for it; nothing is computed for the others.
class ChosenViewDecoder final : public Decoder {
 public:
  ChosenViewDecoder(const DecoderContext& context, ParameterLayout& layout)
      : depth_(context.depth),
        views_(allViews(context.depth)),
        predictor_("predictor", context.predictor, context.width, context.dropout, layout) {
    if (context.predictor.concatenates()) {
      throw ConfigError(
          "views chosen by pair go with products of the ends, not model.predictor="
          "concat",
          "use model.predictor=hadamard or dot");
    }
  }

  [[nodiscard]] at::Tensor loss(const Parameters& parameters, const LayerOutputs& layers,
                                const PairBatch& batch, const Noise& noise) const override {
    return binaryCrossEntropy(score(parameters, layers, batch.pairs, batch.choice, noise),
                              batch.labels);
  }
  using Decoder::logits;
  [[nodiscard]] at::Tensor logits(const Parameters& parameters, const LayerOutputs& layers,
                                  const std::shared_ptr<const PairIndex>& pairs,
                                  const ViewChoice& choice) const override {
    return score(parameters, layers, pairs, choice, Noise());
  }
  [[nodiscard]] bool choosesViews() const override { return true; }
  [[nodiscard]] std::size_t depth() const override { return depth_; }
  [[nodiscard]] std::span<const LayerPair> views() const override { return views_; }
  [[nodiscard]] at::Tensor predict(const Parameters& parameters, const at::Tensor& z,
                                   const Noise& noise) const override {
    return predictor_.logits(parameters, z, noise);
  }

 private:
  [[nodiscard]] at::Tensor score(const Parameters& parameters, const LayerOutputs& layers,
                                 const std::shared_ptr<const PairIndex>& pairs,
                                 const ViewChoice& choice, const Noise& noise) const {
    invariant(choice != nullptr, "a decoder of chosen views was given no choice");
    return predictor_.logits(parameters, chosenPairs(layers, pairs, choice), noise);
  }

  std::size_t depth_;
  std::vector<LayerPair> views_;
  Predictor predictor_;
};

}  // namespace

std::unique_ptr<Decoder> makeChosenViewDecoder(const DecoderContext& context,
                                               ParameterLayout& layout) {
  return std::make_unique<ChosenViewDecoder>(context, layout);
}

}  // namespace edgewise::detail
