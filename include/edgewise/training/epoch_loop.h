// The loop around a training step: epochs of batches, validation, the best epoch, patience,
// checkpoints, Ctrl-C. What a step does is the learner's business.
#pragma once

#include <cstdint>
#include <functional>

#include "edgewise/evaluation/metric_set.h"
#include "edgewise/training/batch_stream.h"
#include "edgewise/training/training_options.h"
#include "edgewise/training/training_state.h"
#include "edgewise/util/progress.h"

namespace edgewise {

class Learner {
 public:
  Learner() = default;
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;
  Learner(Learner&&) = delete;
  Learner& operator=(Learner&&) = delete;
  virtual ~Learner() = default;

  // One step on the batch that state.epoch and state.batch name; moves the parameters and counts in
  // state.steps, loss_sum and norm_sum.
  virtual void learn(TrainingState& state) = 0;
  // Makes the state what all steps so far have left, where a device has run ahead.
  virtual void settle(TrainingState& /*state*/) {}
  [[nodiscard]] virtual MetricSet validated(const TrainingState& state) const = 0;
  // Whether there is anything to validate by; else the last epoch is the one that is kept.
  [[nodiscard]] virtual bool validates() const { return true; }
  // Whether what was learned in this epoch (counted from 1) is something to keep yet.
  [[nodiscard]] virtual bool worthKeeping(std::int64_t /*epoch*/) const { return true; }
};

// Called with states worth keeping: every now and then, at the end, and before InterruptedError is
// thrown after Ctrl-C.
using SaveState = std::function<void(const TrainingState&)>;

// A learner that runs its own loop: what a run needs of a phase of training.
class PhaseTrainer : public Learner {
 public:
  // A phase that has not begun. Takes long only where a large graph's embeddings start from it.
  [[nodiscard]] virtual TrainingState start(ProgressSink& progress = silentProgress()) const = 0;
  // Trains from where the state stands to the end.
  virtual void run(TrainingState& state, const SaveState& save, ProgressSink& progress) = 0;
};

class EpochLoop {
 public:
  // `options.select_by` names the deciding metric. Refers to learner and batches.
  EpochLoop(Learner& learner, BatchStream& batches, TrainingOptions options);

  // From where the state stands to the end.
  void run(TrainingState& state, std::string_view label, const SaveState& save,
           ProgressSink& progress);

 private:
  [[nodiscard]] bool outOfSteps(const TrainingState& state) const;
  void trainEpoch(TrainingState& state, const SaveState& save, ProgressTask& task);
  void settle(TrainingState& state) const;
  void closeEpoch(TrainingState& state, ProgressTask& task) const;
  [[nodiscard]] CurvePoint pointOf(const TrainingState& state, double loss, double norm) const;
  void closeUnvalidated(TrainingState& state, double loss, double norm, ProgressTask& task) const;
  void keep(TrainingState& state) const;
  void keepBest(TrainingState& state, double value) const;

  Learner& learner_;
  BatchStream& batches_;
  TrainingOptions options_;
  double saved_at_ = 0;
};

// Steps of a whole run: all epochs, or fewer when options.max_steps says so.
[[nodiscard]] std::int64_t plannedSteps(const TrainingOptions& options, const BatchStream& batches);

}  // namespace edgewise
