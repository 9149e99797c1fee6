#include "edgewise/training/step_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "edgewise/ops/device.h"
#include "edgewise/ops/device_rates.h"
#include "edgewise/training/link_trainer.h"
#include "edgewise/training/search_trainer.h"
#include "edgewise/training/stored_model.h"
#include "edgewise/util/error.h"
#include "edgewise/util/interrupt.h"
#include "edgewise/util/parallel.h"
#include "edgewise/util/process.h"
#include "edgewise/util/text.h"
#include "training/device_memory.h"

namespace edgewise {
namespace {

// Short: it is to tell of this moment.
constexpr double kHandoverSeconds = 0.01;

// Listens to one step after another.
class StageTimer final : public StageWatch {
 public:
  void begin() {
    ++step_;
    since_ = Stopwatch();
  }
  void ended(std::string_view stage) override {
    const double seconds = since_.seconds();
    auto found = std::ranges::find(stages_, stage, &Series::stage);
    if (found == stages_.end()) {
      stages_.push_back({std::string(stage), 0, {}});
      found = stages_.end() - 1;
    }
    if (found->step == step_) {
      found->seconds.back() += seconds;
    } else {
      found->seconds.push_back(seconds);
      found->step = step_;
    }
    since_ = Stopwatch();
  }
  // Forgets all steps so far.
  void clear() { stages_.clear(); }

  [[nodiscard]] std::vector<TimedStage> summary() const {
    std::vector<TimedStage> summary;
    summary.reserve(stages_.size());
    for (const Series& series : stages_) {
      summary.push_back({series.stage, summariseTimes(series.seconds)});
    }
    return summary;
  }

 private:
  struct Series {
    std::string stage;
    // The last step that had it.
    std::size_t step = 0;
    std::vector<double> seconds;
  };
  std::size_t step_ = 0;
  Stopwatch since_;
  std::vector<Series> stages_;
};

// Goes round the full batches of one epoch after another.
template <class Trainer>
class TrainStep {
 public:
  TrainStep(Trainer& trainer, std::size_t batch_size)
      : trainer_(trainer),
        state_(trainer.start()),
        full_(std::max<std::size_t>(1, trainer.batches().supervisionCount() / batch_size)) {}

  void run(StageWatch& stages) {
    state_.batch = static_cast<std::int64_t>(next_);
    const EdgeBatch batch = trainer_.batches().batch(next_);
    stages.ended(stage::kSample);
    trainer_.step(state_, batch, stages);
  }
  // The same, wherever the trainer computes, and what has to follow some of them.
  void learn() {
    state_.batch = static_cast<std::int64_t>(next_);
    state_.epoch = static_cast<std::int64_t>(epoch_);
    trainer_.learn(state_);
  }
  void settle() { trainer_.settle(state_); }
  void advance() {
    if (++next_ == full_) {
      next_ = 0;
      trainer_.batches().beginEpoch(++epoch_);
    }
  }

