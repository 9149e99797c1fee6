#include "edgewise/serving/run_scorer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "edgewise/data/safetensors.h"
#include "edgewise/graph/heuristics.h"
#include "edgewise/training/link_trainer.h"
#include "edgewise/training/model_scorer.h"
#include "edgewise/training/pair_model.h"
#include "edgewise/training/stored_model.h"
#include "edgewise/util/error.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

class FormulaScorer final : public RunScorer {
 public:
  FormulaScorer(const RunOptions& options, const Dataset& dataset, const MessageEdges& messages)
      : graph_(messageGraph(dataset, messages)),
        scorer_(graph_, parseHeuristic(options.model), options.heuristic.resolve()) {}

  [[nodiscard]] std::vector<double> score(std::span<const Edge> pairs,
                                          ProgressSink& progress) const override {
    return scorer_.score(pairs, progress);
  }
  [[nodiscard]] bool choosesViews() const override { return false; }
  [[nodiscard]] std::vector<HopPair> views(std::span<const Edge>) const override { return {}; }
  void scoreTile(std::span<const NodeId> sources, std::span<const NodeId> targets,
                 std::span<double> out) const override {
    const std::size_t nodes = graph_.nodeCount();
    if (targets.size() == nodes) {
      scorer_.scoreSources(sources, out);
      return;
    }
    std::vector<double> rows(sources.size() * nodes);
    scorer_.scoreSources(sources, rows);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      for (std::size_t j = 0; j < targets.size(); ++j) {
        out[i * targets.size() + j] = rows[i * nodes + index(targets[j])];
      }
    }
  }
  [[nodiscard]] bool scoresWholeRows() const override { return true; }

 private:
  CsrGraph graph_;
  HeuristicScorer scorer_;
};

// What a model learned of each node by name says nothing about other nodes; what it learned of
// features does, where they are the same ones.
void requireNodesAlike(const StoredRun& run, const Dataset& dataset) {
  if (run.options.network.selector.kind == "oracle") {
    throw ConfigError("the oracle knows the views of the run's own data alone",
                      "use a run with another selector");
  }
  const SafetensorsFile file = SafetensorsFile::read(run.folder / kModelFile);
  if (file.find("input.embedding") != nullptr) {
    throw ConfigError(
        fmt::format("{}: this model learned an embedding of each node it was trained on, and has "
                    "none for new ones",
                    run.folder.string()),
        "train on node features (--features FILE, --set model.features=given) to score new nodes");
  }
  if (dataset.features.empty()) {
    throw ConfigError("the new nodes have no features, which is all this model knows nodes by",
                      "give them with --features FILE");
  }
  const LinkModel model = makeModel(dataset, run.options);
  for (const ParameterLayout::Entry& entry : model.layout().entries()) {
    const TensorView* stored = file.find(entry.name);
    if (stored != nullptr && !stored->shape.empty() && stored->shape != entry.shape) {
      throw ConfigError(
          fmt::format("the new nodes have {} features, but the model was trained on {}",
                      groupedCount(dataset.features.columns()),
                      groupedCount(static_cast<std::uint64_t>(stored->shape.front()))),
          "give the same columns in the same order as in training");
    }
  }
}

// A pair of users and items the way the model learned them: the user first.
class UsersFirst {
 public:
  explicit UsersFirst(const Dataset& dataset)
      : users_(dataset.bipartite ? dataset.bipartite->users : dataset.node_count) {}

  [[nodiscard]] bool turns(NodeId source) const { return index(source) >= users_; }
  [[nodiscard]] std::vector<Edge> turned(std::span<const Edge> pairs) const {
    std::vector<Edge> result(pairs.begin(), pairs.end());
    for (Edge& pair : result) {
      pair = turns(pair.src) ? reversed(pair) : pair;
    }
    return result;
  }

 private:
  std::size_t users_;
};

class ModelRunScorer final : public RunScorer {
 public:
  ModelRunScorer(const StoredRun& run, const Dataset& dataset, const LinkSplit& split,
                 const MessageEdges& messages)
      : first_(dataset),
        model_(makePairModel(dataset, split, run.options)),
        weights_(readModel(run.folder, *model_, {run.options, run.data_hash, run.split_hash})),
        chooser_(chooserOf(*model_, weights_, run.options, dataset)),
        scorer_(model_->scorer(weights_.model, messages, chooser_.get())) {}

  [[nodiscard]] std::vector<double> score(std::span<const Edge> pairs,
                                          ProgressSink& progress) const override {
    return scorer_->score(first_.turned(pairs), progress);
  }
  [[nodiscard]] bool choosesViews() const override { return chooser_ != nullptr; }
  [[nodiscard]] std::vector<HopPair> views(std::span<const Edge> pairs) const override {
    const ViewChoice choice = scorer_->viewsOf(first_.turned(pairs));
    std::vector<HopPair> views;
    for (std::size_t i = 0; choice != nullptr && i < choice->pairCount(); ++i) {
      const HopPair view = hopsOf(choice->best(i), model_->firstHops());
      views.push_back(first_.turns(pairs[i].src) ? HopPair{view.target, view.source} : view);
    }
    return views;
  }
  void scoreTile(std::span<const NodeId> sources, std::span<const NodeId> targets,
                 std::span<double> out) const override {
    // Sources are of one kind.
    if (sources.empty() || !first_.turns(sources.front())) {
      scorer_->scoreTile(sources, targets, out);
      return;
    }
    std::vector<double> turned(out.size());
    scorer_->scoreTile(targets, sources, turned);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      for (std::size_t j = 0; j < targets.size(); ++j) {
        out[i * targets.size() + j] = turned[j * sources.size() + i];
      }
    }
  }
  [[nodiscard]] bool scoresWholeRows() const override { return false; }

 private:
  UsersFirst first_;
  std::unique_ptr<PairModel> model_;
  ModelWeights weights_;
  std::shared_ptr<const ViewChooser> chooser_;
  std::unique_ptr<ViewScorer> scorer_;
};

}  // namespace

std::unique_ptr<RunScorer> openScorer(const StoredRun& run, const Dataset& dataset,
                                      const MessageEdges& messages, const LinkSplit* split) {
  if (isHeuristic(run.options.model)) {
    return std::make_unique<FormulaScorer>(run.options, dataset, messages);
  }
  if (split == nullptr && readsSubgraphs(run.options)) {
    throw ConfigError(
        fmt::format("{} answers about the graph it was trained on alone", run.options.model),
        "leave --graph out, or use a run of gae or sage with node features");
  }
  if (dataset.hash != run.data_hash) {
    requireNodesAlike(run, dataset);
  }
  return std::make_unique<ModelRunScorer>(run, dataset, split != nullptr ? *split : LinkSplit(),
                                          messages);
}

}  // namespace edgewise
