#include "edgewise/training/model_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <tuple>

#include "edgewise/data/edge_ages.h"
#include "edgewise/ops/backend.h"
#include "edgewise/ops/device.h"
#include "edgewise/training/link_trainer.h"
#include "edgewise/training/model_scorer.h"
#include "edgewise/training/pair_model.h"
#include "edgewise/training/run_estimate.h"
#include "edgewise/training/search_trainer.h"
#include "edgewise/training/stored_model.h"
#include "edgewise/util/atomic_file.h"
#include "edgewise/util/error.h"
#include "edgewise/util/file.h"
#include "edgewise/util/hash.h"
#include "edgewise/util/interrupt.h"
#include "edgewise/util/process.h"
#include "edgewise/util/version.h"
#include "training/device_memory.h"
#include "training/phase_curves.h"
#include "training/run_parts.h"
#include "training/view_use.h"

namespace edgewise {
namespace {

// All that decides a run's numbers, but for the rounding of the device that computes them; a
// checkpoint of one run must not continue another.
std::string runName(const RunOptions& options, const Dataset& dataset, const LinkSplit& split) {
  nlohmann::json deciding = decidingOptions(options);
  deciding["data"] = dataset.hash;
  deciding["split"] = split.hash;
  deciding["version"] = versionText();
  return sha256Hex(deciding.dump());
}

// Searches that would come to nothing.
void checkSearch(const SelectorOptions& selector, const TrainingOptions& training) {
  const std::int64_t epochs = selector.searchEpochs(training.epochs);
  if (selector.warmup >= epochs) {
    throw ConfigError(fmt::format("selector.warmup={} leaves none of the {} epochs to search in",
                                  selector.warmup, epochs),
                      selector.joins() ? "lower it, or raise training.epochs"
                                       : "lower it, or raise selector.epochs");
  }
  if (training.recent > 1 && selector.holdout == "rotate") {
    throw ConfigError(
        "training.recent draws edges several times, and selector.holdout=rotate would learn from "
        "edges and ask for them at once",
        "set selector.holdout=valid, or training.recent=1");
  }
  if (selector.mix == "score" && selector.view_loss == 1) {
    throw ConfigError("selector.view_loss=1 leaves the selector nothing to learn from",
                      "set it below 1, or use --selector mean");
  }
}

// What would be found out only when all else is done.
void checkRecent(const LinkSplit& split, const TrainingOptions& training) {
  if (training.recent == 1 || !training.refit) {
    return;
  }
  EdgeTable all = split.training.supervision.table;
  all.append(split.training.valid.positive);
  if (!knowsAges(all)) {
    throw DataError(
        "training.recent: nothing tells which of training and validation edges are "
        "recent, and training.refit learns from both",
        "give both times, or set training.recent=1");
  }
}

// Trainings with the validation edges that could not be, or not be tested over what they learned.
void checkRefit(const RunOptions& options) {
  if (!options.training.refit) {
    return;
  }
  const SelectorOptions& selector = options.network.selector;
  if (selector.joins() && !selector.learnsAlike()) {
    throw ConfigError(
        "training.refit does not go with selector.apply=joint",
        "the selector needs held-out edges to the end; use alike, finetune or scratch");
  }
  if (options.split.message_at_test != "train+valid" || options.split.message_at_train != "train") {
    throw ConfigError(
        fmt::format("training.refit learns from validation edges at last, but messages are '{}' in "
                    "training and '{}' in the test",
                    options.split.message_at_train, options.split.message_at_test),
        "set split.message_at_train=train and split.message_at_test=train+valid");
  }
}

class ModelRun {
 public:
  ModelRun(const Dataset& dataset, const LinkSplit& split, RunOptions& options,
           std::filesystem::path folder, ProgressSink& progress)
      : dataset_(dataset),
        split_(split),
        options_(options),
        folder_(std::move(folder)),
        progress_(progress),
        device_(resolveDevice(options.device)),
        precision_(precisionOn(device_, options.precision)),
        model_(makePairModel(dataset, split, options)),
        messages_(detail::messagesOf(split, options)),
        name_(runName(options, dataset, split)) {
    setProductPrecision(precision_);
  }

