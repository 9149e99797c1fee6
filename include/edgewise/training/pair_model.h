// What a run trains and scores pairs with, whatever it looks like inside: a model that encodes the
// whole graph (LinkModel), or one that reads each pair's enclosing subgraph (SubgraphModel). Runs,
// checkpoints and folders know this alone.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "edgewise/data/dataset.h"
#include "edgewise/data/link_split.h"
#include "edgewise/training/epoch_loop.h"
#include "edgewise/training/link_trainer.h"
#include "edgewise/training/model_scorer.h"
#include "edgewise/training/run_options.h"
#include "edgewise/views/link_model.h"

namespace edgewise {

class PairModel {
 public:
  PairModel() = default;
  PairModel(const PairModel&) = delete;
  PairModel& operator=(const PairModel&) = delete;
  PairModel(PairModel&&) = delete;
  PairModel& operator=(PairModel&&) = delete;
  virtual ~PairModel() = default;

  [[nodiscard]] virtual const ParameterLayout& layout() const = 0;
  // What nodes bring, in words.
  [[nodiscard]] virtual const std::string& inputText() const = 0;
  // Views reach up to so many hops.
  [[nodiscard]] virtual std::size_t depth() const = 0;
  // How far the nearest view looks: 1, or 0 where nodes themselves are one.
  [[nodiscard]] virtual int firstHops() const = 0;
  // The views that are scored apart, where they are (ViewScorer::scoreByView).
  [[nodiscard]] virtual std::span<const LayerPair> viewsApart() const = 0;
  // Whether every pair comes with views of its own.
  [[nodiscard]] virtual bool choosesViews() const = 0;
  // The model that a search for views trains and its selector looks through; null where nothing is
  // searched.
  [[nodiscard]] virtual const LinkModel* searched() const = 0;
  // Whether this is the model itself, so that training can go on from the search's weights.
  [[nodiscard]] virtual bool goesOnFromSearch() const = 0;

  // Refers to the edges.
  [[nodiscard]] virtual std::unique_ptr<PhaseTrainer> trainer(const TrainingEdges& training,
                                                              TrainerSetup setup) const = 0;
  // Over these messages, of which those in `hidden` carry nothing. Refers to parameters and
  // chooser.
  [[nodiscard]] virtual std::unique_ptr<ViewScorer> scorer(
      const Parameters& parameters, const MessageEdges& messages, const ViewChooser* chooser,
      std::span<const Edge> hidden = {}) const = 0;
};

// The model that these options make for this data. Refers to dataset and options, and looks at the
// split's training edges alone. Throws ConfigError for options that do not go together.
[[nodiscard]] std::unique_ptr<PairModel> makePairModel(const Dataset& dataset,
                                                       const LinkSplit& split,
                                                       const RunOptions& options);
// Throws what makePairModel would; cuts no subgraphs and needs no split.
void checkPairModel(const Dataset& dataset, const RunOptions& options);

// Whether a model reads enclosing subgraphs.
[[nodiscard]] bool readsSubgraphs(const RunOptions& options);
// Views of these options' model reach up to so many hops.
[[nodiscard]] std::size_t viewDepth(const RunOptions& options);

// The enclosing subgraphs of some of these links and of as many other pairs: their nodes, and what
// all their rows hold together.
struct SubgraphSample {
  std::vector<std::size_t> nodes;
  std::size_t entries = 0;
};
// How many pairs are looked at, so many at a time, until their rows hold more than so much.
struct SampleBudget {
  std::size_t pairs = 1000;
  std::size_t at_once = 64;
  std::size_t entries = std::numeric_limits<std::size_t>::max();
};
// As a model that reads subgraphs would see them through these messages, all its views alike.
// Throws ConfigError for views that the options do not reach.
[[nodiscard]] SubgraphSample sampledSubgraphs(const Dataset& dataset, const MessageEdges& messages,
                                              std::span<const Edge> links,
                                              const RunOptions& options,
                                              const SampleBudget& budget = {});

}  // namespace edgewise
