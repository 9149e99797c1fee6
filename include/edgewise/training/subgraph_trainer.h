// The trainer of SEAL: batches of supervision edges against sampled negatives, each pair by its own
// enclosing subgraph, cut out while the batch before is learned from. Every pair's own edge is out
// of what is shown of it, so nothing else needs masking.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "edgewise/data/dataset.h"
#include "edgewise/data/link_split.h"
#include "edgewise/training/batch_stream.h"
#include "edgewise/training/epoch_loop.h"
#include "edgewise/training/link_trainer.h"
#include "edgewise/training/subgraph_scorer.h"
#include "edgewise/views/subgraph_model.h"

namespace edgewise {

namespace detail {
template <class T>
class MadeAhead;
}

struct SubgraphSetup {
  TrainerSetup trainer;
  SubgraphOptions subgraphs;
  PairSight sight;
  // What the chooser looks at, where there is one: messages of training and of validation.
  std::shared_ptr<const MessagePlan> messages = nullptr;
  std::shared_ptr<const MessagePlan> valid_messages = nullptr;
};

// A batch as a step reads it.
struct SubgraphStep {
  SubgraphInput input;
  // [pairs]: 1 for a link, 0 for none; on the CPU.
  at::Tensor labels;
};

class SubgraphTrainer final : public PhaseTrainer {
 public:
  SubgraphTrainer(const SubgraphModel& model, const Dataset& dataset, const TrainingEdges& training,
                  SubgraphSetup setup);
  SubgraphTrainer(const SubgraphTrainer&) = delete;
  SubgraphTrainer& operator=(const SubgraphTrainer&) = delete;
  SubgraphTrainer(SubgraphTrainer&&) = delete;
  SubgraphTrainer& operator=(SubgraphTrainer&&) = delete;
  ~SubgraphTrainer() override;

  [[nodiscard]] TrainingState start(ProgressSink& progress = silentProgress()) const override;
  void run(TrainingState& state, const SaveState& save,
           ProgressSink& progress = silentProgress()) override;
  void learn(TrainingState& state) override;
  void settle(TrainingState& state) override;
  [[nodiscard]] MetricSet validated(const TrainingState& state) const override;
  [[nodiscard]] bool validates() const override { return setup_.trainer.validates(); }

  // One step on what was cut out.
  void step(TrainingState& state, const SubgraphStep& batch);
  // Batch `number` of the epoch that the stream stands at.
  [[nodiscard]] SubgraphStep prepare(std::size_t number) const;
  [[nodiscard]] BatchStream& batches() { return batches_; }

 private:
  [[nodiscard]] ViewedPairs viewed(const EdgeBatch& batch) const;
  [[nodiscard]] at::Tensor batchLoss(const TrainingState& state, const SubgraphStep& batch) const;
  void stepOnDevice(TrainingState& state, const SubgraphStep& batch);

  const SubgraphModel& model_;
  const Dataset& dataset_;
  const TrainingEdges& training_;
  SubgraphSetup setup_;
  BatchStream batches_;
  std::shared_ptr<const SubgraphCutter> cutter_;
  std::shared_ptr<const SubgraphCutter> valid_cutter_;
  std::unique_ptr<BoundChooser> chooser_;
  std::optional<ViewChoices> positive_views_;
  // Which batches the stream is at.
  std::int64_t ahead_epoch_ = -1;
  std::int64_t ahead_batch_ = -1;
  std::unique_ptr<detail::MadeAhead<SubgraphStep>> ahead_;
  // On a GPU alone.
  std::unique_ptr<detail::DeviceLearning> device_;
};

// The message graph as subgraphs are cut out of it: messages go both ways, weights do not matter.
[[nodiscard]] CsrGraph subgraphMessages(const Dataset& dataset, const MessageEdges& messages);

}  // namespace edgewise