  RunMetrics train() {
    checkRecent(split_, options_.training);
    const TrainingEdges training = prepareEdges();
    std::optional<PhaseTime> search;
    if (model_->searched() != nullptr) {
      search = searchViews(training);
    }
    chooser_ = chooserOf(*model_, weights_, options_, dataset_);
    if (!options_.network.selector.joins()) {
      applyViews(training);
    }
    const PhaseEnd chosen = last_;
    if (options_.training.refit) {
      trainAnew();
    }
    writeModel(folder_, *model_, weights_, origin());
    writeFileAtomically(folder_ / kCurvesFile, detail::curvesText(curves_));
    RunMetrics run = measure();
    if (run.learning) {
      run.learning->epochs = chosen.epoch;
      run.learning->best_epoch = chosen.best_epoch;
      run.learning->steps = chosen.steps;
      run.learning->refit_epochs = options_.training.refit ? last_.epoch : 0;
    }
    if (search) {
      run.apply = finetunes() || options_.network.selector.joins() ? options_.network.selector.apply
                                                                   : "scratch";
      addTime(run, "search", *search);
    }
    if (!options_.network.selector.joins()) {
      addTime(run, "apply", chosen.time);
    }
    if (options_.training.refit) {
      addTime(run, "refit", last_.time);
    }
    return run;
  }

  RunMetrics evaluate() {
    weights_ = readModel(folder_, *model_, origin()).to(device_);
    chooser_ = chooserOf(*model_, weights_, options_, dataset_);
    return measure();
  }

 private:
  struct PhaseTime {
    double seconds = 0;
    double step_ms = 0;
    // Of a step without waiting for its input, where that was measured.
    std::optional<double> network_ms = std::nullopt;
  };

  static PhaseTime timeOf(const TrainingState& state) {
    const auto steps = static_cast<double>(std::max<std::int64_t>(1, state.steps));
    PhaseTime time{.seconds = state.seconds, .step_ms = 1000 * state.step_seconds / steps};
    if (state.timed_steps > 0) {
      time.network_ms = 1000 * state.timed_seconds / static_cast<double>(state.timed_steps);
    }
    return time;
  }

  // How the last phase went.
  struct PhaseEnd {
    std::int64_t epoch = 0;
    std::int64_t best_epoch = 0;
    std::int64_t steps = 0;
    PhaseTime time;
  };

  static PhaseEnd endOf(const TrainingState& state) {
    return {state.epoch, state.best_epoch, state.steps, timeOf(state)};
  }

  static void addTime(RunMetrics& run, const std::string& phase, const PhaseTime& time) {
    run.time.emplace_back(phase + "_s", time.seconds);
    run.time.emplace_back(phase + "_step_ms", time.step_ms);
    if (time.network_ms) {
      run.time.emplace_back(phase + "_network_ms", *time.network_ms);
    }
  }

  // What training may see; a search that learns from validation edges leaves the other half to
  // choose the epoch by.
  [[nodiscard]] TrainingEdges prepareEdges() {
    TrainingEdges training = trainingEdges(split_, options_.split.message_at_train);
    const SelectorOptions& selector = options_.network.selector;
    if (selector.searches() && selector.holdout == "valid") {
      HalvedValid halves = halveValid(training.valid, static_cast<std::uint64_t>(options_.seed));
      if (halves.upper.empty()) {
        throw DataError("one validation edge cannot be shared by selector and model",
                        "set selector.holdout=rotate, or a larger split.valid");
      }
      upper_ = std::move(halves.upper);
      training.valid = std::move(halves.selection);
    }
    return training;
  }

  [[nodiscard]] TrainerSetup plainSetup() const {
    std::vector<MetricRequest> metrics =
        resolveMetrics(options_.evaluation, dataset_, split_.training.valid.negative);
    std::vector<MetricRequest> full = resolveFullMetrics(options_.evaluation, dataset_, metrics);
    return {.options = options_.training,
            .seed = static_cast<std::uint64_t>(options_.seed),
            .edge_weights = options_.network.edge_weights,
            .metrics = std::move(metrics),
            .full = {.requests = std::move(full), .users = options_.evaluation.full_users},
            .same_source = negativesKeepSource(options_, dataset_),
            .device = device_};
  }

