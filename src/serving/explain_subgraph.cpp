#include <algorithm>
#include <memory>

#include "edgewise/ops/gradients.h"
#include "edgewise/sampling/enclosing_subgraph.h"
#include "edgewise/training/link_trainer.h"
#include "edgewise/training/pair_model.h"
#include "edgewise/training/stored_model.h"
#include "edgewise/training/subgraph_trainer.h"
#include "serving/pair_context.h"
#include "serving/view_shares.h"

namespace edgewise::detail {
namespace {

// How nodes are labelled and hops thinned out where the model does not say.
ExtractionOptions extractionOf(const RunOptions& options) {
  return readsSubgraphs(options)
             ? options.subgraph.extraction(static_cast<std::uint64_t>(options.seed))
             : ExtractionOptions();
}

std::optional<int> distanceOf(std::uint32_t label, std::uint32_t beyond) {
  return label < beyond ? std::optional(static_cast<int>(label)) : std::nullopt;
}

std::optional<double> changeOf(NodeId node, const Explanation& explanation) {
  if (!explanation.neighbours) {
    return std::nullopt;
  }
  const std::vector<NeighbourChange>& most = explanation.neighbours->most;
  const auto found = std::ranges::find(most, node, &NeighbourChange::node);
  return found == most.end() ? std::nullopt : std::optional(found->change);
}

std::vector<std::pair<std::size_t, std::size_t>> edgesOf(const CsrGraph& graph) {
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  for (std::uint32_t node = 0; node < graph.nodeCount(); ++node) {
    for (const NodeId other : graph.neighbours(NodeId{node})) {
      if (node < index(other)) {
        edges.emplace_back(node, index(other));
      }
    }
  }
  return edges;
}

class EnclosingExplainer {
 public:
  EnclosingExplainer(const ServedRun& run, Edge pair)
      : run_(run),
        options_(run.stored.options),
        pair_{pair},
        messages_(testMessages(run)),
        told_(describePair(run, pair, messages_)),
        model_(makePairModel(run.dataset, run.split, options_)),
        weights_(readModel(run.stored.folder, *model_,
                           {options_, run.stored.data_hash, run.stored.split_hash})),
        chooser_(chooserOf(*model_, weights_, options_, run.dataset)),
        scorer_(model_->scorer(
            weights_.model, messages_, chooser_.get(),
            told_.left_out ? std::span<const Edge>(pair_) : std::span<const Edge>())) {}

  Explanation explain(const NeighbourTrial& trial) {
    const WithoutGradients guard;
    told_.selector = options_.network.selector.kind;
    told_.score = scorer_->score(pair_, silentProgress()).front();
    told_.views = shares();
    if (told_.views.size() == 1) {
      told_.view = told_.views.front().view;
    }
    // A pair is cut out without its own edge, whatever carries.
    lookAround(subgraphMessages(run_.dataset, messages_), pair_.front(), true, told_);
    told_.neighbours = trial.run(told_, 0, [&](std::span<const Edge> hidden) {
      return model_->scorer(weights_.model, messages_, chooser_.get(), hidden)
          ->score(pair_, silentProgress())
          .front();
    });
    return std::move(told_);
  }

 private:
  [[nodiscard]] std::vector<ViewShare> shares() {
    if (const ViewChoice choice = scorer_->viewsOf(pair_)) {
      const HopPair best = hopsOf(choice->best(0), model_->firstHops());
      if (choice->perPair() == 1) {
        told_.view = best;
      }
      if (const LinkModel* searched = model_->searched()) {
        std::vector<ViewShare> shares =
            selectorShares(*searched, weights_, plan(*searched), pair_.front(),
                           options_.network.selector.temperature);
        return told_.view ? shares : usedShares(std::move(shares), *choice, model_->firstHops());
      }
      return oneShare(allViews(model_->depth()), model_->firstHops(), best);
    }
    const auto last = static_cast<std::uint32_t>(model_->depth() - 1);
    const auto fixed = fixedView(options_.network.selector.kind, model_->firstHops());
    return fixedShares(hopsOf(fixed.value_or(LayerPair{last, last}), model_->firstHops()),
                       run_.dataset.hasOrderedPairs(), told_.score);
  }

  [[nodiscard]] std::shared_ptr<const MessagePlan> plan(const LinkModel& searched) const {
    auto plan = planMessages(searched, run_.dataset, messages_, options_.network.edge_weights);
    return told_.left_out ? plan->without(pair_) : plan;
  }

  const ServedRun& run_;
  const RunOptions& options_;
  std::vector<Edge> pair_;
  MessageEdges messages_;
  Explanation told_;
  std::unique_ptr<PairModel> model_;
  ModelWeights weights_;
  std::shared_ptr<const ViewChooser> chooser_;
  std::unique_ptr<ViewScorer> scorer_;
};

}  // namespace

Explanation explainByEnclosing(const ServedRun& run, Edge pair, const NeighbourTrial& trial) {
  return EnclosingExplainer(run, pair).explain(trial);
}

std::optional<ExplainedSubgraph> subgraphAround(const ServedRun& run, Edge pair,
                                                const Explanation& explanation) {
  if (!explanation.source.hops || !explanation.target.hops) {
    return std::nullopt;
  }
  const CsrGraph graph = subgraphMessages(run.dataset, testMessages(run));
  const std::vector<Edge> pairs = {pair};
  const HopView view{static_cast<std::uint32_t>(*explanation.source.hops),
                     static_cast<std::uint32_t>(*explanation.target.hops)};
  ExtractionOptions options = extractionOf(run.stored.options);
  const SubgraphBatch labelled = SubgraphExtractor(graph, options).extract(pairs, view);
  const std::string labelling(labellingName(options.labels.labelling));
  options.labels = {.labelling = NodeLabelling::kDistances,
                    .max_distance = static_cast<std::uint32_t>(graph.nodeCount())};
  const SubgraphBatch distances = SubgraphExtractor(graph, options).extract(pairs, view);
  ExplainedSubgraph result{.labelling = labelling, .nodes = {}, .edges = edgesOf(labelled.graph)};
  for (std::size_t node = 0; node < labelled.nodes.size(); ++node) {
    const auto label =
        std::span(labelled.labels).subspan(node * labelled.label_width, labelled.label_width);
    const std::uint32_t beyond = options.labels.max_distance + 1;
    result.nodes.push_back({.id = run.dataset.nodeLabel(labelled.nodes[node]),
                            .label = {label.begin(), label.end()},
                            .from_source = distanceOf(distances.labels[2 * node], beyond),
                            .from_target = distanceOf(distances.labels[2 * node + 1], beyond),
                            .change = changeOf(labelled.nodes[node], explanation)});
  }
  return result;
}

}  // namespace edgewise::detail
