#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <array>

#include "views/pair_representation.h"
#include "views/view_decoders.h"

namespace edgewise::detail {
namespace {

// One view for all pairs. Where its score would depend on which end is called the source, both ways
// are averaged.
class SingleViewDecoder final : public Decoder {
 public:
  SingleViewDecoder(LayerPair view, const DecoderContext& context, ParameterLayout& layout)
      : concatenate_(context.predictor.concatenates()),
        both_ways_(context.symmetric && (concatenate_ || view.source != view.target)),
        dot_(context.predictor.kind == "dot"),
        loss_(context.loss),
        views_{view},
        predictor_("predictor", context.predictor, context.width, context.dropout, layout) {}

  [[nodiscard]] at::Tensor loss(const Parameters& parameters, const LayerOutputs& layers,
                                const PairBatch& batch, const Noise& noise) const override {
    return pairLoss(loss_, score(parameters, layers, batch.pairs, noise), batch);
  }
  using Decoder::logits;
  [[nodiscard]] at::Tensor logits(const Parameters& parameters, const LayerOutputs& layers,
                                  const std::shared_ptr<const PairIndex>& pairs,
                                  const ViewChoice&) const override {
    return score(parameters, layers, pairs, Noise());
  }
  [[nodiscard]] std::vector<ScoreTerm> scoreTerms(const Parameters& parameters) const override {
    if (concatenate_) {
      return {};
    }
    const LayerPair view = views_[0];
    const double weight = both_ways_ ? 0.5 : 1;
    std::vector<ScoreTerm> terms = {{weight, predictor_.forTiles(parameters), {{view, 1}}}};
    if (both_ways_) {
      terms.push_back(terms.front());
      terms.back().views = {{{view.target, view.source}, 1}};
    }
    return terms;
  }
  [[nodiscard]] std::optional<ScoreFactors> factors(const Parameters&,
                                                    const LayerOutputs& layers) const override {
    if (!dot_) {
      return std::nullopt;
    }
    const at::Tensor& source = layers[views_[0].source];
    const at::Tensor& target = layers[views_[0].target];
    if (!both_ways_) {
      return ScoreFactors{source, target};
    }
    return ScoreFactors{at::cat({source, target}, 1) / 2, at::cat({target, source}, 1)};
  }
  [[nodiscard]] std::size_t depth() const override {
    return std::max(views_[0].source, views_[0].target) + std::size_t{1};
  }
  [[nodiscard]] std::span<const LayerPair> views() const override { return views_; }

 private:
  [[nodiscard]] at::Tensor score(const Parameters& parameters, const LayerOutputs& layers,
                                 const std::shared_ptr<const PairIndex>& pairs,
                                 const Noise& noise) const {
    if (dot_) {
      return scoreByDots(layers, pairs);
    }
    const std::vector<at::Tensor> z = representPairs(layers, pairs, views_, concatenate_);
    const at::Tensor forth = predictor_.logits(parameters, z[0], noise);
    if (!both_ways_) {
      return forth;
    }
    const at::Tensor back = predictor_.logits(
        parameters, representTurned(layers, pairs, views_[0], concatenate_), noise);
    return (forth + back) / 2;
  }

  [[nodiscard]] at::Tensor scoreByDots(const LayerOutputs& layers,
                                       const std::shared_ptr<const PairIndex>& pairs) const {
    if (!both_ways_) {
      return viewDots(layers, pairs, views_)[0];
    }
    const std::array ways = {views_[0], LayerPair{views_[0].target, views_[0].source}};
    const std::vector<at::Tensor> dots = viewDots(layers, pairs, ways);
    return (dots[0] + dots[1]) / 2;
  }

  bool concatenate_;
  bool both_ways_;
  bool dot_;
  LossOptions loss_;
  std::vector<LayerPair> views_;
  Predictor predictor_;
};

}  // namespace

std::unique_ptr<Decoder> makeSingleViewDecoder(LayerPair view, const DecoderContext& context,
                                               ParameterLayout& layout) {
  return std::make_unique<SingleViewDecoder>(view, context, layout);
}

}  // namespace edgewise::detail
