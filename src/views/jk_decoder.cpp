#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include "edgewise/ops/rowwise.h"
#include "edgewise/ops/view_mixture.h"
#include "views/pair_representation.h"
#include "views/view_decoders.h"

namespace edgewise::detail {
namespace {

// One mixture of all views, learned and shared by all pairs; of undirected pairs (i, j) and (j, i)
// have the same share.
class JkDecoder final : public Decoder {
 public:
  JkDecoder(const DecoderContext& context, ParameterLayout& layout)
      : depth_(context.depth),
        concatenate_(context.predictor.concatenates()),
        both_ways_(context.symmetric && concatenate_),
        dot_(context.predictor.kind == "dot"),
        loss_(context.loss),
        views_(allViews(context.depth)),
        shares_(layout.add("mixture.scores", {tie(context.symmetric), 1}, Initial::constant(0))),
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
  // The sum over views of share * (h^i * h^j) is that over i of h^i * (the sum over j of share *
  // h^j).
  [[nodiscard]] std::optional<ScoreFactors> factors(const Parameters& parameters,
                                                    const LayerOutputs& layers) const override {
    if (!dot_) {
      return std::nullopt;
    }
    const at::Tensor shares = viewSoftmax(mixtureScores(parameters).reshape({-1, 1}), 1);
    std::vector<at::Tensor> targets;
    for (std::size_t i = 0; i < depth_; ++i) {
      at::Tensor sum;
      for (std::size_t j = 0; j < depth_; ++j) {
        const at::Tensor part =
            layers[j] * shares.narrow(0, static_cast<std::int64_t>(i * depth_ + j), 1);
        sum = j == 0 ? part : sum + part;
      }
      targets.push_back(sum);
    }
    return ScoreFactors{at::cat(layers, 1), at::cat(targets, 1)};
  }
  [[nodiscard]] at::Tensor mixtureScores(const Parameters& parameters) const override {
    std::vector<at::Tensor> scores;
    for (const std::int64_t share : share_of_) {
      scores.push_back(parameters[shares_].narrow(0, share, 1));
    }
    return at::cat(scores, 0).reshape({-1});
  }
  [[nodiscard]] std::vector<ScoreTerm> scoreTerms(const Parameters& parameters) const override {
    if (concatenate_) {
      return {};
    }
    const at::Tensor shares = viewSoftmax(mixtureScores(parameters).reshape({-1, 1}), 1)
                                  .to(at::kCPU, at::kDouble)
                                  .contiguous();
    ScoreTerm term{1, predictor_.forTiles(parameters), {}};
    for (std::size_t i = 0; i < views_.size(); ++i) {
      term.views.push_back({views_[i], shares.data_ptr<double>()[i]});
    }
    return {term};
  }
  [[nodiscard]] std::size_t depth() const override { return depth_; }
  [[nodiscard]] std::span<const LayerPair> views() const override { return views_; }

 private:
  // Numbers the shares: the same for a view and its mirror image when pairs have no direction.
  std::int64_t tie(bool symmetric) {
    std::int64_t count = 0;
    share_of_.resize(views_.size());
    for (std::size_t i = 0; i < views_.size(); ++i) {
      const LayerPair view = views_[i];
      share_of_[i] = symmetric && view.source > view.target
                         ? share_of_[view.target * depth_ + view.source]
                         : count++;
    }
    return count;
  }

  [[nodiscard]] at::Tensor score(const Parameters& parameters, const LayerOutputs& layers,
                                 const std::shared_ptr<const PairIndex>& pairs,
                                 const Noise& noise) const {
    const at::Tensor forth = scoreOneWay(parameters, layers, pairs, noise);
    if (!both_ways_) {
      return forth;
    }
    return (forth + scoreOneWay(parameters, layers, turned(*pairs), noise)) / 2;
  }

  [[nodiscard]] at::Tensor scoreOneWay(const Parameters& parameters, const LayerOutputs& layers,
                                       const std::shared_ptr<const PairIndex>& pairs,
                                       const Noise& noise) const {
    const at::Tensor shares = viewSoftmax(mixtureScores(parameters).reshape({-1, 1}), 1);
    const at::Tensor weights =
        expandColumns(shares.reshape({-1}), static_cast<std::int64_t>(pairs->size()));
    if (dot_) {
      return mixedDots(layers, pairs, views_, weights);
    }
    const std::vector<at::Tensor> z = representPairs(layers, pairs, views_, concatenate_);
    return predictor_.logits(parameters, mixViews(z, weights), noise);
  }

  std::size_t depth_;
  bool concatenate_;
  bool both_ways_;
  bool dot_;
  LossOptions loss_;
  std::vector<LayerPair> views_;
  std::vector<std::int64_t> share_of_;
  ParameterId shares_;
  Predictor predictor_;
};

}  // namespace

std::unique_ptr<Decoder> makeJkDecoder(const DecoderContext& context, ParameterLayout& layout) {
  return std::make_unique<JkDecoder>(context, layout);
}

}  // namespace edgewise::detail
