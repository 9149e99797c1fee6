#include "edgewise/training/pair_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "edgewise/training/stored_model.h"
#include "edgewise/training/subgraph_scorer.h"
#include "edgewise/training/subgraph_trainer.h"
#include "edgewise/util/error.h"

namespace edgewise {
namespace {

class WholeGraphModel final : public PairModel {
 public:
  WholeGraphModel(const Dataset& dataset, const RunOptions& options)
      : dataset_(dataset), options_(options), model_(makeModel(dataset, options)) {}

  [[nodiscard]] const ParameterLayout& layout() const override { return model_.layout(); }
  [[nodiscard]] const std::string& inputText() const override { return model_.inputText(); }
  [[nodiscard]] std::size_t depth() const override { return model_.encoder().depth(); }
  [[nodiscard]] int firstHops() const override { return model_.encoder().firstHops(); }
  [[nodiscard]] std::span<const LayerPair> viewsApart() const override {
    return model_.decoder().views();
  }
  [[nodiscard]] bool choosesViews() const override { return model_.decoder().choosesViews(); }
  [[nodiscard]] const LinkModel* searched() const override {
    return model_.selector() != nullptr ? &model_ : nullptr;
  }
  [[nodiscard]] bool goesOnFromSearch() const override { return true; }

  [[nodiscard]] std::unique_ptr<PhaseTrainer> trainer(const TrainingEdges& training,
                                                      TrainerSetup setup) const override {
    return std::make_unique<LinkTrainer>(model_, dataset_, training, std::move(setup));
  }
  [[nodiscard]] std::unique_ptr<ViewScorer> scorer(const Parameters& parameters,
                                                   const MessageEdges& messages,
                                                   const ViewChooser* chooser,
                                                   std::span<const Edge> hidden) const override {
    auto plan = planMessages(model_, dataset_, messages, options_.network.edge_weights);
    return std::make_unique<ModelScorer>(model_, parameters,
                                         hidden.empty() ? plan : plan->without(hidden), chooser);
  }

