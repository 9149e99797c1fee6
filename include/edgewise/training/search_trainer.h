// The search phase: the selector learns on edges held out from the model's own training which views
// serve, while the model learns with the mixtures it makes (bi-level, one step of each in turn).
#pragma once

#include <memory>

#include "edgewise/training/epoch_loop.h"
#include "edgewise/training/link_trainer.h"
#include "edgewise/views/bilevel.h"
#include "edgewise/views/selector_options.h"

namespace edgewise {

struct SearchSetup {
  TrainerSetup trainer;
  SelectorOptions selector;
  // What the selector learns from; empty when training edges take turns.
  EdgeTable upper;
};

class SearchTrainer final : public Learner {
 public:
  // The model must have a selector. `training.valid` decides which epoch is kept and shares no edge
  // with `setup.upper`.
  SearchTrainer(const LinkModel& model, const Dataset& dataset, const TrainingEdges& training,
                SearchSetup setup);

  [[nodiscard]] TrainingState start() const;
  void run(TrainingState& state, const SaveState& save, ProgressSink& progress = silentProgress());
  void learn(TrainingState& state, const EdgeBatch& batch) override;
  [[nodiscard]] MetricSet validated(const TrainingState& state) const override;
  // Nothing is chosen while all views count the same.
  [[nodiscard]] bool worthKeeping(std::int64_t epoch) const override {
    return epoch > setup_.selector.warmup;
  }
  [[nodiscard]] BatchStream& batches() { return batches_; }

 private:
  struct Step;
  [[nodiscard]] Step prepare(const TrainingState& state, const EdgeBatch& batch) const;
  // The upper level: one step of the selector.
  void moveSelector(TrainingState& state, const BilevelLosses& losses, double rate) const;
  [[nodiscard]] EdgeBatch upperBatch(const TrainingState& state) const;
  [[nodiscard]] double temperatureAt(std::int64_t step) const;

  const LinkModel& model_;
  const TrainingEdges& training_;
  SearchSetup setup_;
  BatchStream batches_;
  // Draws for the upper level: held-out edges, or the same training edges in another order.
  BatchStream upper_;
  std::shared_ptr<const MessagePlan> messages_;
  std::shared_ptr<const MessagePlan> valid_messages_;
};

// Validation edges cut in two: one half for the selector, one for choosing the epoch. A pool of
// negatives goes to the second half alone, of its own negatives each positive keeps its.
struct HalvedValid {
  EdgeTable upper;
  ValidEdges selection;
};
[[nodiscard]] HalvedValid halveValid(const ValidEdges& valid, std::uint64_t seed);

}  // namespace edgewise
