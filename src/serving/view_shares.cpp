#include "serving/view_shares.h"

#include <algorithm>

#include "edgewise/ops/view_mixture.h"
#include "edgewise/training/model_scorer.h"

namespace edgewise::detail {
namespace {

std::vector<double> valuesOf(const at::Tensor& tensor) {
  const at::Tensor values = tensor.detach().to(at::kDouble).reshape({-1}).contiguous();
  const auto* first = values.data_ptr<double>();
  return {first, first + values.numel()};
}

}  // namespace

std::vector<ViewShare> softShares(std::span<const LayerPair> views, int first_hops,
                                  const at::Tensor& scores, double temperature) {
  const std::vector<double> score = valuesOf(scores);
  const std::vector<double> weight = valuesOf(viewSoftmax(scores, temperature));
  std::vector<ViewShare> shares;
  shares.reserve(views.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    shares.push_back(
        {.view = hopsOf(views[i], first_hops), .score = score[i], .weight = weight[i]});
  }
  return shares;
}

std::vector<ViewShare> selectorShares(const LinkModel& model, const ModelWeights& weights,
                                      const std::shared_ptr<const MessagePlan>& messages, Edge pair,
                                      double temperature) {
  const ViewSelector& selector = *model.selector();
  const std::vector<Edge> pairs = {pair};
  const EncodedPairs encoded = model.encodeJudged(
      weights.search, messages, PairIndex::make(pairs, model.nodeCount()), Noise());
  return softShares(selector.views(), model.encoder().firstHops(),
                    selector.judge(weights.selector, encoded).scores, temperature);
}

std::vector<ViewShare> usedShares(std::vector<ViewShare> shares, const ViewChoices& choice,
                                  int first_hops) {
  for (ViewShare& share : shares) {
    share.weight = 0;
    for (std::size_t rank = 0; rank < choice.perPair(); ++rank) {
      if (hopsOf(choice.views(0)[rank], first_hops) == share.view) {
        share.weight = static_cast<double>(choice.weights(0)[rank]);
      }
    }
  }
  return shares;
}

std::vector<ViewShare> oneShare(std::span<const LayerPair> views, int first_hops, HopPair chosen) {
  std::vector<ViewShare> shares;
  for (const LayerPair& view : views) {
    const HopPair hops = hopsOf(view, first_hops);
    shares.push_back({.view = hops, .score = std::nullopt, .weight = hops == chosen ? 1. : 0.});
  }
  return shares;
}

std::vector<ViewShare> fixedShares(HopPair view, bool directed, double score) {
  if (view.source == view.target || directed) {
    return {{.view = view, .score = score, .weight = 1}};
  }
  const auto [low, high] = std::minmax(view.source, view.target);
  return {{.view = {low, high}, .score = std::nullopt, .weight = 0.5},
          {.view = {high, low}, .score = std::nullopt, .weight = 0.5}};
}

}  // namespace edgewise::detail
