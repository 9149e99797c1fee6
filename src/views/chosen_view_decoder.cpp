#include <ATen/TensorOperators.h>

#include "edgewise/ops/view_mixture.h"
#include "edgewise/util/error.h"
#include "views/pair_representation.h"
#include "views/view_decoders.h"

namespace edgewise::detail {
namespace {

// One predictor on each pair's representation under the views that were chosen for it; where that
// is one view, nothing is computed for the others. Where the score of an undirected pair would
// depend on which end is called the source, both ways are averaged.
class ChosenViewDecoder final : public Decoder {
 public:
  ChosenViewDecoder(const DecoderContext& context, ParameterLayout& layout)
      : depth_(context.depth),
        concatenate_(context.predictor.concatenates()),
        both_ways_(context.symmetric && concatenate_),
        dot_(context.predictor.kind == "dot"),
        loss_(context.loss),
        views_(allViews(context.depth)),
        predictor_("predictor", context.predictor, context.width, context.dropout, layout) {}

  [[nodiscard]] at::Tensor loss(const Parameters& parameters, const LayerOutputs& layers,
                                const PairBatch& batch, const Noise& noise) const override {
    return pairLoss(loss_,
                    batch.choice ? score(parameters, layers, batch.pairs, batch.choice, noise)
                                 : scoreAlike(parameters, layers, batch.pairs, noise),
                    batch);
  }
  using Decoder::logits;
  [[nodiscard]] at::Tensor logits(const Parameters& parameters, const LayerOutputs& layers,
                                  const std::shared_ptr<const PairIndex>& pairs,
                                  const ViewChoice& choice) const override {
    return choice->rewarded(score(parameters, layers, pairs, choice, Noise()));
  }
  [[nodiscard]] bool choosesViews() const override { return true; }
  [[nodiscard]] std::size_t depth() const override { return depth_; }
  [[nodiscard]] std::span<const LayerPair> views() const override { return views_; }
  [[nodiscard]] at::Tensor mixtureLoss(const Parameters& parameters, const LayerOutputs& layers,
                                       const PairBatch& batch, const ViewMixture& views,
                                       const Noise& noise) const override {
    if (!views.shares.defined()) {
      return pairLoss(loss_, views.rewarded(scoreAlike(parameters, layers, batch.pairs, noise)),
                      batch);
    }
    if (dot_) {
      return pairLoss(loss_, views.rewarded(mixedDots(layers, batch.pairs, views_, views.shares)),
                      batch);
    }
    const at::Tensor z =
        views.use == GradientUse::kOnce && !concatenate_
            ? mixedPairs(layers, batch.pairs, views_, views.shares)
            : mixViews(representPairs(layers, batch.pairs, views_, concatenate_), views.shares);
    return pairLoss(loss_, views.rewarded(predict(parameters, z, noise)), batch);
  }

 private:
  [[nodiscard]] at::Tensor score(const Parameters& parameters, const LayerOutputs& layers,
                                 const std::shared_ptr<const PairIndex>& pairs,
                                 const ViewChoice& choice, const Noise& noise) const {
    invariant(choice != nullptr, "a decoder of chosen views was given no choice");
    // A dot product is linear, so the mixture of views scores what a mixture of their scores does.
    if (dot_ && choice->perPair() > 1) {
      return mixedDots(layers, pairs, views_, choice->shares(depth_, layers.front().options()));
    }
    return predict(parameters, representChosen(layers, pairs, *choice, concatenate_), noise);
  }

  // With all views counting the same: the mean of all products of layers is the product of their
  // means, and the mean of all layers side by side is their means side by side.
  [[nodiscard]] at::Tensor scoreAlike(const Parameters& parameters, const LayerOutputs& layers,
                                      const std::shared_ptr<const PairIndex>& pairs,
                                      const Noise& noise) const {
    const at::Tensor centre = meanOf(layers);
    const LayerPair view{0, 0};
    if (dot_) {
      return viewDots(std::span(&centre, 1), pairs, std::span(&view, 1))[0];
    }
    return predict(
        parameters,
        representPairs(std::span(&centre, 1), pairs, std::span(&view, 1), concatenate_)[0], noise);
  }

  [[nodiscard]] at::Tensor predict(const Parameters& parameters, const at::Tensor& z,
                                   const Noise& noise) const {
    const at::Tensor forth = predictor_.logits(parameters, z, noise);
    if (!both_ways_) {
      return forth;
    }
    return (forth + predictor_.logits(parameters, endsExchanged(z), noise)) / 2;
  }

  std::size_t depth_;
  bool concatenate_;
  bool both_ways_;
  bool dot_;
  LossOptions loss_;
  std::vector<LayerPair> views_;
  Predictor predictor_;
};

}  // namespace

std::unique_ptr<Decoder> makeChosenViewDecoder(const DecoderContext& context,
                                               ParameterLayout& layout) {
  return std::make_unique<ChosenViewDecoder>(context, layout);
}

}  // namespace edgewise::detail
