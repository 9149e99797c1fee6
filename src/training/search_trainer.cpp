#include "edgewise/training/search_trainer.h"

#include <ATen/Functions.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "edgewise/ops/device.h"
#include "edgewise/ops/gradients.h"
#include "edgewise/training/model_scorer.h"
#include "edgewise/util/error.h"
#include "edgewise/util/rng.h"
#include "training/device_learning.h"

namespace edgewise {
namespace {

BatchOptions batchOptions(const SearchSetup& setup) {
  const TrainingOptions& options = setup.trainer.options;
  return {.batch_size = static_cast<std::size_t>(options.batch_size),
          .negatives_per_positive = static_cast<std::size_t>(options.negatives),
          .same_source = setup.trainer.same_source,
          .hidden = options.mask_targets || setup.upper.empty(),
          .recent = options.recent};
}

// Edges held out are as they are: each counts once.
BatchOptions upperOptions(const SearchSetup& setup) {
  BatchOptions options = batchOptions(setup);
  options.recent = 1;
  return options;
}

// Training edges as the upper level sees them.
TrainingEdges upperEdges(const TrainingEdges& training, const EdgeTable& upper) {
  TrainingEdges edges{.message = training.message,
                      .supervision = training.supervision,
                      .valid = {},
                      .revealed_at_valid = {}};
  if (!upper.empty()) {
    edges.supervision.table = upper;
  }
  return edges;
}

double orElse(double value, double fallback) { return value >= 0 ? value : fallback; }

// The selector's gradient; each of its passes lasts until the next begins.
SelectorGradient watchedGradient(const BilevelLosses& losses, const TrainingState& state,
                                 const BilevelOptions& options, StageWatch& stages) {
  std::string_view pass;
  const auto begin = [&](std::string_view next) {
    if (!pass.empty()) {
      stages.ended(pass);
    }
    pass = next;
  };
  const auto watched = [&](const BilevelLoss& loss, bool is_upper) {
    return [&, is_upper](const Parameters& weights, const Parameters& selector, GradientUse use) {
      begin(is_upper ? stage::kUpper : pass.empty() ? stage::kVirtual : stage::kDifference);
      return loss(weights, selector, use);
    };
  };
  SelectorGradient slope =
      selectorGradient({watched(losses.lower, false), watched(losses.upper, true)},
                       state.parameters, state.selector->parameters, options);
  begin({});
  return slope;
}

void requireFinite(const SelectorGradient& slope, std::int64_t step) {
  const double loss = slope.upper_loss.item<double>();
  if (!std::isfinite(loss) || !std::isfinite(gradientNorm(slope.gradient))) {
    throw Error(
        fmt::format("the search diverged at step {}: loss {} on held-out edges", step, loss),
        "lower selector.lr, or raise selector.tau", ExitCode::kFailure);
  }
}

constexpr std::uint64_t kUpperSeed = 0x5e1ec70000000000ULL;

}  // namespace

SearchTrainer::SearchTrainer(const LinkModel& model, const Dataset& dataset,
                             const TrainingEdges& training, SearchSetup setup)
    : model_(model),
      dataset_(dataset),
      training_(training),
      setup_(std::move(setup)),
      batches_(dataset, training, batchOptions(setup_), setup_.trainer.seed),
      upper_(dataset, upperEdges(training, setup_.upper), upperOptions(setup_),
             setup_.trainer.seed ^ kUpperSeed),
      messages_(planMessages(model, dataset, training.message, setup_.trainer.edge_weights)),
      valid_messages_(training.revealed_at_valid.table.empty()
                          ? messages_
                          : planMessages(model, dataset, messagesAtValid(training),
                                         setup_.trainer.edge_weights)) {
  invariant(model.selector() != nullptr, "a search needs a selector");
  invariant(!sharesBatches() || setup_.trainer.options.recent == 1,
            "edges that take turns are drawn once");
  TrainingOptions& options = setup_.trainer.options;
  nameDecidingMetric(setup_.trainer);
  options.epochs = setup_.selector.searchEpochs(options.epochs);
  if (!setup_.selector.joins()) {
    // Of the training that follows.
    options.keep_after = 0;
  }
  if (onDevice(setup_.trainer.device)) {
    const at::Device device = setup_.trainer.device;
    device_ = std::make_unique<detail::DeviceLearning>(batches_, device);
    device_upper_ =
        std::make_unique<detail::DeviceBatches>(sharesBatches() ? batches_ : upper_, device);
  }
}

SearchTrainer::~SearchTrainer() = default;

TrainingState SearchTrainer::start(ProgressSink& progress) const {
  const std::uint64_t seed = setup_.trainer.seed;
  const TrainingOptions& options = setup_.trainer.options;
  const at::Device device = setup_.trainer.device;
  Parameters weights = model_.start(seed, *messages_, device, progress);
  Adam adam(weights,
            {.learning_rate = options.learning_rate, .weight_decay = options.weight_decay});
  Parameters selector = Parameters::initial(model_.selectorLayout(), seed, at::kFloat, device);
  Adam selector_adam(selector,
                     {.learning_rate = orElse(setup_.selector.learning_rate, options.learning_rate),
                      .beta1 = setup_.selector.beta1});
  return {.parameters = std::move(weights),
          .adam = std::move(adam),
          .selector = SelectorState{std::move(selector), std::move(selector_adam)}};
}

void SearchTrainer::run(TrainingState& state, const SaveState& save, ProgressSink& progress) {
  TrainingOptions options = setup_.trainer.options;
  EpochLoop(*this, batches_, std::move(options)).run(state, "searching", save, progress);
}

double SearchTrainer::temperatureAt(const TrainingState& state) const {
  const double end = setup_.selector.temperature;
  const double start = orElse(setup_.selector.temperature_start, end);
  const std::int64_t warm =
      setup_.selector.warmup * static_cast<std::int64_t>(batches_.batchesPerEpoch());
  const std::int64_t total = plannedSteps(setup_.trainer.options, batches_) - warm;
  const double done = static_cast<double>(state.steps - warm) /
                      static_cast<double>(std::max<std::int64_t>(1, total));
  return start * std::pow(end / start, std::clamp(done, 0.0, 1.0));
}

// Held-out edges in a walk of their own, step after step; training edges that take turns are those
// of the next batch, so that no edge serves both levels at once.
SearchTrainer::UpperPlace SearchTrainer::upperPlace(const TrainingState& state) const {
  if (sharesBatches()) {
    return {true, static_cast<std::uint64_t>(state.epoch),
            static_cast<std::size_t>(state.batch + 1) % batches_.batchesPerEpoch()};
  }
  const auto count = static_cast<std::int64_t>(upper_.batchesPerEpoch());
  return {false, static_cast<std::uint64_t>(state.steps / count),
          static_cast<std::size_t>(state.steps % count)};
}

EdgeBatch SearchTrainer::upperBatch(const TrainingState& state) const {
  const UpperPlace place = upperPlace(state);
  return place.shared ? batches_.batch(place.number) : upper_.batchOf(place.epoch, place.number);
}

SearchTrainer::Levels SearchTrainer::levelsOf(const EdgeBatch& batch,
                                              const EdgeBatch& upper) const {
  std::vector<Edge> hidden =
      setup_.trainer.options.mask_targets || rotating() ? batch.positive : std::vector<Edge>();
  if (rotating()) {
    hidden.insert(hidden.end(), upper.positive.begin(), upper.positive.end());
  }
  const auto messages = hidden.empty() ? messages_ : messages_->without(hidden);
  // The model's own step may look at what only the selector learns from.
  const bool own = rotating() && setup_.selector.joins();
  const auto model_messages = !own ? messages
                              : setup_.trainer.options.mask_targets
                                  ? messages_->without(batch.positive)
                                  : messages_;
  const auto lower = setup_.selector.learnsAlike() ? model_messages : messages;
  return {.lower = {lower, PairBatch::make(batch.positive, batch.negative, model_.nodeCount())},
          .upper = {rotating() ? messages : messages_,
                    PairBatch::make(upper.positive, upper.negative, model_.nodeCount())},
          .model_messages = model_messages};
}

SearchTrainer::Levels SearchTrainer::levelsOnDevice(const detail::DeviceBatch& batch,
                                                    const detail::DeviceBatch& upper) const {
  const std::size_t nodes = model_.nodeCount();
  const auto own = [&] {
    return setup_.trainer.options.mask_targets ? messages_->withoutOnDevice(batch.positive())
                                               : messages_;
  };
  const auto messages =
      rotating() ? messages_->withoutOnDevice(at::cat({batch.positive(), upper.positive()}, 0))
                 : own();
  const auto model_messages = rotating() && setup_.selector.joins() ? own() : messages;
  return {.lower = {setup_.selector.learnsAlike() ? model_messages : messages, batch.pairs(nodes)},
          .upper = {rotating() ? messages : messages_, upper.pairs(nodes)},
          .model_messages = model_messages};
}

SearchTrainer::Pass SearchTrainer::passAt(const TrainingState& state) const {
  return {.noise = Noise(setup_.trainer.seed, static_cast<std::uint64_t>(state.steps)),
          .mixture = {.alike = warmingUp(state), .temperature = temperatureAt(state)}};
}

BilevelLosses SearchTrainer::lossesOf(const TrainingState& state, const Pass& pass,
                                      const Levels& levels) const {
  const auto encoded = [this, pass](const Level& level, const Parameters& weights, bool alike) {
    // Nobody judges while all views count the same.
    return alike ? model_.encodePairs(weights, level.messages, level.pairs.pairs, pass.noise)
                 : model_.encodeJudged(weights, level.messages, level.pairs.pairs, pass.noise);
  };
  // What is added to scores is for edges held out alone: the model's weights would learn to undo
  // it.
  const auto loss = [this, pass](const Level& level, const Parameters& weights,
                                 const EncodedPairs& known, const Parameters& selector,
                                 const MixtureOptions& mixture) {
    return model_.searchLoss(weights, selector, known, level.pairs, pass.noise, mixture);
  };
  MixtureOptions of_model = pass.mixture;
  of_model.alike = pass.mixture.alike || setup_.selector.learnsAlike();
  of_model.rewarded = false;
  // The penalty is the model's own: held-out edges are only asked how well they are told.
  const auto lower = [=, this, &own = state.parameters, &level = levels.lower,
                      known = std::make_shared<EncodedPairs>()](
                         const Parameters& weights, const Parameters& selector, GradientUse use) {
    if (&weights == &own && known->layers.empty()) {
      *known = encoded(level, weights, of_model.alike);
    }
    const EncodedPairs layers = &weights == &own ? *known : encoded(level, weights, of_model.alike);
    MixtureOptions mixture = of_model;
    mixture.use = use;
    return model_.withPenalty(loss(level, weights, layers, selector, mixture), weights,
                              level.pairs);
  };
  const auto upper = [=, &level = levels.upper](const Parameters& weights,
                                                const Parameters& selector, GradientUse use) {
    MixtureOptions mixture = pass.mixture;
    mixture.use = use;
    return loss(level, weights, encoded(level, weights, mixture.alike), selector, mixture);
  };
  return {.lower = lower, .upper = upper};
}

BilevelOptions SearchTrainer::bilevelOptions(double rate) const {
  // A model that learns alike does not depend on the selector: there is nothing of second order.
  return {.order = setup_.selector.learnsAlike() ? SearchOrder::kFirst
                                                 : parseSearchOrder(setup_.selector.order),
          .virtual_step = orElse(setup_.selector.virtual_step, rate),
          .difference = setup_.selector.difference};
}

at::Tensor SearchTrainer::modelLoss(const TrainingState& state, const Pass& pass,
                                    const Levels& levels, const BilevelLosses& losses) const {
  const Parameters& selector = state.selector->parameters;
  if (setup_.selector.joins() && !setup_.selector.learnsAlike() && !warmingUp(state)) {
    return model_.chosenLoss(state.parameters, selector, levels.model_messages, levels.lower.pairs,
                             pass.noise);
  }
  return losses.lower(state.parameters, selector, GradientUse::kOnce);
}

double SearchTrainer::step(TrainingState& state, const EdgeBatch& batch, StageWatch& stages) {
  const TrainingOptions& options = setup_.trainer.options;
  const EdgeBatch upper = upperBatch(state);
  stages.ended(stage::kSample);
  const Levels levels = levelsOf(batch, upper);
  stages.ended(stage::kIndex);
  const double rate = learningRateAt(options, state.steps, plannedSteps(options, batches_));
  const Pass pass = passAt(state);
  const BilevelLosses losses = lossesOf(state, pass, levels);
  if (!warmingUp(state)) {
    SelectorState& selector = *state.selector;
    const SelectorGradient slope = watchedGradient(losses, state, bilevelOptions(rate), stages);
    requireFinite(slope, state.steps);
    selector.adam.step(selector.parameters, slope.gradient,
                       orElse(setup_.selector.learning_rate, rate));
    stages.ended(stage::kSelector);
  }
  const at::Tensor loss = modelLoss(state, pass, levels, losses);
  stages.ended(stage::kForward);
  return descend(state, loss, options, rate, stages);
}

void SearchTrainer::learn(TrainingState& state) {
  if (device_) {
    learnOnDevice(state);
    return;
  }
  std::ignore = step(state, batches_.batch(static_cast<std::size_t>(state.batch)));
}

void SearchTrainer::settle(TrainingState& state) {
  if (device_) {
    device_->settle(state);
  }
}

// The numbers of this step, counted in both optimizers.
StepValues SearchTrainer::nextValues(TrainingState& state) const {
  const TrainingOptions& options = setup_.trainer.options;
  const double rate = learningRateAt(options, state.steps, plannedSteps(options, batches_));
  const Adam::Correction own = state.adam.nextStep(rate);
  const Adam::Correction its =
      warmingUp(state) ? Adam::Correction()
                       : state.selector->adam.nextStep(orElse(setup_.selector.learning_rate, rate));
  return {.noise_step = static_cast<std::uint64_t>(state.steps),
          .adam_step = own.step,
          .adam_root = own.root,
          .selector_step = its.step,
          .selector_root = its.root,
          .inverse_temperature = 1 / temperatureAt(state),
          .virtual_step = bilevelOptions(rate).virtual_step};
}

void SearchTrainer::descendOnDevice(TrainingState& state, const Levels& levels, bool warming_up) {
  const TrainingOptions& options = setup_.trainer.options;
  DeviceStep& step = device_->step();
  const Pass pass{
      .noise = Noise(setup_.trainer.seed, step.noiseStep()),
      .mixture = {.alike = warming_up, .inverse_temperature = step.inverseTemperature()}};
  const BilevelLosses losses = lossesOf(state, pass, levels);
  if (!warming_up) {
    SelectorState& selector = *state.selector;
    BilevelOptions bilevel = bilevelOptions(options.learning_rate);
    bilevel.virtual_step_there = step.virtualStep();
    const SelectorGradient slope =
        selectorGradient(losses, state.parameters, selector.parameters, bilevel);
    step.descendSelector(slope.upper_loss, slope.gradient, detail::ruleOf(selector.adam),
                         detail::buffersOf(selector.parameters, selector.adam));
  }
  device_->descend(state, modelLoss(state, pass, levels, losses), options.clip);
}

void SearchTrainer::learnOnDevice(TrainingState& state) {
  const auto number = static_cast<std::size_t>(state.batch);
  const UpperPlace place = upperPlace(state);
  const detail::DeviceBatch& batch = device_->batches().memoryFor(number);
  const detail::DeviceBatch& upper = device_upper_->memoryFor(place.number);
  const bool warming_up = warmingUp(state);
  const auto fill = [&] {
    device_->batches().fill(static_cast<std::uint64_t>(state.epoch), number);
    device_upper_->fill(place.epoch, place.number);
    device_->step().set(nextValues(state));
  };
  const auto body = [&] { descendOnDevice(state, levelsOnDevice(batch, upper), warming_up); };
  const auto key = (static_cast<std::uint64_t>(batch.rows.size(0)) << 32) |
                   (static_cast<std::uint64_t>(upper.rows.size(0)) << 1) | (warming_up ? 1U : 0U);
  device_->learn(state, key, true, fill, body);
}

MetricSet SearchTrainer::validated(const TrainingState& state) const {
  const auto chooser =
      makeSelectorChooser(model_, state.parameters.clone(), state.selector->parameters.clone());
  const ModelScorer scorer(model_, state.parameters, valid_messages_, chooser.get());
  return validateScorer(scorer, dataset_, training_, setup_.trainer);
}

HalvedValid halveValid(const ValidEdges& valid, std::uint64_t seed) {
  std::vector<std::size_t> order(valid.positive.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  RngStream random(seed, "valid.halves");
  random.shuffle(std::span(order));
  const std::size_t half = order.size() / 2;
  const auto first = std::span(order).first(half);
  const auto second = std::span(order).subspan(half);
  HalvedValid halves{.upper = valid.positive.select(first),
                     .selection = {.positive = valid.positive.select(second),
                                   .negative = {.edges = {},
                                                .per_positive = valid.negative.per_positive,
                                                .kind = valid.negative.kind}}};
  if (valid.negative.per_positive == 0) {
    halves.selection.negative.edges = valid.negative.edges;
    return halves;
  }
  for (const std::size_t row : second) {
    const auto begin = valid.negative.edges.begin() +
                       static_cast<std::ptrdiff_t>(row * valid.negative.per_positive);
    halves.selection.negative.edges.insert(
        halves.selection.negative.edges.end(), begin,
        begin + static_cast<std::ptrdiff_t>(valid.negative.per_positive));
  }
  return halves;
}

}  // namespace edgewise
