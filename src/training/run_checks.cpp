#include <fmt/format.h>

#include <tuple>

#include "edgewise/data/edge_ages.h"
#include "edgewise/ops/device.h"
#include "edgewise/training/model_run.h"
#include "edgewise/training/pair_model.h"
#include "edgewise/training/run_estimate.h"
#include "edgewise/util/error.h"
#include "edgewise/util/process.h"
#include "training/run_parts.h"
#include "training/view_use.h"

namespace edgewise {
namespace {

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

}  // namespace

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

void detail::checkRecent(const LinkSplit& split, const TrainingOptions& training) {
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

}  // namespace edgewise
