#include "edgewise/training/search_trainer.h"

#include <ATen/Functions.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "edgewise/ops/gradients.h"
#include "edgewise/training/model_scorer.h"
#include "edgewise/util/error.h"
#include "edgewise/util/rng.h"

namespace edgewise {
namespace {

BatchOptions batchOptions(const SearchSetup& setup) {
  const TrainingOptions& options = setup.trainer.options;
  return {.batch_size = static_cast<std::size_t>(options.batch_size),
          .negatives_per_positive = static_cast<std::size_t>(options.negatives),
          .hidden = options.mask_targets || setup.upper.empty()};
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
  if (!std::isfinite(slope.upper_loss) || !std::isfinite(gradientNorm(slope.gradient))) {
    throw Error(fmt::format("the search diverged at step {}: loss {} on held-out edges", step,
                            slope.upper_loss),
                "lower selector.lr, or raise selector.tau", ExitCode::kFailure);
  }
}

constexpr std::uint64_t kUpperSeed = 0x5e1ec70000000000ULL;

// Scores divided by this are all the same.
constexpr double kAllViewsAlike = 1e9;

}  // namespace

SearchTrainer::SearchTrainer(const LinkModel& model, const Dataset& dataset,
                             const TrainingEdges& training, SearchSetup setup)
    : model_(model),
      training_(training),
      setup_(std::move(setup)),
      batches_(dataset, training, batchOptions(setup_), setup_.trainer.seed),
      upper_(dataset, upperEdges(training, setup_.upper), batchOptions(setup_),
             setup_.trainer.seed ^ kUpperSeed),
      messages_(planMessages(model, dataset, training.message, setup_.trainer.edge_weights)),
      valid_messages_(training.revealed_at_valid.table.empty()
                          ? messages_
                          : planMessages(model, dataset, messagesAtValid(training),
                                         setup_.trainer.edge_weights)) {
  invariant(model.selector() != nullptr, "a search needs a selector");
  TrainingOptions& options = setup_.trainer.options;
  options.select_by = decidingMetric(options, setup_.trainer.metrics);
  options.epochs = setup_.selector.searchEpochs(options.epochs);
}

TrainingState SearchTrainer::start() const {
  const std::uint64_t seed = setup_.trainer.seed;
  const TrainingOptions& options = setup_.trainer.options;
  Parameters weights = Parameters::initial(model_.layout(), seed);
  Adam adam(weights,
            {.learning_rate = options.learning_rate, .weight_decay = options.weight_decay});
  Parameters selector = Parameters::initial(model_.selectorLayout(), seed);
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
  if (warmingUp(state)) {
    return kAllViewsAlike;
  }
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
EdgeBatch SearchTrainer::upperBatch(const TrainingState& state) const {
  if (setup_.upper.empty() && batches_.batchesPerEpoch() > 1) {
    return batches_.batch(static_cast<std::size_t>(state.batch + 1) % batches_.batchesPerEpoch());
  }
  const auto count = static_cast<std::int64_t>(upper_.batchesPerEpoch());
  return upper_.batchOf(static_cast<std::uint64_t>(state.steps / count),
                        static_cast<std::size_t>(state.steps % count));
}

SearchTrainer::Levels SearchTrainer::levelsOf(const EdgeBatch& batch,
                                              const EdgeBatch& upper) const {
  const bool rotating = setup_.upper.empty();
  std::vector<Edge> hidden =
      setup_.trainer.options.mask_targets || rotating ? batch.positive : std::vector<Edge>();
  if (rotating) {
    hidden.insert(hidden.end(), upper.positive.begin(), upper.positive.end());
  }
  const auto messages = hidden.empty() ? messages_ : messages_->without(hidden);
  // The model's own step may look at what only the selector learns from.
  const bool own = rotating && setup_.selector.joins();
  const auto model_messages = !own ? messages
                              : setup_.trainer.options.mask_targets
                                  ? messages_->without(batch.positive)
                                  : messages_;
  return {.lower = {messages, PairBatch::make(batch.positive, batch.negative, model_.nodeCount())},
          .upper = {rotating ? messages : messages_,
                    PairBatch::make(upper.positive, upper.negative, model_.nodeCount())},
          .model_messages = model_messages};
}

Noise SearchTrainer::noiseAt(const TrainingState& state) const {
  return {setup_.trainer.seed, static_cast<std::uint64_t>(state.steps)};
}

BilevelLosses SearchTrainer::lossesOf(const TrainingState& state, const Levels& levels) const {
  const auto on = [&](const Level& level) {
    return [this, &level, noise = noiseAt(state), temperature = temperatureAt(state)](
               const Parameters& weights, const Parameters& selector, GradientUse use) {
      return model_.searchLoss(weights, selector, level.messages, level.pairs, noise,
                               {.temperature = temperature, .use = use});
    };
  };
  return {.lower = on(levels.lower), .upper = on(levels.upper)};
}

BilevelOptions SearchTrainer::bilevelOptions(double rate) const {
  return {.order = parseSearchOrder(setup_.selector.order),
          .virtual_step = orElse(setup_.selector.virtual_step, rate),
          .difference = setup_.selector.difference};
}

at::Tensor SearchTrainer::modelLoss(const TrainingState& state, const Levels& levels,
                                    const BilevelLosses& losses) const {
  const Parameters& selector = state.selector->parameters;
  if (setup_.selector.joins() && !warmingUp(state)) {
    return model_.chosenLoss(state.parameters, selector, levels.model_messages, levels.lower.pairs,
                             noiseAt(state));
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
  const BilevelLosses losses = lossesOf(state, levels);
  if (!warmingUp(state)) {
    SelectorState& selector = *state.selector;
    const SelectorGradient slope = watchedGradient(losses, state, bilevelOptions(rate), stages);
    requireFinite(slope, state.steps);
    selector.adam.step(selector.parameters, slope.gradient,
                       orElse(setup_.selector.learning_rate, rate));
    stages.ended(stage::kSelector);
  }
  const at::Tensor loss = modelLoss(state, levels, losses);
  stages.ended(stage::kForward);
  return descend(state, loss, options, rate, stages);
}

void SearchTrainer::learn(TrainingState& state, const EdgeBatch& batch) {
  std::ignore = step(state, batch);
}

MetricSet SearchTrainer::validated(const TrainingState& state) const {
  const auto chooser =
      makeSelectorChooser(model_, state.parameters.clone(), state.selector->parameters.clone());
  const ModelScorer scorer(model_, state.parameters, valid_messages_, chooser.get());
  return evaluateHeldOut(scorer, training_.valid.positive, training_.valid.negative,
                         setup_.trainer.metrics);
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
