#include "edgewise/training/model_run.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "edgewise/ops/backend.h"
#include "edgewise/ops/device.h"
#include "edgewise/training/link_trainer.h"
#include "edgewise/training/pair_model.h"
#include "edgewise/training/search_trainer.h"
#include "edgewise/training/stored_model.h"
#include "edgewise/util/atomic_file.h"
#include "edgewise/util/error.h"
#include "edgewise/util/file.h"
#include "edgewise/util/hash.h"
#include "edgewise/util/version.h"
#include "training/device_memory.h"
#include "training/model_measurement.h"
#include "training/phase_curves.h"
#include "training/run_parts.h"

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
    detail::checkRecent(split_, options_.training);
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

  [[nodiscard]] RunMetrics measure() const {
    return detail::measureModel({.dataset = dataset_,
                                 .split = split_,
                                 .options = options_,
                                 .model = *model_,
                                 .weights = weights_,
                                 .chooser = chooser_.get(),
                                 .messages = messages_,
                                 .device = device_,
                                 .precision = precision_},
                                folder_, progress_);
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
