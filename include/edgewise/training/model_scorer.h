// A trained model on one message graph, as something that scores pairs.
#pragma once

#include <memory>

#include "edgewise/evaluation/link_evaluation.h"
#include "edgewise/nn/parameters.h"
#include "edgewise/views/link_model.h"

namespace edgewise {

class ModelScorer final : public LinkScorer {
 public:
  // Encodes once, without noise. Refers to the model and the parameters.
  ModelScorer(const LinkModel& model, const Parameters& parameters,
              const std::shared_ptr<const MessagePlan>& messages);

  [[nodiscard]] std::vector<double> score(std::span<const Edge> pairs,
                                          ProgressSink& progress) const override;
  void scoreSources(std::span<const NodeId> sources, std::span<double> out,
                    ProgressSink& progress) const override;
  // scores[view][pair] where the decoder scores views apart; else empty.
  [[nodiscard]] std::vector<std::vector<double>> scoreByView(std::span<const Edge> pairs) const;

 private:
  const LinkModel& model_;
  const Parameters& parameters_;
  LayerOutputs layers_;
};

}  // namespace edgewise