 private:
  const Dataset& dataset_;
  const RunOptions& options_;
  LinkModel model_;
};

int firstHopsOf(const RunOptions& options) {
  return static_cast<int>(options.network.encoder.first_depth);
}

HopView nearestView(const RunOptions& options) {
  const auto first = static_cast<std::uint32_t>(firstHopsOf(options));
  return {first, first};
}

NodeSide nodesOf(const Dataset& dataset) {
  return {dataset.features, dataset.node_count, dataset.hasOrderedPairs()};
}

// The encoder by which views are searched for SEAL, as in the paper: it is far cheaper than cutting
// out every view of every pair.
std::unique_ptr<LinkModel> searchedModel(const Dataset& dataset, const RunOptions& options) {
  if (!options.network.selector.searches()) {
    return nullptr;
  }
  ModelOptions network = options.network;
  network.encoder.layers = options.subgraph.hops;
  network.features = network.features == "none" ? "auto" : network.features;
  return std::make_unique<LinkModel>("gae", network, nodesOf(dataset));
}

void checkSelector(const RunOptions& options) {
  EncoderOptions depths = options.network.encoder;
  depths.layers = options.subgraph.hops;
  depths.checkDepths();
  const SelectorOptions& selector = options.network.selector;
  if (const auto view = fixedView(selector.kind, firstHopsOf(options))) {
    if (std::max(view->source, view->target) >= viewDepth(options)) {
      throw ConfigError(fmt::format("selector.kind: {} looks further than seal.hops={}",
                                    selector.kind, options.subgraph.hops),
                        "raise seal.hops, or choose a view within them");
    }
    return;
  }
  if (selector.kind != "none" && !selector.choosesByPair()) {
    throw ConfigError(
        fmt::format("selector.kind: seal cuts out views by pair, which '{}' does not name",
                    selector.kind),
        "use none, fixed:I,J, rs, ps2 or oracle");
  }
  if (selector.joins()) {
    throw ConfigError(fmt::format("selector.apply={}: seal is not the model that searches for its "
                                  "views",
                                  selector.apply),
                      "set selector.apply=scratch");
  }
  if (selector.searches() && selector.degrees == "views+score") {
    throw ConfigError("selector.degrees=views+score: seal's scores are its own",
                      "set selector.degrees=views");
  }
}

PairSight sightOf(const Dataset& dataset, const RunOptions& options) {
  const auto hops = static_cast<std::uint32_t>(options.subgraph.hops);
  const auto fixed = fixedView(options.network.selector.kind, firstHopsOf(options));
  return {.view = fixed ? hopView(nearestView(options), *fixed) : HopView{hops, hops},
          .nearest = nearestView(options),
          .symmetric = !dataset.hasOrderedPairs()};
}

// Training pairs whose subgraphs tell how many nodes there are: links, and as many pairs of ends of
// different links.
std::vector<Edge> sampledPairs(std::span<const Edge> links, std::size_t most) {
  const std::size_t stride = std::max<std::size_t>(1, links.size() / (most / 2));
  std::vector<Edge> pairs;
  for (std::size_t i = 0; i < links.size() && pairs.size() < most; i += stride) {
    pairs.push_back(links[i]);
    const Edge other{links[i].src, links[(i + links.size() / 2) % links.size()].dst};
    if (other.src != other.dst) {
      pairs.push_back(other);
    }
  }
  return pairs;
}

// Where every pair comes with a view of its own, all views count the same.
std::vector<HopView> sampledViews(std::size_t count, const RunOptions& options, HopView view) {
  std::vector<HopView> views(count, view);
  if (options.network.selector.choosesByPair()) {
    const auto depth = static_cast<std::uint32_t>(viewDepth(options));
    for (std::uint32_t i = 0; i < count; ++i) {
      views[i] = hopView(nearestView(options), {i % depth, (i / depth) % depth});
    }
  }
  return views;
}

std::int64_t sortedNodesFor(const Dataset& dataset, const LinkSplit& split,
                            const RunOptions& options) {
  const DgcnnOptions& network = options.subgraph.network;
  if (network.sort_nodes > 0) {
    return network.sort_nodes;
  }
  const TrainingEdges training = trainingEdges(split, options.split.message_at_train);
  return sortedNodes(
      sampledSubgraphs(dataset, training.message, training.supervision.table.edges, options).nodes,
      network.sort_share);
}

class EnclosingModel final : public PairModel {
 public:
  EnclosingModel(const Dataset& dataset, const RunOptions& options, std::int64_t sorted)
      : dataset_(dataset),
        options_(options),
        model_(options.subgraph, options.network, nodesOf(dataset), sorted),
        searched_(searchedModel(dataset, options)),
        sight_(sightOf(dataset, options)) {
    checkSelector(options);
  }

  [[nodiscard]] const ParameterLayout& layout() const override { return model_.layout(); }
  [[nodiscard]] const std::string& inputText() const override { return model_.inputText(); }
  [[nodiscard]] std::size_t depth() const override { return viewDepth(options_); }
  [[nodiscard]] int firstHops() const override { return firstHopsOf(options_); }
  [[nodiscard]] std::span<const LayerPair> viewsApart() const override { return {}; }
  [[nodiscard]] bool choosesViews() const override {
    return options_.network.selector.choosesByPair();
  }
  [[nodiscard]] const LinkModel* searched() const override { return searched_.get(); }
  [[nodiscard]] bool goesOnFromSearch() const override { return false; }

  [[nodiscard]] std::unique_ptr<PhaseTrainer> trainer(const TrainingEdges& training,
                                                      TrainerSetup setup) const override {
    SubgraphSetup own{.trainer = std::move(setup), .subgraphs = options_.subgraph, .sight = sight_};
    own.messages = plan(training.message);
    own.valid_messages =
        training.revealed_at_valid.table.empty() ? own.messages : plan(messagesAtValid(training));
    return std::make_unique<SubgraphTrainer>(model_, dataset_, training, std::move(own));
  }

