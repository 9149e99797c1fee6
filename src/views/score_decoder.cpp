#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <fmt/format.h>

#include <algorithm>

#include "edgewise/ops/rowwise.h"
#include "edgewise/util/error.h"
#include "views/pair_representation.h"
#include "views/view_decoders.h"

namespace edgewise::detail {
namespace {

// Every view has a predictor of its own and is supervised by itself; the score is the mean of all,
// or of those chosen for the pair. Views (i, j) and (j, i) of undirected pairs share a predictor,
// so that both ways score the same.
class ScoreDecoder final : public Decoder {
 public:
  ScoreDecoder(const SelectorOptions& options, const DecoderContext& context,
               ParameterLayout& layout)
      : view_loss_(options.view_loss),
        chooses_(options.kind != "mean"),
        depth_(context.depth),
        symmetric_(context.symmetric),
        concatenate_(context.predictor.concatenates()),
        dot_(context.predictor.kind == "dot"),
        loss_(context.loss),
        views_(allViews(context.depth)) {
    const auto depthOf = [&](std::uint32_t layer) {
      return static_cast<int>(layer) + context.first_hops;
    };
    for (const LayerPair& view : views_) {
      if (symmetric_ && view.source > view.target) {
        continue;
      }
      heads_.push_back(
          {.view = view,
           .predictor =
               Predictor(fmt::format("predictor.{}_{}", depthOf(view.source), depthOf(view.target)),
                         context.predictor, context.width, context.dropout, layout)});
    }
  }

  [[nodiscard]] at::Tensor loss(const Parameters& parameters, const LayerOutputs& layers,
                                const PairBatch& batch, const Noise& noise) const override {
    const std::vector<at::Tensor> scores = scoreViews(parameters, layers, batch.pairs, noise);
    return bothLosses(scores, batch.choice ? mixed(scores, batch.choice) : meanOf(scores), batch);
  }
  [[nodiscard]] at::Tensor mixtureLoss(const Parameters& parameters, const LayerOutputs& layers,
                                       const PairBatch& batch, const ViewMixture& views,
                                       const Noise& noise) const override {
    const std::vector<at::Tensor> scores = scoreViews(parameters, layers, batch.pairs, noise);
    const at::Tensor all =
        views.shares.defined() ? columnSum(at::stack(scores, 0) * views.shares) : meanOf(scores);
    return bothLosses(scores, views.rewarded(all), batch);
  }
  using Decoder::logits;
  [[nodiscard]] at::Tensor logits(const Parameters& parameters, const LayerOutputs& layers,
                                  const std::shared_ptr<const PairIndex>& pairs,
                                  const ViewChoice& choice) const override {
    const at::Tensor scores = mixed(scoreViews(parameters, layers, pairs, Noise()), choice);
    return chooses_ ? choice->rewarded(scores) : scores;
  }
  // The mean of all products of layers is the product of their means.
  [[nodiscard]] std::optional<ScoreFactors> factors(const Parameters&,
                                                    const LayerOutputs& layers) const override {
    if (!dot_ || chooses_) {
      return std::nullopt;
    }
    const at::Tensor centre = meanOf(layers);
    return ScoreFactors{centre, centre};
  }
  [[nodiscard]] bool choosesViews() const override { return chooses_; }
  [[nodiscard]] std::vector<at::Tensor> logitsByView(
      const Parameters& parameters, const LayerOutputs& layers,
      const std::shared_ptr<const PairIndex>& pairs) const override {
    return scoreViews(parameters, layers, pairs, Noise());
  }
  [[nodiscard]] std::vector<ScoreTerm> scoreTerms(const Parameters& parameters) const override {
    if (concatenate_ || chooses_) {
      return {};
    }
    std::vector<ScoreTerm> terms;
    for (const Head& head : heads_) {
      const LayerPair back{head.view.target, head.view.source};
      terms.push_back({1 / static_cast<double>(views_.size()),
                       head.predictor.forTiles(parameters),
                       {{head.view, 1}}});
      if (symmetric_ && back != head.view) {
        terms.push_back(terms.back());
        terms.back().views = {{back, 1}};
      }
    }
    return terms;
  }
  [[nodiscard]] std::size_t depth() const override { return depth_; }
  [[nodiscard]] std::span<const LayerPair> views() const override { return views_; }