 private:
  Trainer& trainer_;
  TrainingState state_;
  std::size_t full_;
  std::size_t next_ = 0;
  std::uint64_t epoch_ = 0;
};

std::vector<std::uint32_t> neighbourNumbers(const MessagePlan& messages) {
  std::vector<std::uint32_t> numbers;
  for (const NodeId node : messages.rows().targets()) {
    numbers.push_back(index(node));
  }
  return numbers;
}

std::vector<ProductRate> productsFor(const StepSizes& sizes, at::Device device, double seconds) {
  const auto size = [](double value) { return static_cast<std::size_t>(value); };
  std::vector<ProductRate> products;
  const auto measure = [&](double rows, double inner, double columns) {
    const ProductShape shape{size(rows), size(inner), size(columns)};
    products.push_back({shape, device.is_cpu() ? productRate(shape, seconds)
                                               : deviceProductRate(device, shape, seconds)});
  };
  measure(sizes.nodes, sizes.hidden, sizes.hidden);
  if (sizes.predictor.size() > 2) {
    measure(sizes.pairs * sizes.scored_per_pair, sizes.predictor[0], sizes.predictor[1]);
  }
  for (std::size_t i = 0; i + 2 < sizes.selector.size(); ++i) {
    measure(sizes.pairs * sizes.views(), sizes.selector[i], sizes.selector[i + 1]);
  }
  return products;
}

// A floor lies no higher than the best that was seen.
StepRates ratesFor(const StepMeasurement& measured, const MessagePlan& messages,
                   const MachineRates& machine, at::Device device, double seconds) {
  const auto nodes = static_cast<std::size_t>(measured.sizes.nodes);
  const auto hidden = static_cast<std::size_t>(measured.sizes.hidden);
  const std::size_t layer = nodes * hidden * sizeof(float);
  const std::vector<std::uint32_t> picks = neighbourNumbers(messages);
  const bool here = device.is_cpu();
  StepRates rates{
      .flops = machine.product.flops,
      .streamed = here ? streamRate(layer, seconds) : deviceStreamRate(device, layer, seconds),
      .gathered = here ? gatherRate(picks, nodes, hidden, seconds)
                       : deviceGatherRate(device, picks, nodes, hidden, seconds)};
  rates.streamed = std::max(rates.streamed, machine.memory);
  for (const ProductRate& product : measured.products) {
    rates.flops = std::max(rates.flops, product.flops);
  }
  return rates;
}

// Lays times beside counts, which must speak of the same stages.
void compare(const StepTimes& times, const std::vector<StageCounts>& counts,
             StepMeasurement& measured) {
  invariant(times.stages.empty() || times.stages.size() == counts.size(),
            "a stage was timed or counted alone");
  for (std::size_t i = 0; i < times.stages.size(); ++i) {
    invariant(times.stages[i].stage == counts[i].stage, "a stage was timed or counted alone");
    measured.stages.push_back(
        {times.stages[i].time, counts[i], floorSeconds(counts[i], measured.rates)});
  }
  const StageCounts total = totalCounts(counts, "step");
  measured.whole = {times.whole, total, floorSeconds(total, measured.rates)};
  measured.steps = times.steps;
  measured.processor_share = times.processor_share;
}

TrainerSetup setupOf(const BenchSubject& subject) {
  const auto& [dataset, training, options] = subject;
  return {.options = options.training,
          .seed = static_cast<std::uint64_t>(options.seed),
          .edge_weights = options.network.edge_weights,
          .metrics = resolveMetrics(options.evaluation, dataset, training.valid.negative),
          .same_source = negativesKeepSource(options, dataset),
          .device = resolveDevice(options.device)};
}

std::shared_ptr<const MessagePlan> planOf(const BenchSubject& subject, const LinkModel& model) {
  return planMessages(model, subject.dataset, subject.training.message,
                      subject.options.network.edge_weights);
}

// Of the machine at the sizes that were counted.
void measureRates(const MessagePlan& messages, const MachineRates& machine, at::Device device,
                  const BenchEffort& effort, StepMeasurement& measured) {
  measured.products = productsFor(measured.sizes, device, effort.rate_seconds);
  measured.rates = ratesFor(measured, messages, machine, device, effort.rate_seconds);
}

// Steps are queued without waiting for them, as training does.
template <class Step>
StepTimes timeOnDevice(Step& step, const BenchEffort& effort, ProgressSink& progress) {
  constexpr std::size_t kTogether = 10;
  ProgressTask task(progress, "measuring steps", effort.warm_up + effort.steps);
  const auto together = [&](std::size_t count) {
    const Stopwatch watch;
    for (std::size_t i = 0; i < count; ++i) {
      throwIfInterrupted();
      step.learn();
      step.advance();
    }
    step.settle();
    task.advance(count);
    return watch.seconds() / static_cast<double>(count);
  };
  together(effort.warm_up);
  std::vector<double> seconds;
  const Stopwatch all;
  const std::size_t repeats = std::max<std::size_t>(1, effort.steps / kTogether);
  while (seconds.size() < repeats &&
         (effort.step_seconds == 0 || seconds.empty() || all.seconds() < effort.step_seconds)) {
    seconds.push_back(together(kTogether));
  }
  const std::size_t steps = seconds.size() * kTogether;
  return {.stages = {},
          .whole = summariseTimes(std::move(seconds)),
          .steps = steps,
          .processor_share = 1};
}

template <class Trainer>
StepTimes timeTrainer(Trainer& trainer, const BenchSubject& subject, const BenchEffort& effort,
                      StepMeasurement& measured, ProgressSink& progress) {
  TrainStep<Trainer> step(trainer, static_cast<std::size_t>(subject.options.training.batch_size));
  if (onDevice(resolveDevice(subject.options.device))) {
    return timeOnDevice(step, effort, progress);
  }
  measured.handover_before = handoverSeconds(kHandoverSeconds);
  StepTimes times = timeSteps([&](StageWatch& stages) { step.run(stages); },
                              [&] { step.advance(); }, effort, progress);
  measured.handover_after = handoverSeconds(kHandoverSeconds);
  return times;
}

}  // namespace

std::span<const BenchCase> benchCases() {
  static const std::vector<OptionText> wide = {
      {"model.hidden", "256"}, {"model.embedding", "256"}, {"training.batch_size", "10240"}};
  static const std::vector<BenchCase> cases = {
      {.graph = findSizes("cora"), .settings = {}, .usual = true},
      {.graph = findSizes("pubmed"), .settings = {}, .usual = true},
      // Where a published split fixes the share of training edges, so do these; dropout as the
      // paper has it there.
      {.graph = findSizes("ddi"),
       .settings = {wide[0], wide[1], wide[2], {"split.valid", "0.1"}, {"split.test", "0.1"}}},
      {.graph = findSizes("collab"),
       .settings = {wide[0],
                    wide[1],
                    wide[2],
                    {"model.dropout", "0"},
                    {"split.valid", "0.0467"},
                    {"split.test", "0.0361"}}},
      {.graph = findSizes("ppa"),
       .settings = {wide[0],
                    wide[1],
                    wide[2],
                    {"model.dropout", "0"},
                    {"split.valid", "0.2"},
                    {"split.test", "0.1"}}},
      // As LightGCN is trained; the test file and the carve-out leave so many to train on.
      {.graph = findSizes("gowalla"),
       .settings = {{"model.hidden", "64"},
                    {"model.predictor", "dot"},
                    {"model.dropout", "0"},
                    {"training.loss", "bpr"},
                    {"training.embedding_l2", "0.0001"},
                    {"training.mask_targets", "false"},
                    {"training.clip", "0"},
                    {"split.valid", "0.1"},
                    {"split.test", "0.211"},
                    {"negatives.per_positive", "1"}}}};
  return cases;
}

const BenchCase& findBenchCase(std::string_view name) {
  std::vector<std::string> known;
  for (const BenchCase& each : benchCases()) {
    if (each.name() == name) {
      return each;
    }
    known.push_back(each.name());
  }
  throw ConfigError(fmt::format("no case is called '{}'", name), suggestName(name, known));
}

StageTime summariseTimes(std::vector<double> seconds) {
  invariant(!seconds.empty(), "no times to summarise");
  std::ranges::sort(seconds);
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(seconds.size() - 1);
    return seconds[static_cast<std::size_t>(std::lround(place))];
  };
  return {.median = at(0.5), .low = at(0.1), .high = at(0.9)};
}

