#include "edgewise/training/subgraph_trainer.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "edgewise/evaluation/link_evaluation.h"
#include "edgewise/ops/device.h"
#include "edgewise/ops/gradients.h"
#include "edgewise/ops/rowwise.h"
#include "edgewise/util/error.h"
#include "edgewise/util/process.h"
#include "edgewise/util/rng.h"
#include "training/device_learning.h"
#include "training/made_ahead.h"

namespace edgewise {
namespace {

// Edges that are chosen for at once, and are out of the messages meanwhile: few, so that the others
// still look as they will when pairs are scored.
std::size_t maskedBlock(std::size_t edges) {
  constexpr std::size_t kBlocks = 50;
  return std::max<std::size_t>(1, (edges + kBlocks - 1) / kBlocks);
}

constexpr std::int64_t kTimedEvery = 16;

// Pairs that are scored at once.
std::size_t scoredAtOnce(const TrainingOptions& options) {
  return static_cast<std::size_t>(options.batch_size * (1 + options.negatives));
}

}  // namespace

CsrGraph subgraphMessages(const Dataset& dataset, const MessageEdges& messages) {
  return CsrGraph::fromEdges(dataset.node_count, messages.table.edges);
}

SubgraphTrainer::SubgraphTrainer(const SubgraphModel& model, const Dataset& dataset,
                                 const TrainingEdges& training, SubgraphSetup setup)
    : model_(model),
      dataset_(dataset),
      training_(training),
      setup_(std::move(setup)),
      batches_(
          dataset, training,
          {.batch_size = static_cast<std::size_t>(setup_.trainer.options.batch_size),
           .negatives_per_positive = static_cast<std::size_t>(setup_.trainer.options.negatives),
           .share = setup_.subgraphs.train_share,
           .recent = setup_.trainer.options.recent},
          setup_.trainer.seed) {
  nameDecidingMetric(setup_.trainer);
  ExtractionOptions extraction = setup_.subgraphs.extraction(setup_.trainer.seed);
  constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
  extraction.store = {.folder = setup_.subgraphs.cache,
                      .most_bytes = static_cast<std::uint64_t>(setup_.subgraphs.cache_gib * kGib)};
  cutter_ = std::make_shared<const SubgraphCutter>(
      model, subgraphMessages(dataset, training.message), extraction);
  valid_cutter_ =
      training.revealed_at_valid.table.empty()
          ? cutter_
          : std::make_shared<const SubgraphCutter>(
                model, subgraphMessages(dataset, messagesAtValid(training)), extraction);
  if (const auto& chooser = setup_.trainer.chooser) {
    chooser_ = chooser->on(setup_.messages);
    positive_views_ =
        chooseSupervised(*chooser, setup_.messages, batches_.supervision(), dataset.node_count,
                         {.block = maskedBlock(training.message.table.size())});
  }
  if (onDevice(setup_.trainer.device)) {
    device_ = std::make_unique<detail::DeviceLearning>(batches_, setup_.trainer.device);
  }
}

SubgraphTrainer::~SubgraphTrainer() = default;

TrainingState SubgraphTrainer::start(ProgressSink&) const {
  const TrainerSetup& setup = setup_.trainer;
  return freshState(Parameters::initial(model_.layout(), setup.seed, at::kFloat, setup.device),
                    setup);
}

void SubgraphTrainer::run(TrainingState& state, const SaveState& save, ProgressSink& progress) {
  EpochLoop(*this, batches_, setup_.trainer.options).run(state, "training", save, progress);
}

ViewedPairs SubgraphTrainer::viewed(const EdgeBatch& batch) const {
  std::vector<Edge> pairs = batch.positive;
  pairs.insert(pairs.end(), batch.negative.begin(), batch.negative.end());
  ViewedPairs viewed;
  if (chooser_) {
    ViewChoices choice = positive_views_->select(batch.rows);
    choice.append(*chooser_->choose(PairIndex::make(batch.negative, cutter_->graph().nodeCount())));
    // Where several views count, another one at every epoch: a step costs what one view costs.
    viewed =
        ViewedPairs::drawn(pairs, choice, setup_.sight.nearest,
                           CounterRng(setup_.trainer.seed, "subgraphs.view"), batches_.epoch());
  } else {
    viewed = ViewedPairs::alike(pairs, setup_.sight.view);
  }
  if (setup_.sight.symmetric) {
    viewed.turn();
  }
  if (!chooser_ && setup_.sight.twoWays()) {
    // Each pair one way, by lot, and the same at every epoch.
    const CounterRng lots(setup_.trainer.seed, "subgraphs.way");
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const HopView view = setup_.sight.view;
      viewed.views[i] =
          lots.below(edgeKey(viewed.pairs[i]), 2) == 0 ? view : HopView{view.target, view.source};
    }
  }
  return viewed;
}