  // A search that another model's views were found by has an lr and batches of its own.
  [[nodiscard]] TrainerSetup searchSetup() const {
    TrainerSetup setup = plainSetup();
    const SelectorOptions& selector = options_.network.selector;
    if (!selector.joins() && selector.search_rate >= 0) {
      setup.options.learning_rate = selector.search_rate;
    }
    if (!selector.joins() && selector.search_batch > 0) {
      setup.options.batch_size = selector.search_batch;
    }
    return setup;
  }

  // Whether training goes on from the search's weights.
  [[nodiscard]] bool finetunes() const {
    const SelectorOptions& selector = options_.network.selector;
    return selector.searches() && selector.apply == "finetune" && model_->goesOnFromSearch();
  }

  [[nodiscard]] TrainerSetup applySetup() const {
    TrainerSetup setup = plainSetup();
    setup.chooser = chooser_;
    setup.alike = options_.network.selector.learnsAlike();
    if (finetunes()) {
      setup.options.learning_rate = options_.network.selector.apply_rate;
    }
    return setup;
  }

  void continueFrom(const char* file, TrainingState& state) {
    if (isThere(folder_ / file)) {
      loadState(folder_ / file, state, name_);
    }
  }

  [[nodiscard]] SaveState saver(const char* file) const {
    return [this, path = folder_ / file](const TrainingState& now) { saveState(path, now, name_); };
  }

  // The search phase; leaves the selector and the weights it was found with.
  PhaseTime searchViews(const TrainingEdges& training) {
    SearchTrainer trainer(
        *model_->searched(), dataset_, training,
        {.trainer = searchSetup(), .selector = options_.network.selector, .upper = upper_});
    TrainingState state = trainer.start(progress_);
    continueFrom(kSearchFile, state);
    trainer.run(state, saver(kSearchFile), progress_);
    state.parameters.flat().copy_(state.best);
    weights_.search = state.parameters.clone();
    weights_.model = state.parameters.clone();
    if (state.selector) {
      state.selector->parameters.flat().copy_(state.selector->best);
      weights_.selector = state.selector->parameters.clone();
    }
    const SelectorOptions& selector = options_.network.selector;
    curves_.push_back({selector.joins() ? selector.apply : "search", state.curve});
    last_ = endOf(state);
    return last_.time;
  }

  // Trains with the views that were chosen, or with none to choose.
  void applyViews(const TrainingEdges& training) {
    trainWeights(training, applySetup(), kCheckpointFile,
                 options_.network.selector.searches() ? "apply" : "train");
  }

  // The same on training and validation edges, for as many epochs as were best before.
  void trainAnew() {
    weights_.validated = std::move(weights_.model);
    TrainingEdges training = trainingEdges(split_, "train+valid");
    training.supervision.table.append(training.valid.positive);
    training.valid = {};
    TrainerSetup setup = applySetup();
    setup.options.epochs = last_.best_epoch;
    setup.options.max_steps = 0;
    setup.metrics = {};
    trainWeights(training, std::move(setup), kRefitFile, "refit");
  }

  void trainWeights(const TrainingEdges& training, TrainerSetup setup, const char* file,
                    const char* phase) {
    const auto trainer = model_->trainer(training, std::move(setup));
    TrainingState state = trainer->start(progress_);
    if (finetunes()) {
      state.parameters.flat().copy_(weights_.search.flat());
    }
    continueFrom(file, state);
    trainer->run(state, saver(file), progress_);
    state.parameters.flat().copy_(state.best);
    weights_.model = state.parameters.clone();
    curves_.push_back({phase, state.curve});
    last_ = endOf(state);
  }

  [[nodiscard]] ModelOrigin origin() const { return {options_, dataset_.hash, split_.hash}; }

  // Validation edges that were trained on since say nothing of the weights that came of it: what
  // they chose is measured by them.
  [[nodiscard]] const Parameters& validatedWeights() const {
    return options_.training.refit ? weights_.validated : weights_.model;
  }

