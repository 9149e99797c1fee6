// A trained model on one message graph, as something that scores pairs.
#pragma once

#include <memory>
#include <optional>

#include "edgewise/evaluation/link_evaluation.h"
#include "edgewise/nn/parameters.h"
#include "edgewise/views/link_model.h"
#include "edgewise/views/view_chooser.h"

namespace edgewise {

class ModelScorer final : public LinkScorer {
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
  // By one product where the decoder's scores are products of the ends.
  [[nodiscard]] ScoreSpan scoreBlock(std::span<const NodeId> sources, NodeRange targets,
                                     std::size_t node_count, ScoreMemory& memory) const override;
  [[nodiscard]] std::uint64_t pairsWithinReach() const override;
  // scores[view][pair] where the decoder scores views apart; else empty.
  [[nodiscard]] std::vector<std::vector<double>> scoreByView(std::span<const Edge> pairs) const;
  // The views chosen for these pairs; null where none are chosen.
  [[nodiscard]] ViewChoice viewsOf(std::span<const Edge> pairs) const;

 private:
  [[nodiscard]] ViewChoice choiceFor(const std::shared_ptr<const PairIndex>& pairs) const;
  [[nodiscard]] std::shared_ptr<const PairIndex> indexOf(std::span<const Edge> pairs) const;
  [[nodiscard]] std::size_t pairsAtOnce() const;
  // [sources, targets.count], where the model is.
  [[nodiscard]] at::Tensor products(std::span<const NodeId> sources, NodeRange targets) const;
  [[nodiscard]] at::Tensor decoded(std::span<const NodeId> sources, NodeRange targets) const;

  const LinkModel& model_;
  const Parameters& parameters_;
  std::unique_ptr<BoundChooser> chooser_;
  LayerOutputs layers_;
  std::optional<ScoreFactors> factors_;
};

// How far a view of this model looks around each end.
[[nodiscard]] HopPair hopsOf(const LinkModel& model, LayerPair view);

}  // namespace edgewise
