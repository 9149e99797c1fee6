// The search phase: the selector learns on edges held out from the model's own training which views
// serve, while the model learns with the mixtures it makes, or with all views counting the same
// (bi-level, one step of each in turn).
#pragma once

#include <memory>

#include "edgewise/ops/device_step.h"
#include "edgewise/training/epoch_loop.h"
#include "edgewise/training/link_trainer.h"
#include "edgewise/training/stage_watch.h"
#include "edgewise/views/bilevel.h"
#include "edgewise/views/selector_options.h"

namespace edgewise {

namespace detail {
class DeviceBatches;
}

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
  SearchTrainer(const SearchTrainer&) = delete;
  SearchTrainer& operator=(const SearchTrainer&) = delete;
  SearchTrainer(SearchTrainer&&) = delete;
  SearchTrainer& operator=(SearchTrainer&&) = delete;
  ~SearchTrainer() override;

  [[nodiscard]] TrainingState start(ProgressSink& progress = silentProgress()) const;
  void run(TrainingState& state, const SaveState& save, ProgressSink& progress = silentProgress());
  void learn(TrainingState& state) override;
  void settle(TrainingState& state) override;
  [[nodiscard]] MetricSet validated(const TrainingState& state) const override;
  // Nothing is chosen during the warm start, while all views count the same.
  [[nodiscard]] bool worthKeeping(std::int64_t epoch) const override {
    return epoch > setup_.selector.warmup;
  }

  // One step on a batch: the selector's, then the model's. Returns the model's loss. Its stages
  // begin with kSample, the drawing of the upper batch.
  double step(TrainingState& state, const EdgeBatch& batch, StageWatch& stages = unwatched());
  [[nodiscard]] BatchStream& batches() { return batches_; }
  // What the selector learns from at this step.
  [[nodiscard]] EdgeBatch upperBatch(const TrainingState& state) const;

 private:
  // What a level's loss is computed from.
  struct Level {
    std::shared_ptr<const MessagePlan> messages;
    PairBatch pairs;
  };
  struct Levels {
    Level lower;
    Level upper;
    // Of the model's own step when search and application are one.
    std::shared_ptr<const MessagePlan> model_messages;
  };
  [[nodiscard]] Levels levelsOf(const EdgeBatch& batch, const EdgeBatch& upper) const;
  [[nodiscard]] Levels levelsOnDevice(const detail::DeviceBatch& batch,
                                      const detail::DeviceBatch& upper) const;
  // Whether training edges take turns in being what the selector learns from.
  [[nodiscard]] bool rotating() const { return setup_.upper.empty(); }
  // Whether the upper level's batches are the lower one's, one step ahead.
  [[nodiscard]] bool sharesBatches() const { return rotating() && batches_.batchesPerEpoch() > 1; }
  // The same for every pass of a step.
  struct Pass {
    Noise noise;
    MixtureOptions mixture;
  };
  [[nodiscard]] Pass passAt(const TrainingState& state) const;
  // Both losses; the levels must outlive them, and the state's weights stay as they are: the lower
  // level encodes them once.
  [[nodiscard]] BilevelLosses lossesOf(const TrainingState& state, const Pass& pass,
                                       const Levels& levels) const;
  [[nodiscard]] BilevelOptions bilevelOptions(double rate) const;
  // What the model's own step minimises, with the selector as it is now.
  [[nodiscard]] at::Tensor modelLoss(const TrainingState& state, const Pass& pass,
                                     const Levels& levels, const BilevelLosses& losses) const;
  // Where the upper level's batch of this step comes from: the stream of the lower level, or one
  // of its own.
  struct UpperPlace {
    bool shared = false;
    std::uint64_t epoch = 0;
    std::size_t number = 0;
  };
  [[nodiscard]] UpperPlace upperPlace(const TrainingState& state) const;
  void learnOnDevice(TrainingState& state);
  [[nodiscard]] StepValues nextValues(TrainingState& state) const;
  void descendOnDevice(TrainingState& state, const Levels& levels, bool warming_up);
  [[nodiscard]] double temperatureAt(const TrainingState& state) const;
  [[nodiscard]] bool warmingUp(const TrainingState& state) const {
    return state.epoch < setup_.selector.warmup;
  }

  const LinkModel& model_;
  const Dataset& dataset_;
  const TrainingEdges& training_;
  SearchSetup setup_;
  BatchStream batches_;
  // Draws for the upper level: held-out edges, or the same training edges in another order.
  BatchStream upper_;
  std::shared_ptr<const MessagePlan> messages_;
  std::shared_ptr<const MessagePlan> valid_messages_;
  // On a GPU alone.
  std::unique_ptr<detail::DeviceLearning> device_;
  std::unique_ptr<detail::DeviceBatches> device_upper_;
};

// Validation edges cut in two: one half for the selector, one for choosing the epoch. A pool of
// negatives goes to the second half alone, of its own negatives each positive keeps its.
struct HalvedValid {
  EdgeTable upper;
  ValidEdges selection;
};
[[nodiscard]] HalvedValid halveValid(const ValidEdges& valid, std::uint64_t seed);

}  // namespace edgewise
