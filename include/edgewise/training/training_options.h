// How a model is trained.
#pragma once

#include <cstdint>
#include <string>

#include "edgewise/util/options.h"

namespace edgewise {

struct TrainingOptions {
  std::int64_t epochs = 100;
  std::int64_t batch_size = 1024;
  double learning_rate = 0.01;
  std::string schedule = "constant";
  double weight_decay = 0;
  double clip = 1;
  std::int64_t patience = 20;
  std::int64_t keep_after = 0;
  double average = 0;
  std::int64_t evaluate_every = 1;
  std::int64_t negatives = 1;
  double recent = 1;
  std::string negatives_of = "auto";
  bool mask_targets = true;
  std::string select_by = "auto";
  bool refit = false;
  std::int64_t max_steps = 0;
  double checkpoint_seconds = 30;
  void bind(OptionSet& set);
};

// The rate at one of `total` steps, counted from 0.
[[nodiscard]] double learningRateAt(const TrainingOptions& options, std::int64_t step,
                                    std::int64_t total);

}  // namespace edgewise
