#include "edgewise/training/link_trainer.h"

#include <ATen/Functions.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "edgewise/evaluation/link_evaluation.h"
#include "edgewise/ops/gradients.h"
#include "edgewise/training/model_scorer.h"
#include "edgewise/util/error.h"
#include "edgewise/util/interrupt.h"
#include "edgewise/util/process.h"

namespace edgewise {
namespace {

// Which of the reported metrics decides.
std::string deciding(const TrainerSetup& setup) {
  if (setup.options.select_by == "auto") {
    return metricName(setup.metrics.front());
  }
  const MetricRequest asked = parseMetric(setup.options.select_by);
  if (std::ranges::find(setup.metrics, asked) == setup.metrics.end()) {
    throw ConfigError(fmt::format("training.select_by: {} is not among the metrics of this run",
                                  setup.options.select_by),
                      "add it to evaluation.metrics");
  }
  return metricName(asked);
}

AdamOptions adamOptions(const TrainingOptions& options) {
  return {.learning_rate = options.learning_rate, .weight_decay = options.weight_decay};
}

}  // namespace

std::shared_ptr<const MessagePlan> planMessages(const LinkModel& model, const Dataset& dataset,
                                                const MessageEdges& messages, bool edge_weights) {
  const std::span<const float> weights =
      edge_weights ? std::span<const float>(messages.table.weight) : std::span<const float>();
  return MessagePlan::make(CsrGraph::fromEdges(dataset.node_count, messages.table.edges,
                                               Direction::kUndirected, weights),
                           model.encoder().norm());
}

LinkTrainer::LinkTrainer(const LinkModel& model, const Dataset& dataset,
                         const TrainingEdges& training, TrainerSetup setup)
    : model_(model),
      training_(training),
      setup_(std::move(setup)),
      batches_(dataset, training,
               {.batch_size = static_cast<std::size_t>(setup_.options.batch_size),
                .negatives_per_positive = static_cast<std::size_t>(setup_.options.negatives)},
               setup_.seed),
      messages_(planMessages(model, dataset, training.message, setup_.edge_weights)),
      valid_messages_(
          training.revealed_at_valid.table.empty()
              ? messages_
              : planMessages(model, dataset, messagesAtValid(training), setup_.edge_weights)) {
  invariant(!setup_.metrics.empty(), "a trainer needs a metric to validate by");
  setup_.options.select_by = deciding(setup_);
}

TrainingState LinkTrainer::start() const {
  Parameters parameters = Parameters::initial(model_.layout(), setup_.seed);
  Adam adam(parameters, adamOptions(setup_.options));
  return {.parameters = std::move(parameters), .adam = std::move(adam)};
}

std::int64_t LinkTrainer::totalSteps() const {
  const std::int64_t all =
      setup_.options.epochs * static_cast<std::int64_t>(batches_.batchesPerEpoch());
  return setup_.options.max_steps > 0 ? std::min(all, setup_.options.max_steps) : all;
}

bool LinkTrainer::outOfSteps(const TrainingState& state) const {
  return setup_.options.max_steps > 0 && state.steps >= setup_.options.max_steps;
}

MetricSet LinkTrainer::validate(const Parameters& parameters) const {
  const ModelScorer scorer(model_, parameters, valid_messages_);
  return evaluateHeldOut(scorer, training_.valid.positive, training_.valid.negative,
                         setup_.metrics);
}

at::Tensor LinkTrainer::batchLoss(const TrainingState& state, const EdgeBatch& batch,
                                  StageWatch& stages) const {
  const auto messages =
      setup_.options.mask_targets ? messages_->without(batch.positive) : messages_;
  const PairBatch pairs = PairBatch::make(batch.positive, batch.negative, model_.nodeCount());
  stages.ended(stage::kIndex);
  const Noise noise(setup_.seed, static_cast<std::uint64_t>(state.steps));
  const LayerOutputs layers = model_.encode(state.parameters, messages, noise);
  stages.ended(stage::kEncode);
  at::Tensor value = model_.decoder().loss(state.parameters, layers, pairs, noise);
  stages.ended(stage::kDecode);
  return value;
}

double LinkTrainer::step(TrainingState& state, const EdgeBatch& batch, StageWatch& stages) {
  const at::Tensor loss = batchLoss(state, batch, stages);
  const std::vector<at::Tensor> slope = gradients(loss, state.parameters.tensors());
  stages.ended(stage::kBackward);
  const double norm = gradientNorm(slope);
  const double value = loss.item<double>();
  if (!std::isfinite(value) || !std::isfinite(norm)) {
    throw Error(fmt::format("training diverged at step {}: loss {}, gradient norm {}", state.steps,
                            value, norm),
                "lower training.lr, or set training.clip", ExitCode::kFailure);
  }
  const double clip = setup_.options.clip;
  state.adam.step(state.parameters, slope,
                  learningRateAt(setup_.options, state.steps, totalSteps()),
                  clip > 0 && norm > clip ? clip / norm : 1);
  stages.ended(stage::kOptimizer);
  state.norm_sum += norm;
  state.loss_sum += value;
  ++state.steps;
  return value;
}

void LinkTrainer::run(TrainingState& state, const std::function<void(const TrainingState&)>& save,
                      ProgressSink& progress) {
  ProgressTask task(progress, "training", static_cast<std::uint64_t>(totalSteps()));
  task.advance(static_cast<std::uint64_t>(state.steps));
  saved_at_ = state.seconds;
  while (!state.finished && state.epoch < setup_.options.epochs) {
    trainEpoch(state, save, task);
    closeEpoch(state, task);
    if (state.finished || state.seconds - saved_at_ >= setup_.options.checkpoint_seconds) {
      saved_at_ = state.seconds;
      save(state);
    }
  }
  if (!state.finished) {
    state.finished = true;
    save(state);
  }
}

void LinkTrainer::trainEpoch(TrainingState& state,
                             const std::function<void(const TrainingState&)>& save,
                             ProgressTask& task) {
  batches_.beginEpoch(static_cast<std::uint64_t>(state.epoch));
  const auto count = static_cast<std::int64_t>(batches_.batchesPerEpoch());
  while (state.batch < count && !outOfSteps(state)) {
    if (interruptRequested()) {
      save(state);
      throwIfInterrupted();
    }
    const Stopwatch watch;
    step(state, batches_.batch(static_cast<std::size_t>(state.batch)));
    ++state.batch;
    state.step_seconds += watch.seconds();
    state.seconds += watch.seconds();
    if (setup_.options.checkpoint_seconds > 0 &&
        state.seconds - saved_at_ >= setup_.options.checkpoint_seconds) {
      saved_at_ = state.seconds;
      save(state);
    }
    task.advance();
  }
}

// Validates where it is due, and decides whether this was the last epoch.
void LinkTrainer::closeEpoch(TrainingState& state, ProgressTask& task) {
  const TrainingOptions& options = setup_.options;
  const Stopwatch watch;
  const auto count = static_cast<double>(std::max<std::int64_t>(1, state.batch));
  const double loss = state.loss_sum / count;
  const double norm = state.norm_sum / count;
  const std::int64_t epoch = state.epoch++;
  state.batch = 0;
  state.loss_sum = 0;
  state.norm_sum = 0;
  const bool last = state.epoch >= options.epochs || outOfSteps(state);
  if (!last && state.epoch % options.evaluate_every != 0) {
    return;
  }
  CurvePoint point{.epoch = epoch + 1,
                   .steps = state.steps,
                   .loss = loss,
                   .learning_rate = learningRateAt(options, state.steps - 1, totalSteps()),
                   .gradient_norm = norm,
                   .valid = validate(state.parameters),
                   .seconds = 0};
  const double value = point.valid.at(options.select_by);
  if (!state.best.defined() || value > state.best_value) {
    state.best = state.parameters.flat().clone();
    state.best_value = value;
    state.best_epoch = epoch + 1;
  }
  state.seconds += watch.seconds();
  point.seconds = state.seconds;
  state.curve.push_back(std::move(point));
  task.remark(fmt::format("loss {:.4f}, valid {} {:.4f} (best {:.4f})", loss, options.select_by,
                          value, state.best_value));
  const bool tired = options.patience > 0 && epoch + 1 - state.best_epoch >= options.patience;
  state.finished = last || tired;
}

}  // namespace edgewise
