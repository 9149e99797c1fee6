// The trainer: batches of supervision edges against sampled negatives, the whole message graph
// encoded at every step, the best epoch by validation kept. It is handed training edges alone.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "edgewise/data/dataset.h"
#include "edgewise/data/link_split.h"
#include "edgewise/evaluation/metric_set.h"
#include "edgewise/training/batch_stream.h"
#include "edgewise/training/stage_watch.h"
#include "edgewise/training/training_options.h"
#include "edgewise/training/training_state.h"
#include "edgewise/util/progress.h"
#include "edgewise/views/link_model.h"

namespace edgewise {

// What a trainer needs to know of its surroundings.
struct TrainerSetup {
  TrainingOptions options;
  std::uint64_t seed = 0;
  bool edge_weights = true;
  // Reported on validation edges at every evaluation; the first, or options.select_by, decides.
  std::vector<MetricRequest> metrics;
};

class LinkTrainer {
 public:
  LinkTrainer(const LinkModel& model, const Dataset& dataset, const TrainingEdges& training,
              TrainerSetup setup);

  // A run that has not begun.
  [[nodiscard]] TrainingState start() const;
  // Trains from where the state stands to the end. `save` is called with states worth keeping:
  // every now and then, at the end, and before InterruptedError is thrown after Ctrl-C.
  void run(TrainingState& state, const std::function<void(const TrainingState&)>& save,
           ProgressSink& progress = silentProgress());

  // One step on a batch: forward, backward, update. Returns the loss. For benchmarks and `run`.
  // Its stages begin with kIndex.
  double step(TrainingState& state, const EdgeBatch& batch, StageWatch& stages = unwatched());
  [[nodiscard]] BatchStream& batches() { return batches_; }
  [[nodiscard]] MetricSet validate(const Parameters& parameters) const;

 private:
  // Of a batch, with what its gradient needs.
  [[nodiscard]] at::Tensor batchLoss(const TrainingState& state, const EdgeBatch& batch,
                                     StageWatch& stages) const;
  [[nodiscard]] std::int64_t totalSteps() const;
  [[nodiscard]] bool outOfSteps(const TrainingState& state) const;
  void trainEpoch(TrainingState& state, const std::function<void(const TrainingState&)>& save,
                  ProgressTask& task);
  void closeEpoch(TrainingState& state, ProgressTask& task);

  const LinkModel& model_;
  const TrainingEdges& training_;
  TrainerSetup setup_;
  BatchStream batches_;
  std::shared_ptr<const MessagePlan> messages_;
  // While validating; the same plan unless validation nodes bring edges of their own.
  std::shared_ptr<const MessagePlan> valid_messages_;
  double saved_at_ = 0;
};

// The message graph as this model's encoder aggregates it. Messages go both ways along directed
// edges.
[[nodiscard]] std::shared_ptr<const MessagePlan> planMessages(const LinkModel& model,
                                                              const Dataset& dataset,
                                                              const MessageEdges& messages,
                                                              bool edge_weights);

}  // namespace edgewise