SubgraphStep SubgraphTrainer::prepare(std::size_t number) const {
  const WithoutGradients guard;
  const EdgeBatch batch = batches_.batch(number);
  const auto links = static_cast<std::int64_t>(batch.positive.size());
  at::Tensor labels =
      at::zeros({links + static_cast<std::int64_t>(batch.negative.size())}, at::kFloat);
  labels.narrow(0, 0, links).fill_(1);
  // Negatives are others at every epoch.
  return {.input = cutter_->cut(viewed(batch), batch.positive.size()), .labels = std::move(labels)};
}

at::Tensor SubgraphTrainer::batchLoss(const TrainingState& state, const SubgraphStep& batch) const {
  const Noise noise(setup_.trainer.seed, static_cast<std::uint64_t>(state.steps));
  const at::Tensor logits = model_.network().logits(state.parameters, batch.input, noise);
  return binaryCrossEntropy(logits, batch.labels.to(logits.device()));
}

void SubgraphTrainer::step(TrainingState& state, const SubgraphStep& batch) {
  if (device_) {
    stepOnDevice(state, batch);
    return;
  }
  const TrainingOptions& options = setup_.trainer.options;
  std::ignore = descend(state, batchLoss(state, batch), options,
                        learningRateAt(options, state.steps, plannedSteps(options, batches_)));
}

// Every batch has other sizes, so no step is recorded; but nothing waits for the GPU.
void SubgraphTrainer::stepOnDevice(TrainingState& state, const SubgraphStep& batch) {
  const TrainingOptions& options = setup_.trainer.options;
  const auto fill = [&] {
    const Adam::Correction correction =
        state.adam.nextStep(learningRateAt(options, state.steps, plannedSteps(options, batches_)));
    device_->step().set({.noise_step = static_cast<std::uint64_t>(state.steps),
                         .adam_step = correction.step,
                         .adam_root = correction.root});
  };
  const auto body = [&] { device_->descend(state, batchLoss(state, batch), options.clip); };
  device_->learn(state, 0, /*replayable=*/false, fill, body);
}

void SubgraphTrainer::learn(TrainingState& state) {
  if (ahead_ == nullptr || ahead_epoch_ != state.epoch || ahead_batch_ != state.batch) {
    ahead_.reset();
    const auto first = static_cast<std::size_t>(state.batch);
    ahead_ = std::make_unique<detail::MadeAhead<SubgraphStep>>(
        detail::hasCoreToSpare(!setup_.trainer.device.is_cpu()), batches_.batchesPerEpoch() - first,
        [this, first](std::size_t number) { return prepare(first + number); });
    ahead_epoch_ = state.epoch;
    ahead_batch_ = state.batch;
  }
  // Every so often, what a step takes when its subgraphs are there and the device has nothing else
  // to do.
  const bool timed = state.steps % kTimedEvery == kTimedEvery - 1;
  if (timed) {
    finishDevice(setup_.trainer.device);
  }
  const auto batch = ahead_->next();
  ++ahead_batch_;
  const Stopwatch watch;
  step(state, *batch);
  if (timed) {
    finishDevice(setup_.trainer.device);
    state.timed_seconds += watch.seconds();
    ++state.timed_steps;
  }
}

// The stream of batches moves to another epoch next, which no other thread must be looking at.
void SubgraphTrainer::settle(TrainingState& state) {
  ahead_.reset();
  if (device_) {
    device_->settle(state);
  }
}

MetricSet SubgraphTrainer::validated(const TrainingState& state) const {
  SubgraphScorer::Sight sight{
      .pairs = setup_.sight, .chooser = nullptr, .batch = scoredAtOnce(setup_.trainer.options)};
  if (setup_.trainer.chooser) {
    sight.chooser = setup_.trainer.chooser->on(setup_.valid_messages);
  }
  const SubgraphScorer scorer(model_, state.parameters, valid_cutter_, std::move(sight));
  return validateScorer(scorer, dataset_, training_, setup_.trainer);
}

}  // namespace edgewise