  [[nodiscard]] std::unique_ptr<ViewScorer> scorer(const Parameters& parameters,
                                                   const MessageEdges& messages,
                                                   const ViewChooser* chooser,
                                                   std::span<const Edge> hidden) const override {
    MessageEdges shown = messages;
    if (!hidden.empty()) {
      // A pair's own edge is never shown, but the selector would look at it.
      const EdgeSet gone = EdgeSet::fromEdges(hidden);
      std::vector<std::size_t> rows;
      for (std::size_t row = 0; row < messages.table.size(); ++row) {
        if (!gone.contains(messages.table.edges[row])) {
          rows.push_back(row);
        }
      }
      shown.table = messages.table.select(rows);
    }
    const TrainingOptions& training = options_.training;
    SubgraphScorer::Sight sight{
        .pairs = sight_,
        .chooser = chooser != nullptr ? chooser->on(plan(shown)) : nullptr,
        .batch = static_cast<std::size_t>(training.batch_size * (1 + training.negatives))};
    return std::make_unique<SubgraphScorer>(
        model_, parameters,
        std::make_shared<const SubgraphCutter>(
            model_, subgraphMessages(dataset_, shown),
            options_.subgraph.extraction(static_cast<std::uint64_t>(options_.seed))),
        std::move(sight));
  }

 private:
  // For a selector to look through.
  [[nodiscard]] std::shared_ptr<const MessagePlan> plan(const MessageEdges& messages) const {
    return searched_ ? planMessages(*searched_, dataset_, messages, options_.network.edge_weights)
                     : nullptr;
  }

  const Dataset& dataset_;
  const RunOptions& options_;
  SubgraphModel model_;
  std::unique_ptr<LinkModel> searched_;
  PairSight sight_;
};

}  // namespace

bool readsSubgraphs(const RunOptions& options) { return options.model == "seal"; }

SubgraphSample sampledSubgraphs(const Dataset& dataset, const MessageEdges& messages,
                                std::span<const Edge> links, const RunOptions& options,
                                const SampleBudget& budget) {
  checkSelector(options);
  const CsrGraph graph = subgraphMessages(dataset, messages);
  ExtractionOptions extraction =
      options.subgraph.extraction(static_cast<std::uint64_t>(options.seed));
  extraction.store = {};
  const SubgraphExtractor extractor(graph, extraction);
  const std::vector<Edge> pairs = sampledPairs(links, budget.pairs);
  const std::vector<HopView> views =
      sampledViews(pairs.size(), options, sightOf(dataset, options).view);
  SubgraphSample sample;
  for (std::size_t begin = 0; begin < pairs.size() && sample.entries <= budget.entries;
       begin += budget.at_once) {
    const std::size_t size = std::min(budget.at_once, pairs.size() - begin);
    const SubgraphBatch batch = extractor.extract(std::span(pairs).subspan(begin, size),
                                                  std::span(views).subspan(begin, size));
    for (std::size_t pair = 0; pair < size; ++pair) {
      sample.nodes.push_back(batch.nodeCount(pair));
    }
    sample.entries += batch.graph.entryCount();
  }
  return sample;
}

std::size_t viewDepth(const RunOptions& options) {
  const std::int64_t last =
      readsSubgraphs(options) ? options.subgraph.hops : options.network.encoder.layers;
  return static_cast<std::size_t>(last - options.network.encoder.first_depth + 1);
}

std::unique_ptr<PairModel> makePairModel(const Dataset& dataset, const LinkSplit& split,
                                         const RunOptions& options) {
  if (!readsSubgraphs(options)) {
    return std::make_unique<WholeGraphModel>(dataset, options);
  }
  checkSelector(options);
  return std::make_unique<EnclosingModel>(dataset, options,
                                          sortedNodesFor(dataset, split, options));
}

void checkPairModel(const Dataset& dataset, const RunOptions& options) {
  if (!readsSubgraphs(options)) {
    const WholeGraphModel model(dataset, options);
    return;
  }
  checkSelector(options);
  const std::int64_t asked = options.subgraph.network.sort_nodes;
  const EnclosingModel model(dataset, options, asked > 0 ? asked : kFewestSortedNodes);
}

}  // namespace edgewise