 private:
  struct Head {
    LayerPair view;
    Predictor predictor;
  };

  // Each view's own loss and that of all together, by their shares.
  [[nodiscard]] at::Tensor bothLosses(std::span<const at::Tensor> scores,
                                      const at::Tensor& together, const PairBatch& batch) const {
    at::Tensor each;
    for (std::size_t i = 0; i < scores.size() && view_loss_ > 0; ++i) {
      const at::Tensor one = pairLoss(loss_, scores[i], batch);
      each = i == 0 ? one : each + one;
    }
    if (view_loss_ == 1) {
      return each / static_cast<double>(scores.size());
    }
    const at::Tensor all = pairLoss(loss_, together, batch);
    if (!each.defined()) {
      return all;
    }
    return each * (view_loss_ / static_cast<double>(scores.size())) + all * (1 - view_loss_);
  }

  [[nodiscard]] at::Tensor mixed(std::span<const at::Tensor> scores,
                                 const ViewChoice& choice) const {
    if (!chooses_) {
      return meanOf(scores);
    }
    invariant(choice != nullptr, "a decoder of chosen views was given no choice");
    const at::Tensor all = at::stack(at::TensorList(scores.data(), scores.size()), 0);
    return columnSum(all * choice->shares(depth_, all.options()));
  }

  [[nodiscard]] std::size_t placeOf(LayerPair view) const {
    return view.source * depth_ + view.target;
  }

  // In the order of views_. A predictor that serves two views sees both at once.
  [[nodiscard]] std::vector<at::Tensor> scoreViews(const Parameters& parameters,
                                                   const LayerOutputs& layers,
                                                   const std::shared_ptr<const PairIndex>& pairs,
                                                   const Noise& noise) const {
    if (dot_) {
      return bothWays(viewDots(layers, pairs, views_));
    }
    const std::vector<at::Tensor> z = representPairs(layers, pairs, views_, concatenate_);
    std::vector<at::Tensor> scores(views_.size());
    for (const Head& head : heads_) {
      const LayerPair back{head.view.target, head.view.source};
      at::Tensor& forth = scores[placeOf(head.view)];
      if (!symmetric_ || (back == head.view && !concatenate_)) {
        forth = head.predictor.logits(parameters, z[placeOf(head.view)], noise);
        continue;
      }
      forth = bothWays(parameters, head, layers, pairs, z, noise);
      scores[placeOf(back)] = forth;
    }
    return scores;
  }

  // A view and its mirror image carry the same two scores with ends exchanged; their mean stands
  // for both.
  [[nodiscard]] std::vector<at::Tensor> bothWays(std::vector<at::Tensor> scores) const {
    for (const Head& head : heads_) {
      const LayerPair back{head.view.target, head.view.source};
      if (symmetric_ && back != head.view) {
        at::Tensor& forth = scores[placeOf(head.view)];
        forth = (forth + scores[placeOf(back)]) / 2;
        scores[placeOf(back)] = forth;
      }
    }
    return scores;
  }

  // The same of one view, from its own scores with ends as they are and exchanged.
  [[nodiscard]] at::Tensor bothWays(const Parameters& parameters, const Head& head,
                                    const LayerOutputs& layers,
                                    const std::shared_ptr<const PairIndex>& pairs,
                                    std::span<const at::Tensor> z, const Noise& noise) const {
    const LayerPair back{head.view.target, head.view.source};
    const at::Tensor turned =
        concatenate_ ? representTurned(layers, pairs, head.view, true) : z[placeOf(back)];
    const auto count = static_cast<std::int64_t>(pairs->size());
    const at::Tensor both =
        head.predictor.logits(parameters, at::cat({z[placeOf(head.view)], turned}, 0), noise);
    return (both.narrow(0, 0, count) + both.narrow(0, count, count)) / 2;
  }

  double view_loss_;
  bool chooses_;
  std::size_t depth_;
  bool symmetric_;
  bool concatenate_;
  bool dot_;
  LossOptions loss_;
  std::vector<LayerPair> views_;
  std::vector<Head> heads_;
};

}  // namespace

std::unique_ptr<Decoder> makeScoreDecoder(const SelectorOptions& options,
                                          const DecoderContext& context, ParameterLayout& layout) {
  return std::make_unique<ScoreDecoder>(options, context, layout);
}

}  // namespace edgewise::detail
