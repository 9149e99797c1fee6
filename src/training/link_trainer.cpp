#include "edgewise/training/link_trainer.h"

#include <ATen/Functions.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "edgewise/evaluation/link_evaluation.h"
#include "edgewise/ops/device.h"
#include "edgewise/ops/gradients.h"
#include "edgewise/ops/view_mixture.h"
#include "edgewise/training/model_scorer.h"
#include "edgewise/util/error.h"
#include "training/device_learning.h"

namespace edgewise {
namespace {

AdamOptions adamOptions(const TrainingOptions& options) {
  return {.learning_rate = options.learning_rate, .weight_decay = options.weight_decay};
}

std::string decidingMetric(const TrainingOptions& options, std::span<const MetricRequest> metrics,
                           std::span<const MetricRequest> full_metrics) {
  if (options.select_by == "auto") {
    return metricName(metrics.front());
  }
  const MetricRequest asked = parseMetric(options.select_by);
  if (std::ranges::find(metrics, asked) == metrics.end() &&
      std::ranges::find(full_metrics, asked) == full_metrics.end()) {
    throw ConfigError(fmt::format("training.select_by: {} is not among the metrics of this run",
                                  options.select_by),
                      "add it to evaluation.metrics, or to evaluation.full_metrics");
  }
  return metricName(asked);
}

}  // namespace

void nameDecidingMetric(TrainerSetup& setup) {
  if (setup.validates()) {
    setup.options.select_by = decidingMetric(setup.options, setup.metrics, setup.full.requests);
  }
}

MetricSet validateScorer(const LinkScorer& scorer, const Dataset& dataset,
                         const TrainingEdges& training, const TrainerSetup& setup) {
  MetricSet metrics =
      evaluateHeldOut(scorer, training.valid.positive, training.valid.negative, setup.metrics);
  if (!metrics.find(setup.options.select_by)) {
    // What users have met is what was learned from; where validation edges leak into the messages,
    // they are still to be found.
    MessageEdges known{training.supervision.table};
    known.table.append(training.revealed_at_valid.table);
    const MetricSet full =
        evaluateFullRanking(scorer, dataset, known, training.valid.positive, setup.full);
    for (const auto& [name, value] : full.values()) {
      metrics.set(name, value);
    }
  }
  return metrics;
}

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
      dataset_(dataset),
      training_(training),
      setup_(std::move(setup)),
      batches_(dataset, training,
               {.batch_size = static_cast<std::size_t>(setup_.options.batch_size),
                .negatives_per_positive = static_cast<std::size_t>(setup_.options.negatives),
                .same_source = setup_.same_source,
                .hidden = setup_.options.mask_targets,
                .recent = setup_.options.recent},
               setup_.seed),
      messages_(planMessages(model, dataset, training.message, setup_.edge_weights)),
      valid_messages_(
          training.revealed_at_valid.table.empty()
              ? messages_
              : planMessages(model, dataset, messagesAtValid(training), setup_.edge_weights)) {
  invariant(model.decoder().choosesViews() == (setup_.chooser != nullptr),
            "views are chosen where the decoder needs choices, and only there");
  nameDecidingMetric(setup_);
  if (setup_.chooser && !setup_.alike) {
    chooser_ = setup_.chooser->on(messages_);
    positive_views_ =
        chooseSupervised(*setup_.chooser, messages_, batches_.supervision(), model_.nodeCount(),
                         {.masked = setup_.options.mask_targets, .block = batches_.batchSize()});
  }
  if (onDevice(setup_.device)) {
    device_ = std::make_unique<detail::DeviceLearning>(batches_, setup_.device);
    if (positive_views_) {
      sendPositiveViews();
    }
  }
}

LinkTrainer::~LinkTrainer() = default;

ViewChoices chooseSupervised(const ViewChooser& chooser,
                             const std::shared_ptr<const MessagePlan>& messages,
                             std::span<const Edge> edges, std::size_t node_count,
                             MaskedBlocks blocks) {
  const bool masked = blocks.masked && chooser.looksAtMessages();
  const std::size_t block = masked ? blocks.block : std::size_t{16'384};
  const std::size_t count = (edges.size() + block - 1) / block;
  const auto bound = masked ? nullptr : chooser.on(messages);
  std::optional<ViewChoices> views;
  std::vector<std::uint32_t> place(edges.size());
  std::uint32_t chosen = 0;
  // Edges lie in the order of their sources: those next to each other, masked, would take all that
  // a node hears away at once, so every count-th is taken then.
  const std::size_t stride = masked ? count : 1;
  for (std::size_t number = 0; number < count; ++number) {
    std::vector<Edge> some;
    for (std::size_t row = masked ? number : number * block;
         row < edges.size() && some.size() < block; row += stride) {
      some.push_back(edges[row]);
      place[row] = chosen++;
    }
    const auto index = PairIndex::make(some, node_count);
    const ViewChoice choice =
        masked ? chooser.on(messages->without(some))->choose(index) : bound->choose(index);
    if (!views) {
      views = *choice;
    } else {
      views->append(*choice);
    }
  }
  if (!views) {
    return ViewChoices(1);
  }
  return masked ? views->select(place) : *std::move(views);
}

void LinkTrainer::sendPositiveViews() {
  const auto edges = static_cast<std::int64_t>(positive_views_->pairCount());
  const auto each = static_cast<std::int64_t>(positive_views_->perPair());
  at::Tensor places = at::empty({edges, each}, at::kByte);
  at::Tensor weights = at::empty({edges, each}, at::kFloat);
  auto* place = places.data_ptr<std::uint8_t>();
  auto* weight = weights.data_ptr<float>();
  const std::size_t depth = model_.encoder().depth();
  for (std::size_t edge = 0; edge < positive_views_->pairCount(); ++edge) {
    for (const LayerPair& view : positive_views_->views(edge)) {
      *place++ = static_cast<std::uint8_t>(view.source * depth + view.target);
    }
    weight = std::ranges::copy(positive_views_->weights(edge), weight).out;
  }
  positive_places_ = places.to(setup_.device);
  positive_weights_ = weights.to(setup_.device);
}

ViewChoice LinkTrainer::choiceOnDevice(const detail::DeviceBatch& batch) const {
  const std::size_t depth = model_.encoder().depth();
  const at::Tensor known =
      knownShares(batch.rows, positive_places_, positive_weights_, depth * depth);
  const auto negative = PairIndex::makeOnDevice(batch.negative(), model_.nodeCount());
  const ViewChoice chosen = chooser_->choose(negative);
  return ViewChoices::onDevice(at::cat({known, chosen->shares(depth, known.options())}, 1),
                               std::max(positive_views_->perPair(), chosen->perPair()));
}

ViewChoice LinkTrainer::choiceFor(const EdgeBatch& batch) const {
  auto choice = std::make_shared<ViewChoices>(positive_views_->select(batch.rows));
  choice->append(*chooser_->choose(PairIndex::make(batch.negative, model_.nodeCount())));
  return choice;
}

TrainingState freshState(Parameters parameters, const TrainerSetup& setup) {
  Adam adam(parameters, adamOptions(setup.options));
  return {.parameters = std::move(parameters), .adam = std::move(adam)};
}

TrainingState LinkTrainer::start(ProgressSink& progress) const {
  return freshState(model_.start(setup_.seed, *messages_, setup_.device, progress), setup_);
}

MetricSet LinkTrainer::validate(const Parameters& parameters) const {
  const ModelScorer scorer(model_, parameters, valid_messages_, setup_.chooser.get());
  return validateScorer(scorer, dataset_, training_, setup_);
}

at::Tensor LinkTrainer::batchLoss(const TrainingState& state, const EdgeBatch& batch,
                                  StageWatch& stages) const {
  const auto messages =
      setup_.options.mask_targets ? messages_->without(batch.positive) : messages_;
  PairBatch pairs = PairBatch::make(batch.positive, batch.negative, model_.nodeCount());
  stages.ended(stage::kIndex);
  if (chooser_) {
    pairs.choice = choiceFor(batch);
    stages.ended(stage::kChoose);
  }
  const Noise noise(setup_.seed, static_cast<std::uint64_t>(state.steps));
  const EncodedPairs encoded = model_.encodePairs(state.parameters, messages, pairs.pairs, noise);
  stages.ended(stage::kEncode);
  at::Tensor value = model_.decodedLoss(state.parameters, encoded, pairs, noise);
  stages.ended(stage::kDecode);
  return value;
}

double descend(TrainingState& state, const at::Tensor& loss, const TrainingOptions& options,
               double rate, StageWatch& stages) {
  const std::vector<at::Tensor> slope = gradients(loss, state.parameters.tensors());
  stages.ended(stage::kBackward);
  const double norm = gradientNorm(slope);
  const double value = loss.item<double>();
  if (!std::isfinite(value) || !std::isfinite(norm)) {
    throw Error(fmt::format("training diverged at step {}: loss {}, gradient norm {}", state.steps,
                            value, norm),
                "lower training.lr, or set training.clip", ExitCode::kFailure);
  }
  state.adam.step(state.parameters, slope, rate,
                  options.clip > 0 && norm > options.clip ? options.clip / norm : 1);
  stages.ended(stage::kOptimizer);
  state.norm_sum += norm;
  state.loss_sum += value;
  ++state.steps;
  return value;
}

double LinkTrainer::step(TrainingState& state, const EdgeBatch& batch, StageWatch& stages) {
  const TrainingOptions& options = setup_.options;
  const double rate = learningRateAt(options, state.steps, plannedSteps(options, batches_));
  return descend(state, batchLoss(state, batch, stages), options, rate, stages);
}

void LinkTrainer::run(TrainingState& state, const SaveState& save, ProgressSink& progress) {
  EpochLoop(*this, batches_, setup_.options).run(state, "training", save, progress);
}

void LinkTrainer::learn(TrainingState& state) {
  if (device_) {
    learnOnDevice(state);
    return;
  }
  std::ignore = step(state, batches_.batch(static_cast<std::size_t>(state.batch)));
}

void LinkTrainer::settle(TrainingState& state) {
  if (device_) {
    device_->settle(state);
  }
}

void LinkTrainer::learnOnDevice(TrainingState& state) {
  const TrainingOptions& options = setup_.options;
  const auto number = static_cast<std::size_t>(state.batch);
  const detail::DeviceBatch& batch = device_->batches().memoryFor(number);
  const auto fill = [&] {
    const double rate = learningRateAt(options, state.steps, plannedSteps(options, batches_));
    const Adam::Correction correction = state.adam.nextStep(rate);
    device_->batches().fill(static_cast<std::uint64_t>(state.epoch), number);
    device_->step().set({.noise_step = static_cast<std::uint64_t>(state.steps),
                         .adam_step = correction.step,
                         .adam_root = correction.root});
  };
  const auto body = [&] {
    const auto messages =
        options.mask_targets ? messages_->withoutOnDevice(batch.positive()) : messages_;
    PairBatch pairs = batch.pairs(model_.nodeCount());
    if (chooser_) {
      pairs.choice = choiceOnDevice(batch);
    }
    const Noise noise(setup_.seed, device_->step().noiseStep());
    device_->descend(state, model_.loss(state.parameters, messages, pairs, noise), options.clip);
  };
  const bool replayable = !chooser_ || chooser_->choosesOnDevice();
  device_->learn(state, static_cast<std::uint64_t>(batch.rows.size(0)), replayable, fill, body);
}

MetricSet LinkTrainer::validated(const TrainingState& state) const {
  return validate(state.parameters);
}

}  // namespace edgewise
