#include <algorithm>
#include <cmath>
#include <memory>

#include "edgewise/ops/gradients.h"
#include "edgewise/ops/view_mixture.h"
#include "edgewise/training/link_trainer.h"
#include "edgewise/training/model_scorer.h"
#include "edgewise/training/stored_model.h"
#include "serving/pair_context.h"

namespace edgewise::detail {
namespace {

std::vector<double> valuesOf(const at::Tensor& tensor) {
  const at::Tensor values = tensor.detach().to(at::kDouble).reshape({-1}).contiguous();
  const auto* first = values.data_ptr<double>();
  return {first, first + values.numel()};
}

// A view for each score [views, 1], weighted by the softmax of all.
std::vector<ViewShare> softShares(const LinkModel& model, std::span<const LayerPair> views,
                                  const at::Tensor& scores, double temperature) {
  const std::vector<double> score = valuesOf(scores);
  const std::vector<double> weight = valuesOf(viewSoftmax(scores, temperature));
  std::vector<ViewShare> shares;
  shares.reserve(views.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    shares.push_back({.view = hopsOf(model, views[i]), .score = score[i], .weight = weight[i]});
  }
  return shares;
}

class ModelExplainer {
 public:
  ModelExplainer(const ServedRun& run, Edge pair)
      : run_(run),
        options_(run.stored.options),
        pairs_{pair},
        messages_(testMessages(run)),
        told_(describePair(run, pair, messages_)),
        model_(makeModel(run.dataset, options_)),
        weights_(readModel(run.stored.folder, model_,
                           {options_, run.stored.data_hash, run.stored.split_hash})),
        chooser_(chooserOf(model_, weights_, options_, run.dataset)),
        plan_(plan()),
        scorer_(model_, weights_.model, plan_, chooser_.get()) {}

  Explanation explain() {
    told_.selector = options_.network.selector.kind;
    told_.score = scorer_.score(pairs_, silentProgress()).front();
    told_.probability = 1 / (1 + std::exp(-told_.score));
    if (chooser_) {
      choice_ = scorer_.viewsOf(pairs_);
      if (choice_->perPair() == 1) {
        told_.view = hopsOf(model_, choice_->best(0));
      }
    }
    told_.views = shares();
    if (told_.views.size() == 1) {
      told_.view = told_.views.front().view;
    }
    lookAround();
    return std::move(told_);
  }

 private:
  [[nodiscard]] std::shared_ptr<const MessagePlan> plan() const {
    auto plan = planMessages(model_, run_.dataset, messages_, options_.network.edge_weights);
    return told_.left_out ? plan->without(pairs_) : plan;
  }

  [[nodiscard]] std::vector<ViewShare> shares() const {
    const WithoutGradients guard;
    if (model_.selector() != nullptr) {
      return selectorShares();
    }
    if (told_.view) {
      return chosenShare();
    }
    const std::vector<std::vector<double>> by_view = scorer_.scoreByView(pairs_);
    if (!by_view.empty()) {
      return averagedShares(by_view);
    }
    const at::Tensor mixture = model_.decoder().mixtureScores(weights_.model);
    return mixture.defined()
               ? softShares(model_, model_.decoder().views(), mixture.reshape({-1, 1}), 1)
               : fixedShares();
  }

  [[nodiscard]] std::vector<ViewShare> selectorShares() const {
    const ViewSelector& selector = *model_.selector();
    const LayerOutputs layers = model_.encode(weights_.search, plan_, Noise());
    const auto index = PairIndex::make(pairs_, model_.nodeCount());
    const at::Tensor scores = selector.scores(weights_.selector, layers, index);
    std::vector<ViewShare> shares =
        softShares(model_, selector.views(), scores, options_.network.selector.temperature);
    return told_.view ? shares : usedShares(std::move(shares));
  }

  // Where several views count, what each counts for in the score; the others for nothing.
  [[nodiscard]] std::vector<ViewShare> usedShares(std::vector<ViewShare> shares) const {
    for (ViewShare& share : shares) {
      share.weight = 0;
      for (std::size_t rank = 0; rank < choice_->perPair(); ++rank) {
        if (hopsOf(model_, choice_->views(0)[rank]) == share.view) {
          share.weight = static_cast<double>(choice_->weights(0)[rank]);
        }
      }
    }
    return shares;
  }

  // All the weight on one view, for a reason that lies not in the pair.
  [[nodiscard]] std::vector<ViewShare> chosenShare() const {
    std::vector<ViewShare> shares;
    for (const LayerPair& view : model_.decoder().views()) {
      const HopPair hops = hopsOf(model_, view);
      shares.push_back(
          {.view = hops, .score = std::nullopt, .weight = hops == told_.view ? 1. : 0.});
    }
    return shares;
  }

  [[nodiscard]] std::vector<ViewShare> averagedShares(
      const std::vector<std::vector<double>>& by_view) const {
    std::vector<ViewShare> shares;
    shares.reserve(by_view.size());
    for (std::size_t i = 0; i < by_view.size(); ++i) {
      shares.push_back({.view = hopsOf(model_, model_.decoder().views()[i]),
                        .score = by_view[i].front(),
                        .weight = 1 / static_cast<double>(by_view.size())});
    }
    return shares;
  }

  // One view; where pairs have no direction and the view has one, both ways are averaged.
  [[nodiscard]] std::vector<ViewShare> fixedShares() const {
    const HopPair view = hopsOf(model_, model_.decoder().views().front());
    if (view.source == view.target || hasOrderedPairs(run_.dataset)) {
      return {{.view = view, .score = told_.score, .weight = 1}};
    }
    const auto [low, high] = std::minmax(view.source, view.target);
    return {{.view = {low, high}, .score = std::nullopt, .weight = 0.5},
            {.view = {high, low}, .score = std::nullopt, .weight = 0.5}};
  }

  // How far the views that count look from each end.
  [[nodiscard]] HopPair reach() const {
    if (told_.view) {
      return *told_.view;
    }
    HopPair furthest;
    for (const ViewShare& share : told_.views) {
      if (share.weight > 0) {
        furthest.source = std::max(furthest.source, share.view.source);
        furthest.target = std::max(furthest.target, share.view.target);
      }
    }
    return furthest;
  }

  [[nodiscard]] std::vector<NodeId> surroundings(NodeId node, int hops, ExplainedEnd& end) const {
    std::vector<NodeId> nodes = nodesWithin(
        plan_->rows(), node,
        {.max_depth = static_cast<std::uint32_t>(hops),
         .without_edge = told_.left_out ? std::optional(pairs_.front()) : std::nullopt});
    end.degree = plan_->rows().degree(node) - plan_->masked(index(node)).size();
    end.hops = hops;
    end.nodes = nodes.size();
    return nodes;
  }

  void lookAround() {
    const HopPair hops = reach();
    const auto around_source = surroundings(pairs_.front().src, hops.source, told_.source);
    const auto around_target = surroundings(pairs_.front().dst, hops.target, told_.target);
    told_.nodes = countTogether(around_source, around_target);
  }

  const ServedRun& run_;
  const RunOptions& options_;
  std::vector<Edge> pairs_;
  MessageEdges messages_;
  Explanation told_;
  LinkModel model_;
  ModelWeights weights_;
  std::shared_ptr<const ViewChooser> chooser_;
  ViewChoice choice_;
  std::shared_ptr<const MessagePlan> plan_;
  ModelScorer scorer_;
};

}  // namespace

Explanation explainByModel(const ServedRun& run, Edge pair) {
  return ModelExplainer(run, pair).explain();
}

}  // namespace edgewise::detail
