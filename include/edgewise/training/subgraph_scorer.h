// SEAL on one message graph: which view of each pair is cut out, and a trained model that scores
// pairs by what was cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "edgewise/graph/csr_graph.h"
#include "edgewise/nn/parameters.h"
#include "edgewise/sampling/enclosing_subgraph.h"
#include "edgewise/training/model_scorer.h"
#include "edgewise/util/rng.h"
#include "edgewise/views/subgraph_model.h"
#include "edgewise/views/view_chooser.h"

namespace edgewise {

// A view by layers in hops, where the first of all views is `nearest`.
[[nodiscard]] HopView hopView(HopView nearest, LayerPair view);

// How pairs are looked at where no view is chosen for them.
struct PairSight {
  HopView view = {2, 2};
  // Of views that are chosen for them, the first.
  HopView nearest = {1, 1};
  // (u, v) and (v, u) are the same pair.
  bool symmetric = true;

  // A view that is not the same both ways shows an undirected pair in two ways.
  [[nodiscard]] bool twoWays() const { return symmetric && view.source != view.target; }
};

// Pairs with the view of each.
struct ViewedPairs {
  std::vector<Edge> pairs;
  std::vector<HopView> views;

  // One of the views chosen for each (`nearest`: the first there is), by lots that belong to (lots,
  // epoch, pair), whichever end comes first: as often as the view counts.
  static ViewedPairs drawn(std::span<const Edge> pairs, const ViewChoices& choice, HopView nearest,
                           const CounterRng& lots, std::uint64_t epoch);
  // The view of all; `swapped` where that of the other way round is meant.
  static ViewedPairs alike(std::span<const Edge> pairs, HopView view, bool swapped = false);
  // Undirected pairs are turned so that the smaller node comes first, and their views with them: a
  // pair then has the same bits however it was written.
  void turn();
  [[nodiscard]] ViewedPairs part(std::size_t begin, std::size_t count) const;
};

// Pairs by one view each, of which the score is a part.
struct WeighedPairs {
  ViewedPairs viewed;
  // Where each pair stands among those asked for, and this view's share of its score.
  std::vector<std::size_t> places;
  std::vector<double> shares;

  // The best view of each pair for rank 0, the next for 1 and so on; not where it counts nothing.
  static WeighedPairs chosen(std::span<const Edge> pairs, const ViewChoices& choice,
                             HopView nearest, std::size_t rank);
  // As all of them are seen, with the same share.
  static WeighedPairs alike(ViewedPairs viewed, double share);
};

// Cuts out subgraphs of one message graph, ready for the model.
class SubgraphCutter {
 public:
  // Takes the graph over; refers to the model.
  SubgraphCutter(const SubgraphModel& model, CsrGraph graph, const ExtractionOptions& options);

  // The subgraphs of the first `kept` pairs may be kept where the options say so.
  [[nodiscard]] SubgraphInput cut(const ViewedPairs& pairs,
                                  std::size_t kept = SubgraphExtractor::kAll) const;
  [[nodiscard]] const CsrGraph& graph() const { return *graph_; }

 private:
  const SubgraphModel& model_;
  std::unique_ptr<const CsrGraph> graph_;
  SubgraphExtractor extractor_;
};

// Where several views of a pair count, their scores (logits) are added up by their shares.
class SubgraphScorer final : public ViewScorer {
 public:
  struct Sight {
    PairSight pairs;
    // Where views are chosen by pair; refers to its chooser.
    std::unique_ptr<BoundChooser> chooser;
    // Pairs whose subgraphs are in memory at once, more of them on a GPU; as many again are being
    // cut.
    std::size_t batch = 64;
  };

  // Refers to model, parameters and cutter.
  SubgraphScorer(const SubgraphModel& model, const Parameters& parameters,
                 std::shared_ptr<const SubgraphCutter> cutter, Sight sight);

  [[nodiscard]] std::vector<double> score(std::span<const Edge> pairs,
                                          ProgressSink& progress) const override;
  // A node's score with itself is the lowest there is.
  void scoreSources(std::span<const NodeId> sources, std::span<double> out,
                    ProgressSink& progress) const override;
  [[nodiscard]] std::vector<std::vector<double>> scoreByView(
      std::span<const Edge> pairs) const override;
  [[nodiscard]] ViewChoice viewsOf(std::span<const Edge> pairs) const override;

 private:
  void addScores(WeighedPairs pairs, std::vector<double>& scores, ProgressTask& task) const;

  const SubgraphModel& model_;
  const Parameters& parameters_;
  std::shared_ptr<const SubgraphCutter> cutter_;
  Sight sight_;
};

}  // namespace edgewise
