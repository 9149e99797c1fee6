#include <algorithm>
#include <memory>

#include "edgewise/ops/gradients.h"
#include "edgewise/training/link_trainer.h"
#include "edgewise/training/model_scorer.h"
#include "edgewise/training/stored_model.h"
#include "serving/pair_context.h"
#include "serving/view_shares.h"

namespace edgewise::detail {
namespace {

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
        all_messages_(planMessages(model_, run.dataset, messages_, options_.network.edge_weights)),
        plan_(told_.left_out ? all_messages_->without(pairs_) : all_messages_),
        scorer_(model_, weights_.model, plan_, chooser_.get()) {}

  Explanation explain(const NeighbourTrial& trial) {
    told_.selector = options_.network.selector.kind;
    told_.score = scorer_.score(pairs_, silentProgress()).front();
    if (chooser_) {
      choice_ = scorer_.viewsOf(pairs_);
      if (choice_->perPair() == 1) {
        told_.view = hopsOf(choice_->best(0), model_.encoder().firstHops());
      }
      if (const at::Tensor bonus = choice_->bonus(at::kDouble); bonus.defined()) {
        told_.by_degrees = bonus.item<double>();
      }
    }
    told_.views = shares();
    if (told_.views.size() == 1) {
      told_.view = told_.views.front().view;
    }
    lookAround(plan_->rows(), pairs_.front(), told_.left_out, told_);
    told_.neighbours = trial.run(told_, workOfEncoding(), [&](std::span<const Edge> hidden) {
      const ModelScorer scorer(model_, weights_.model, all_messages_->without(hidden),
                               chooser_.get());
      return scorer.score(pairs_, silentProgress()).front();
    });
    return std::move(told_);
  }

 private:
  // All nodes are encoded, for a selector's choice once more.
  [[nodiscard]] double workOfEncoding() const {
    const EncoderOptions& encoder = options_.network.encoder;
    const auto width = static_cast<double>(encoder.hidden);
    const double once = static_cast<double>(model_.nodeCount()) *
                        static_cast<double>(encoder.layers) * width * width;
    return chooser_ ? 2 * once : once;
  }

  [[nodiscard]] std::vector<ViewShare> shares() const {
    const WithoutGradients guard;
    const int first_hops = model_.encoder().firstHops();
    if (model_.selector() != nullptr) {
      return selectorShares();
    }
    if (told_.view) {
      return oneShare(model_.decoder().views(), first_hops, *told_.view);
    }
    const std::vector<std::vector<double>> by_view = scorer_.scoreByView(pairs_);
    if (!by_view.empty()) {
      return averagedShares(by_view);
    }
    const at::Tensor mixture = model_.decoder().mixtureScores(weights_.model);
    return mixture.defined()
               ? softShares(model_.decoder().views(), first_hops, mixture.reshape({-1, 1}), 1)
               : fixedShares(hopsOf(model_.decoder().views().front(), first_hops),
                             run_.dataset.hasOrderedPairs(), told_.score);
  }

  [[nodiscard]] std::vector<ViewShare> selectorShares() const {
    std::vector<ViewShare> shares = detail::selectorShares(model_, weights_, plan_, pairs_.front(),
                                                           options_.network.selector.temperature);
    return told_.view ? shares
                      : usedShares(std::move(shares), *choice_, model_.encoder().firstHops());
  }

  [[nodiscard]] std::vector<ViewShare> averagedShares(
      const std::vector<std::vector<double>>& by_view) const {
    std::vector<ViewShare> shares;
    shares.reserve(by_view.size());
    for (std::size_t i = 0; i < by_view.size(); ++i) {
      shares.push_back({.view = hopsOf(model_.decoder().views()[i], model_.encoder().firstHops()),
                        .score = by_view[i].front(),
                        .weight = 1 / static_cast<double>(by_view.size())});
    }
    return shares;
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
  std::shared_ptr<const MessagePlan> all_messages_;
  // Without the pair's own edge.
  std::shared_ptr<const MessagePlan> plan_;
  ModelScorer scorer_;
};

}  // namespace

Explanation explainByModel(const ServedRun& run, Edge pair, const NeighbourTrial& trial) {
  return ModelExplainer(run, pair).explain(trial);
}

}  // namespace edgewise::detail