StepTimes timeSteps(const std::function<void(StageWatch&)>& step, const std::function<void()>& rest,
                    const BenchEffort& effort, ProgressSink& progress) {
  StageTimer timer;
  ProgressTask task(progress, "measuring steps", effort.warm_up + effort.steps);
  const auto once = [&] {
    throwIfInterrupted();
    const Stopwatch watch;
    timer.begin();
    step(timer);
    const double seconds = watch.seconds();
    rest();
    task.advance();
    return seconds;
  };
  const Stopwatch warm_up;
  for (std::size_t i = 0; i < effort.warm_up; ++i) {
    once();
    if (effort.step_seconds > 0 && warm_up.seconds() > effort.step_seconds / 4) {
      break;
    }
  }
  timer.clear();
  std::vector<double> whole;
  const double processor_before = processorSeconds();
  const Stopwatch all;
  const auto late = [&] {
    return effort.step_seconds > 0 && whole.size() >= BenchEffort::kLeastSteps &&
           all.seconds() > effort.step_seconds;
  };
  while (whole.size() < std::max<std::size_t>(1, effort.steps) && !late()) {
    whole.push_back(once());
  }
  const double share = (processorSeconds() - processor_before) / (all.seconds() * threadCount());
  const std::size_t steps = whole.size();
  return {.stages = timer.summary(),
          .whole = summariseTimes(std::move(whole)),
          .steps = steps,
          .processor_share = share};
}

