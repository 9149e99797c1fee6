#include "edgewise/training/epoch_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "edgewise/util/interrupt.h"
#include "edgewise/util/process.h"
#include "training/weight_average.h"

namespace edgewise {

std::int64_t plannedSteps(const TrainingOptions& options, const BatchStream& batches) {
  const std::int64_t all = options.epochs * static_cast<std::int64_t>(batches.batchesPerEpoch());
  return options.max_steps > 0 ? std::min(all, options.max_steps) : all;
}

EpochLoop::EpochLoop(Learner& learner, BatchStream& batches, TrainingOptions options)
    : learner_(learner), batches_(batches), options_(std::move(options)) {}

bool EpochLoop::outOfSteps(const TrainingState& state) const {
  return options_.max_steps > 0 && state.steps >= options_.max_steps;
}

void EpochLoop::keep(TrainingState& state) const {
  state.best = state.parameters.flat().clone();
  if (state.selector) {
    state.selector->best = state.selector->parameters.flat().clone();
  }
  state.best_epoch = state.epoch;
}

void EpochLoop::keepBest(TrainingState& state, double value) const {
  if (!state.best.defined() || value > state.best_value) {
    keep(state);
    state.best_value = value;
  }
}

void EpochLoop::run(TrainingState& state, std::string_view label, const SaveState& save,
                    ProgressSink& progress) {
  ProgressTask task(progress, label, static_cast<std::uint64_t>(plannedSteps(options_, batches_)));
  task.advance(static_cast<std::uint64_t>(state.steps));
  saved_at_ = state.seconds;
  while (!state.finished && state.epoch < options_.epochs) {
    trainEpoch(state, save, task);
    closeEpoch(state, task);
    if (state.finished || state.seconds - saved_at_ >= options_.checkpoint_seconds) {
      saved_at_ = state.seconds;
      save(state);
    }
  }
  if (!state.finished) {
    state.finished = true;
    save(state);
  }
}

// Waiting for a device is time spent on steps.
void EpochLoop::settle(TrainingState& state) const {
  const Stopwatch watch;
  learner_.settle(state);
  state.step_seconds += watch.seconds();
  state.seconds += watch.seconds();
}

void EpochLoop::trainEpoch(TrainingState& state, const SaveState& save, ProgressTask& task) {
  batches_.beginEpoch(static_cast<std::uint64_t>(state.epoch));
  const auto count = static_cast<std::int64_t>(batches_.batchesPerEpoch());
  while (state.batch < count && !outOfSteps(state)) {
    if (interruptRequested()) {
      settle(state);
      save(state);
      throwIfInterrupted();
    }
    const Stopwatch watch;
    learner_.learn(state);
    if (options_.average > 0) {
      detail::averageIn(state, options_.average);
    }
    ++state.batch;
    state.step_seconds += watch.seconds();
    state.seconds += watch.seconds();
    if (options_.checkpoint_seconds > 0 &&
        state.seconds - saved_at_ >= options_.checkpoint_seconds) {
      settle(state);
      saved_at_ = state.seconds;
      save(state);
    }
    task.advance();
  }
  settle(state);
}

CurvePoint EpochLoop::pointOf(const TrainingState& state, double loss, double norm) const {
  return {
      .epoch = state.epoch,
      .steps = state.steps,
      .loss = loss,
      .learning_rate = learningRateAt(options_, state.steps - 1, plannedSteps(options_, batches_)),
      .gradient_norm = norm,
      .valid = MetricSet(),
      .seconds = state.seconds};
}

void EpochLoop::closeUnvalidated(TrainingState& state, double loss, double norm,
                                 ProgressTask& task) const {
  state.curve.push_back(pointOf(state, loss, norm));
  keep(state);
  task.remark(fmt::format("loss {:.4f}", loss));
}

// Validates where it is due, and decides whether this was the last epoch.
void EpochLoop::closeEpoch(TrainingState& state, ProgressTask& task) const {
  const Stopwatch watch;
  const auto count = static_cast<double>(std::max<std::int64_t>(1, state.batch));
  const double loss = state.loss_sum / count;
  const double norm = state.norm_sum / count;
  ++state.epoch;
  state.batch = 0;
  state.loss_sum = 0;
  state.norm_sum = 0;
  const bool last = state.epoch >= options_.epochs || outOfSteps(state);
  if (!learner_.validates()) {
    const detail::AveragesInPlace averages(state);
    closeUnvalidated(state, loss, norm, task);
    state.finished = last;
    return;
  }
  if (!last && state.epoch % options_.evaluate_every != 0) {
    return;
  }
  const detail::AveragesInPlace averages(state);
  CurvePoint point = pointOf(state, loss, norm);
  point.valid = learner_.validated(state);
  const double value = point.valid.at(options_.select_by);
  if (last || (state.epoch > options_.keep_after && learner_.worthKeeping(state.epoch))) {
    keepBest(state, value);
  }
  state.seconds += watch.seconds();
  point.seconds = state.seconds;
  state.curve.push_back(std::move(point));
  task.remark(fmt::format("loss {:.4f}, valid {} {:.4f} (best {:.4f})", loss, options_.select_by,
                          value, state.best.defined() ? state.best_value : value));
  const bool tired = options_.patience > 0 && state.best.defined() &&
                     state.epoch - state.best_epoch >= options_.patience;
  state.finished = last || tired;
}

}  // namespace edgewise