  RunMetrics measure() {
    // Scoring takes memory of other sizes than training did.
    releaseFreedMemory();
    RunMetrics run = detail::describeRun(dataset_, split_, options_, messages_);
    run.selector = options_.network.selector.kind;
    run.device = deviceName(device_);
    run.precision = precision_ == ProductPrecision::kTf32 ? "tf32" : "fp32";
    run.learning =
        LearningSummary{.input = model_->inputText(), .parameters = weights_.model.size()};
    const Stopwatch watch;
    measureValid(validatedWeights(), run);
    measureTest(weights_.model, run);
    run.time.emplace_back("eval_s", watch.seconds());
    run.peak_bytes = peakMemoryBytes();
    run.peak_device_bytes = peakDeviceBytes(device_);
    return run;
  }

  // One stage at a time: a scorer holds all layers of the whole graph.
  void measureValid(const Parameters& parameters, RunMetrics& run) const {
    const auto scorer = model_->scorer(parameters, messages_.at_valid, chooser_.get());
    const detail::HeldOut valid = detail::heldOutValid(split_);
    detail::StageResult validated =
        detail::evaluateStage(*scorer, dataset_, options_.evaluation, valid, progress_);
    run.valid = std::move(validated.metrics);
    run.valid_scores = std::move(validated.scores);
    run.by_view = bestView(*scorer, valid);
  }

  void measureTest(const Parameters& parameters, RunMetrics& run) const {
    const auto scorer = model_->scorer(parameters, messages_.at_test, chooser_.get());
    const detail::HeldOut test = detail::heldOutTest(split_);
    detail::StageResult tested =
        detail::evaluateStage(*scorer, dataset_, options_.evaluation, test, progress_);
    run.test = std::move(tested.metrics);
    run.test_scores = std::move(tested.scores);
    if (tested.ranking_seconds > 0) {
      run.time.emplace_back("full_ranking_ms", 1000 * tested.ranking_seconds);
    }
    noteRankedUsers(*scorer, test, run);
    if (run.by_view) {
      const int first = run.by_view->first_hops;
      const auto best =
          static_cast<std::size_t>(run.by_view->best.source - first) * run.by_view->depth +
          static_cast<std::size_t>(run.by_view->best.target - first);
      run.by_view->best_test = evaluateByView(
          *scorer, test, resolveMetrics(options_.evaluation, dataset_, test.negative))[best];
    }
    noteChoices(*scorer, test, run);
  }

  // Where a full ranking did not take all users, how many it took.
  void noteRankedUsers(const ViewScorer& scorer, const detail::HeldOut& test,
                       RunMetrics& run) const {
    if (!dataset_.bipartite || options_.evaluation.full_metrics == "none") {
      return;
    }
    std::vector<std::uint8_t> asked(dataset_.bipartite->users, 0);
    for (const Edge& edge : test.positive.edges) {
      asked[index(edge.src)] = 1;
    }
    const auto all = static_cast<std::size_t>(std::ranges::count(asked, 1));
    const std::size_t some = usersToRank({.requests = {}, .users = options_.evaluation.full_users},
                                         scorer, all, dataset_.bipartite->items);
    if (some < all) {
      run.chosen.emplace_back("full_ranking_users", static_cast<double>(some));
    }
  }

  void noteChoices(const ViewScorer& scorer, const detail::HeldOut& test, RunMetrics& run) const {
    // Recommendation has millions of pairs, each with a share for every view.
    constexpr std::size_t kPairs = std::size_t{1} << 18;
    const std::vector<Edge> pairs = detail::pairsOf(test);
    detail::ViewTally tally(*model_, test.positive, pairs.size(), dataset_);
    for (std::size_t begin = 0; begin < pairs.size(); begin += kPairs) {
      throwIfInterrupted();
      const ViewChoice choice =
          scorer.viewsOf(std::span(pairs).subspan(begin, std::min(kPairs, pairs.size() - begin)));
      if (choice == nullptr) {
        return;
      }
      tally.add(*choice);
      for (std::size_t pair = 0; pair < choice->pairCount(); ++pair) {
        run.test_views.push_back(hopsOf(choice->best(pair), model_->firstHops()));
      }
    }
    run.views = tally.result();
    writeFileAtomically(folder_ / kViewsFile, detail::viewsText(*run.views));
  }