MachineRates measureMachine(const BenchEffort& effort, at::Device device) {
  if (!device.is_cpu()) {
    constexpr std::size_t kLarge = std::size_t{1} << 30;
    const ProductShape large = largeDeviceProduct();
    return {.product = {large, deviceProductRate(device, large, effort.rate_seconds)},
            .memory = deviceStreamRate(device, kLarge, effort.rate_seconds)};
  }
  const ProductShape large = largeProduct();
  return {.product = {large, productRate(large, effort.rate_seconds)},
          .memory = streamRate(beyondCaches(), effort.rate_seconds)};
}

namespace {

StepMeasurement trainStep(const BenchSubject& subject, const MachineRates& machine,
                          const BenchEffort& effort, ProgressSink& progress) {
  const LinkModel model = makeModel(subject.dataset, subject.options);
  if (model.decoder().choosesViews() && model.selector() == nullptr) {
    throw ConfigError(fmt::format("the work of selector '{}' is not counted",
                                  subject.options.network.selector.kind),
                      "use none, fixed:I,J, mean or ps2");
  }
  TrainerSetup setup = setupOf(subject);
  if (model.selector() != nullptr) {
    const auto initial = [&](const ParameterLayout& layout) {
      return Parameters::initial(layout, setup.seed, at::kFloat, setup.device);
    };
    setup.chooser =
        makeSelectorChooser(model, initial(model.layout()), initial(model.selectorLayout()));
  }
  const at::Device device = setup.device;
  LinkTrainer trainer(model, subject.dataset, subject.training, std::move(setup));
  const auto messages = planOf(subject, model);
  StepMeasurement measured;
  measured.sizes =
      stepSizes(model, subject.dataset, subject.options, *messages, trainer.batches().batch(0));
  measureRates(*messages, machine, device, effort, measured);
  compare(timeTrainer(trainer, subject, effort, measured, progress),
          trainStepCounts(measured.sizes), measured);
  return measured;
}

StepMeasurement searchStep(const BenchSubject& subject, const MachineRates& machine,
                           const BenchEffort& effort, ProgressSink& progress) {
  const LinkModel model = makeModel(subject.dataset, subject.options);
  SelectorOptions selector = subject.options.network.selector;
  // Steps that search, not those before them.
  selector.warmup = 0;
  TrainingEdges training = subject.training;
  EdgeTable upper_edges;
  if (selector.holdout == "valid") {
    HalvedValid halves =
        halveValid(training.valid, static_cast<std::uint64_t>(subject.options.seed));
    upper_edges = std::move(halves.upper);
    training.valid = std::move(halves.selection);
  }
  SearchTrainer trainer(
      model, subject.dataset, training,
      {.trainer = setupOf(subject), .selector = selector, .upper = std::move(upper_edges)});
  const auto messages = planOf(subject, model);
  const auto sizes_of = [&](const EdgeBatch& batch) {
    return stepSizes(model, subject.dataset, subject.options, *messages, batch);
  };
  EdgeBatch lower = trainer.batches().batch(0);
  const EdgeBatch upper = trainer.upperBatch(trainer.start());
  SearchSizes sizes{sizes_of(lower), sizes_of(upper)};
  if (selector.holdout == "rotate") {
    // Edges of both levels are masked for both.
    lower.positive.insert(lower.positive.end(), upper.positive.begin(), upper.positive.end());
    sizes.lower.entries = sizes.upper.entries = sizes_of(lower).entries;
  }
  StepMeasurement measured;
  measured.sizes = sizes.lower;
  measureRates(*messages, machine, resolveDevice(subject.options.device), effort, measured);
  const SearchOrder order =
      selector.virtual_step == 0 ? SearchOrder::kFirst : parseSearchOrder(selector.order);
  const std::vector<StageCounts> counts = searchStepCounts(sizes, order);
  compare(timeTrainer(trainer, subject, effort, measured, progress), counts, measured);
  return measured;
}

}  // namespace

StepMeasurement measureTrainStep(const BenchSubject& subject, const MachineRates& machine,
                                 const BenchEffort& effort, ProgressSink& progress) {
  return detail::withinDeviceMemory([&] { return trainStep(subject, machine, effort, progress); });
}

StepMeasurement measureSearchStep(const BenchSubject& subject, const MachineRates& machine,
                                  const BenchEffort& effort, ProgressSink& progress) {
  return detail::withinDeviceMemory([&] { return searchStep(subject, machine, effort, progress); });
}

}  // namespace edgewise
