#include "edgewise/training/training_options.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace edgewise {

void TrainingOptions::bind(OptionSet& set) {
  set.add("training.epochs", epochs, {1, 1'000'000}, "passes over the supervision edges at most");
  set.add("training.batch_size", batch_size, {1, 1 << 24}, "positive edges a step");
  set.add("training.lr", learning_rate, {1e-9, 10.0}, "Adam's learning rate");
  set.add("training.schedule", schedule, {"constant", "cosine"},
          "how the rate goes: as it is, or falling to 0 over all epochs");
  set.add("training.weight_decay", weight_decay, {0.0, 1.0}, "L2 penalty on all parameters");
  set.add("training.clip", clip, {0.0, 1e9},
          "scale gradients down to this norm; 0: leave them as they are");
  set.add("training.patience", patience, {0, 1'000'000},
          "stop after this many epochs without a better validation; 0: never");
  set.add("training.keep_after", keep_after, {0, 1'000'000},
          "epochs before which none is kept, however well it validates");
  set.add("training.average", average, {0.0, 0.99999},
          "validate and keep a running average of the weights, in which a step's share shrinks by "
          "this factor with every later one; 0: the weights themselves");
  set.add("training.evaluate_every", evaluate_every, {1, 1'000'000}, "epochs between validations");
  set.add("training.recent", recent, {1.0, 1e6},
          "how many times as often the latest edges are learned from as the first, at most: of a "
          "user's list (short ones, whose latest edges stand for less, then count a little less "
          "themselves), or of all where there are no users; needs times, or users' lists in their "
          "order; 1: all alike");
  set.add("training.negatives", negatives, {1, 100'000}, "negatives drawn for each positive");
  set.add(
      "training.negatives_of", negatives_of, {"auto", "graph", "source"},
      "where they are drawn from: pairs of the whole graph, or the positive's source (a user) and "
      "a target (an item) it has not met; auto: source for users and items and for losses that "
      "compare, else graph");
  set.add(
      "training.mask_targets", mask_targets,
      "take a batch's own edges out of the message graph of its step; batches then hold a third "
      "of all edges at most");
  set.add("training.select_by", select_by,
          "metric whose best validation decides which epoch is kept; auto: the first one reported");
  set.add("training.refit", refit,
          "train anew on training and validation edges together, for as many epochs as validated "
          "best; the validation edges then carry messages too (split.message_at_test=train+valid)");
  set.add("training.max_steps", max_steps, {0, std::int64_t{1} << 40},
          "stop after this many steps; 0: no limit");
  set.add("training.checkpoint_seconds", checkpoint_seconds, {0.0, 1e6},
          "time between checkpoints; 0: after every epoch");
}

double learningRateAt(const TrainingOptions& options, std::int64_t step, std::int64_t total) {
  if (options.schedule == "constant") {
    return options.learning_rate;
  }
  const double done =
      static_cast<double>(step) / static_cast<double>(std::max<std::int64_t>(1, total));
  return options.learning_rate * 0.5 * (1 + std::cos(std::numbers::pi * std::min(1.0, done)));
}

}  // namespace edgewise
