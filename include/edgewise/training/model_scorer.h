// A trained model on one message graph, as something that scores pairs.
#pragma once

#include <memory>
#include <optional>

#include "edgewise/evaluation/link_evaluation.h"
#include "edgewise/nn/parameters.h"
#include "edgewise/views/link_model.h"
#include "edgewise/views/view_chooser.h"

namespace edgewise {

// A trained model that scores pairs by views of them.
class ViewScorer : public LinkScorer {
 public:
  // scores[view][pair] where views are scored apart; else empty.
  [[nodiscard]] virtual std::vector<std::vector<double>> scoreByView(
      std::span<const Edge> pairs) const = 0;
  // The views chosen for these pairs; null where none are chosen.
  [[nodiscard]] virtual ViewChoice viewsOf(std::span<const Edge> pairs) const = 0;
  // out[i * targets + j] = the score of (sources[i], targets[j]), but for rounding; that of a node
  // with itself is nobody's business.
  virtual void scoreTile(std::span<const NodeId> sources, std::span<const NodeId> targets,
                         std::span<double> out) const;
};

class ModelScorer final : public ViewScorer {
 public:
  // Encodes once, without noise. Refers to the model and the parameters. `chooser` is there where
  // the model's decoder needs choices.
  ModelScorer(const LinkModel& model, const Parameters& parameters,
              const std::shared_ptr<const MessagePlan>& messages,
              const ViewChooser* chooser = nullptr);

  [[nodiscard]] std::vector<double> score(std::span<const Edge> pairs,
                                          ProgressSink& progress) const override;
  void scoreSources(std::span<const NodeId> sources, std::span<double> out,
                    ProgressSink& progress) const override;
  // Far more pairs a second than score(). On the processor.
  void scoreTile(std::span<const NodeId> sources, std::span<const NodeId> targets,
                 std::span<double> out) const override;
  [[nodiscard]] const LayerOutputs& layers() const { return layers_; }
  // By one product where the decoder's scores are products of the ends.
  [[nodiscard]] ScoreSpan scoreBlock(std::span<const NodeId> sources, NodeRange targets,
                                     std::size_t node_count, ScoreMemory& memory) const override;
  // On a device, which then sends little but the best.
  [[nodiscard]] std::optional<TopLists> topBlock(std::span<const NodeId> sources, NodeRange targets,
                                                 std::span<const UserItems> known,
                                                 std::size_t count) const override;
  [[nodiscard]] std::uint64_t pairsWithinReach() const override;
  [[nodiscard]] std::vector<std::vector<double>> scoreByView(
      std::span<const Edge> pairs) const override;
  [[nodiscard]] ViewChoice viewsOf(std::span<const Edge> pairs) const override;

 private:
  [[nodiscard]] ViewChoice choiceFor(const std::shared_ptr<const PairIndex>& pairs) const;
  [[nodiscard]] std::shared_ptr<const PairIndex> indexOf(std::span<const Edge> pairs) const;
  [[nodiscard]] std::size_t pairsAtOnce() const;
  // [sources, targets.count], where the model is: by a product or each by itself.
  [[nodiscard]] at::Tensor blockScores(std::span<const NodeId> sources, NodeRange targets) const;
  [[nodiscard]] at::Tensor products(std::span<const NodeId> sources, NodeRange targets) const;
  [[nodiscard]] at::Tensor decoded(std::span<const NodeId> sources, NodeRange targets) const;

  const LinkModel& model_;
  const Parameters& parameters_;
  std::unique_ptr<BoundChooser> chooser_;
  LayerOutputs layers_;
  std::optional<ScoreFactors> factors_;
};

// Pairs scored at once on a processor: enough for full speed, little memory.
inline constexpr std::size_t kPairsAtOnce = 16'384;

// The views chosen for many pairs, some at a time; null for none.
[[nodiscard]] ViewChoice chooseViews(const BoundChooser& chooser, std::span<const Edge> pairs,
                                     std::size_t node_count, std::size_t at_once = kPairsAtOnce);

// Adds logits [pairs], wherever they are, to a list of scores.
void appendScores(const at::Tensor& logits, std::vector<double>& out);

// How far a view looks around each end, where the first layer looks so far.
[[nodiscard]] HopPair hopsOf(LayerPair view, int first_hops);

}  // namespace edgewise
