// Answers from a finished run: scores of pairs, and for one node or for all the links most likely
// missing.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "edgewise/data/dataset.h"
#include "edgewise/data/link_split.h"
#include "edgewise/evaluation/score_calibration.h"
#include "edgewise/graph/csr_graph.h"
#include "edgewise/sampling/edge_set.h"
#include "edgewise/serving/run_scorer.h"
#include "edgewise/serving/served_run.h"
#include "edgewise/serving/top_targets.h"
#include "edgewise/util/progress.h"

namespace edgewise {

struct Prediction {
  Edge pair;
  double score = 0;
  // From 1: among the pairs asked about, or among the links of its source.
  std::size_t rank = 0;
  // Of a link, among pairs half of which are links; none where there was nothing to learn it from.
  std::optional<double> probability;
  // The view that counted most, where views are chosen by pair.
  std::optional<HopPair> view;
  // The part of the data that has this edge: train, valid, test, revealed_at_valid,
  // revealed_at_test, graph; empty when it is not known.
  std::string known;
  // Whether the pair's own edge carried messages: its score then flatters.
  bool carried = false;
};

// Edges that are known, and which of them carry messages.
struct PredictionGraph {
  MessageEdges messages;
  // Names of the parts that carry, and of those that do not, each with its number of edges.
  std::vector<std::pair<std::string, std::size_t>> carrying;
  std::vector<std::pair<std::string, std::size_t>> silent;
  std::vector<std::pair<std::string, EdgeSet>> parts;

  // "37,676 edges carry messages (train); 2,216 valid and 4,432 test edges do not".
  [[nodiscard]] std::string describe() const;
};

// Edges of a run's own data; `messages` is "train", "train+valid", "all" (every known edge), or
// empty: as the run scored its test pairs. Throws ConfigError for another word.
[[nodiscard]] PredictionGraph runGraph(const ServedRun& run, std::string_view messages = {});
// A graph that the run has not seen: all of its edges carry.
[[nodiscard]] PredictionGraph newGraph(const Dataset& dataset);

// Learned from the run's validation pairs, scored over the messages they were validated with:
// Platt's for trained models, whose scores are logits; isotonic for formulas.
[[nodiscard]] ScoreCalibration calibrateRun(const ServedRun& run,
                                            ProgressSink& progress = silentProgress());

class LinkPredictor {
 public:
  // Run and dataset must outlive it; `split` is the run's own, null for another dataset. Throws as
  // openScorer does.
  LinkPredictor(const StoredRun& run, const Dataset& dataset, PredictionGraph graph,
                std::optional<ScoreCalibration> calibration, const LinkSplit* split = nullptr);

  [[nodiscard]] const PredictionGraph& graph() const { return graph_; }
  [[nodiscard]] const std::optional<ScoreCalibration>& calibration() const { return calibration_; }
  // Whether predictions come with views.
  [[nodiscard]] bool choosesViews() const { return scorer_->choosesViews(); }

  // In the order given.
  [[nodiscard]] std::vector<Prediction> scorePairs(std::span<const Edge> pairs,
                                                   ProgressSink& progress = silentProgress()) const;

  // The best targets of a node that are not known yet: of a user items, of an item users.
  [[nodiscard]] std::vector<Prediction> topOf(NodeId node, std::size_t top,
                                              ProgressSink& progress = silentProgress()) const;

  // The same of every node (of every user, in data of users and items).
  [[nodiscard]] TopRequest requestForAll(std::size_t top) const;
  [[nodiscard]] SearchEstimate estimate(const TopRequest& request) const;
  // Hands the predictions on source by source.
  void topOfAll(const TopRequest& request,
                const std::function<void(std::span<const Prediction>)>& visit,
                ProgressSink& progress = silentProgress()) const;

 private:
  [[nodiscard]] Prediction predictionOf(Edge pair, double score, std::size_t rank) const;
  // Fills in the views that were chosen.
  void addViews(std::span<Prediction> predictions) const;

  const Dataset& dataset_;
  PredictionGraph graph_;
  CsrGraph known_;
  // Nodes that can be the end of a link.
  std::vector<NodeId> candidates_;
  std::optional<ScoreCalibration> calibration_;
  std::unique_ptr<RunScorer> scorer_;
};

}  // namespace edgewise
