// The trainer: batches of supervision edges against sampled negatives, the whole message graph
// encoded at every step, the best epoch by validation kept. It is handed training edges alone.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "edgewise/data/dataset.h"
#include "edgewise/data/link_split.h"
#include "edgewise/evaluation/link_evaluation.h"
#include "edgewise/evaluation/metric_set.h"
#include "edgewise/training/batch_stream.h"
#include "edgewise/training/epoch_loop.h"
#include "edgewise/training/stage_watch.h"
#include "edgewise/training/training_options.h"
#include "edgewise/training/training_state.h"
#include "edgewise/util/progress.h"
#include "edgewise/views/link_model.h"
#include "edgewise/views/view_chooser.h"

namespace edgewise {

namespace detail {
class DeviceLearning;
struct DeviceBatch;
}  // namespace detail

// What a trainer needs to know of its surroundings.
struct TrainerSetup {
  TrainingOptions options;
  std::uint64_t seed = 0;
  bool edge_weights = true;
  // Reported on validation edges at every evaluation; the first, or options.select_by, decides.
  // None: every epoch is trained and nothing validated.
  std::vector<MetricRequest> metrics;
  // Of full rankings, which options.select_by may name too; they are made where it does.
  FullRankingRequest full = {};
  // Negatives keep their positive's source.
  bool same_source = false;
  // Where the model's decoder needs choices.
  std::shared_ptr<const ViewChooser> chooser = nullptr;
  // All views count the same in training; the choices are for scoring alone.
  bool alike = false;
  at::Device device = at::kCPU;

  [[nodiscard]] bool validates() const { return !metrics.empty(); }
};

// Lets options.select_by name the metric by whose validation the best epoch is kept, where there is
// one. Throws ConfigError for one that is not reported.
void nameDecidingMetric(TrainerSetup& setup);

// What validation edges say of a scorer by the setup's metrics; those of full rankings where one of
// them decides.
[[nodiscard]] MetricSet validateScorer(const LinkScorer& scorer, const Dataset& dataset,
                                       const TrainingEdges& training, const TrainerSetup& setup);

// One step of the model's weights down the gradient of `loss`, at `rate` and clipped by the
// options; counts in the state. Returns the loss. Throws Error when loss or gradient are not
// finite.
double descend(TrainingState& state, const at::Tensor& loss, const TrainingOptions& options,
               double rate, StageWatch& stages = unwatched());

class LinkTrainer final : public PhaseTrainer {
 public:
  LinkTrainer(const LinkModel& model, const Dataset& dataset, const TrainingEdges& training,
              TrainerSetup setup);
  LinkTrainer(const LinkTrainer&) = delete;
  LinkTrainer& operator=(const LinkTrainer&) = delete;
  LinkTrainer(LinkTrainer&&) = delete;
  LinkTrainer& operator=(LinkTrainer&&) = delete;
  ~LinkTrainer() override;

  [[nodiscard]] TrainingState start(ProgressSink& progress = silentProgress()) const override;
  void run(TrainingState& state, const SaveState& save,
           ProgressSink& progress = silentProgress()) override;
  void learn(TrainingState& state) override;
  void settle(TrainingState& state) override;
  [[nodiscard]] MetricSet validated(const TrainingState& state) const override;
  [[nodiscard]] bool validates() const override { return setup_.validates(); }

  // One step on a batch: forward, backward, update. Returns the loss. For benchmarks and `run`.
  // Its stages begin with kIndex.
  double step(TrainingState& state, const EdgeBatch& batch, StageWatch& stages = unwatched());
  [[nodiscard]] BatchStream& batches() { return batches_; }
  [[nodiscard]] MetricSet validate(const Parameters& parameters) const;

 private:
  // Of a batch, with what its gradient needs.
  [[nodiscard]] at::Tensor batchLoss(const TrainingState& state, const EdgeBatch& batch,
                                     StageWatch& stages) const;
  void sendPositiveViews();
  [[nodiscard]] ViewChoice choiceFor(const EdgeBatch& batch) const;
  void learnOnDevice(TrainingState& state);
  [[nodiscard]] ViewChoice choiceOnDevice(const detail::DeviceBatch& batch) const;

  const LinkModel& model_;
  const Dataset& dataset_;
  const TrainingEdges& training_;
  TrainerSetup setup_;
  BatchStream batches_;
  std::shared_ptr<const MessagePlan> messages_;
  // While validating; the same plan unless validation nodes bring edges of their own.
  std::shared_ptr<const MessagePlan> valid_messages_;
  // Where the loss needs choices: on messages_, and what was chosen for the supervision edges.
  std::unique_ptr<BoundChooser> chooser_;
  std::optional<ViewChoices> positive_views_;
  // On a GPU alone; the same choices there, [supervision edges, views of each].
  std::unique_ptr<detail::DeviceLearning> device_;
  at::Tensor positive_places_;
  at::Tensor positive_weights_;
};

// The views of supervision edges, once for all; where choices depend on messages and `masked`, each
// block of so many edges is chosen for without its own edges among them.
struct MaskedBlocks {
  bool masked = true;
  std::size_t block = 1024;
};
[[nodiscard]] ViewChoices chooseSupervised(const ViewChooser& chooser,
                                           const std::shared_ptr<const MessagePlan>& messages,
                                           std::span<const Edge> edges, std::size_t node_count,
                                           MaskedBlocks blocks);

// A model that has learned nothing yet, as a phase of training starts.
[[nodiscard]] TrainingState freshState(Parameters parameters, const TrainerSetup& setup);

// The message graph as this model's encoder aggregates it. Messages go both ways along directed
// edges.
[[nodiscard]] std::shared_ptr<const MessagePlan> planMessages(const LinkModel& model,
                                                              const Dataset& dataset,
                                                              const MessageEdges& messages,
                                                              bool edge_weights);

}  // namespace edgewise