  // Every view's validation, and which was best.
  [[nodiscard]] std::optional<ViewMetrics> bestView(const ViewScorer& scorer,
                                                    const detail::HeldOut& valid) const {
    const std::vector<MetricRequest> requests =
        resolveMetrics(options_.evaluation, dataset_, valid.negative);
    const std::vector<MetricSet> each = evaluateByView(scorer, valid, requests);
    if (each.empty()) {
      return std::nullopt;
    }
    ViewMetrics views{.metric = metricName(requests.front()),
                      .depth = model_->depth(),
                      .first_hops = model_->firstHops(),
                      .valid = {},
                      .best = {},
                      .best_test = MetricSet()};
    for (const MetricSet& metrics : each) {
      views.valid.push_back(metrics.at(views.metric));
    }
    const auto best =
        static_cast<std::size_t>(std::ranges::max_element(views.valid) - views.valid.begin());
    views.best = hopsOf(model_->viewsApart()[best], model_->firstHops());
    return views;
  }

  static std::vector<MetricSet> evaluateByView(const ViewScorer& scorer,
                                               const detail::HeldOut& held_out,
                                               std::span<const MetricRequest> requests) {
    std::vector<MetricSet> metrics;
    for (const std::vector<double>& scores : scorer.scoreByView(detail::pairsOf(held_out))) {
      metrics.push_back(evaluateScores(scores, held_out.positive.size(),
                                       held_out.negative.per_positive, requests));
    }
    return metrics;
  }

  const Dataset& dataset_;
  const LinkSplit& split_;
  RunOptions& options_;
  std::filesystem::path folder_;
  ProgressSink& progress_;
  at::Device device_;
  ProductPrecision precision_;
  std::unique_ptr<PairModel> model_;
  detail::RunMessages messages_;
  std::string name_;
  ModelWeights weights_;
  // Where views are chosen by pair; what a search learns from.
  std::shared_ptr<const ViewChooser> chooser_;
  EdgeTable upper_;
  PhaseEnd last_;
  std::vector<detail::PhaseCurve> curves_;
};

}  // namespace

RunMetrics runModel(const Dataset& dataset, const LinkSplit& split, RunOptions& options,
                    const std::filesystem::path& folder, ProgressSink& progress) {
  checkModelRun(dataset, options);
  return detail::withinDeviceMemory(
      [&] { return ModelRun(dataset, split, options, folder, progress).train(); });
}

void checkModelRun(const Dataset& dataset, const RunOptions& options) {
  const bool on_gpu = !resolveDevice(options.device).is_cpu();
  checkPairModel(dataset, options);
  if (options.network.selector.searches()) {
    checkSearch(options.network.selector, options.training);
  }
  std::ignore = negativesKeepSource(options, dataset);
  checkRefit(options);
  if (options.training.keep_after >= options.training.epochs) {
    throw ConfigError(fmt::format("training.keep_after: none of {} epochs would be kept",
                                  options.training.epochs),
                      "choose fewer than training.epochs");
  }
  if (options.network.selector.kind == "oracle") {
    if (options.network.encoder.first_depth > 1) {
      throw ConfigError("model.first_depth: known views begin at 1 hop", "leave it out");
    }
    std::ignore = detail::oracleChooser(dataset, viewDepth(options));
  }
  if (on_gpu || !options.check_memory) {
    return;
  }
  const std::uint64_t needed = estimateModelRun(dataset, options).memory_bytes;
  const std::uint64_t there = availableMemoryBytes();
  if (there > 0 && needed > there) {
    throw ResourceError(
        fmt::format("this run needs about {:.1f} GiB of memory and {:.1f} GiB are free",
                    static_cast<double>(needed) / 0x1p30, static_cast<double>(there) / 0x1p30),
        "lower model.hidden, model.layers or training.batch_size, or set run.check_memory=false");
  }
}

void finishModelRun(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::remove(folder / kCheckpointFile, ignored);
  std::filesystem::remove(folder / kSearchFile, ignored);
  std::filesystem::remove(folder / kRefitFile, ignored);
}

RunMetrics evaluateModel(const Dataset& dataset, const LinkSplit& split, RunOptions& options,
                         const std::filesystem::path& folder, ProgressSink& progress) {
  return detail::withinDeviceMemory(
      [&] { return ModelRun(dataset, split, options, folder, progress).evaluate(); });
}

}  // namespace edgewise
