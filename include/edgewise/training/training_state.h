// Everything a training run is at one moment. Random choices are functions of (seed, epoch, batch),
// so this, stored and read back, continues to the same bits on the same device.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "edgewise/evaluation/metric_set.h"
#include "edgewise/nn/parameters.h"
#include "edgewise/training/adam.h"

namespace edgewise {

// One row of curves.csv: an epoch that was validated.
struct CurvePoint {
  std::int64_t epoch = 0;
  std::int64_t steps = 0;
  double loss = 0;
  double learning_rate = 0;
  double gradient_norm = 0;
  MetricSet valid;
  double seconds = 0;
};

// The selector's side of a search.
struct SelectorState {
  Parameters parameters;
  Adam adam;
  // A running average of the parameters, where one is kept.
  at::Tensor averaged = {};
  // Of the epoch that validated best.
  at::Tensor best = {};
};

struct TrainingState {
  Parameters parameters;
  Adam adam;
  std::optional<SelectorState> selector = std::nullopt;
  // Where the next step stands.
  std::int64_t epoch = 0;
  std::int64_t batch = 0;
  std::int64_t steps = 0;
  // Of the epoch so far.
  double loss_sum = 0;
  double norm_sum = 0;
  // A running average of the parameters, [total], where one is kept.
  at::Tensor averaged = {};
  // What validated best, [total]; undefined before the first validation.
  at::Tensor best = {};
  double best_value = 0;
  std::int64_t best_epoch = -1;
  bool finished = false;
  // Spent on steps, in all sessions of this run.
  double step_seconds = 0;
  double seconds = 0;
  // Of so many steps the part that came after their input was there, where that is measured.
  double timed_seconds = 0;
  std::int64_t timed_steps = 0;
  std::vector<CurvePoint> curve = {};
};

// Writes the state to a safetensors file, atomically. `run` names the run (its options and data).
void saveState(const std::filesystem::path& path, const TrainingState& state,
               const std::string& run);
// Fills a fresh state of the same model. Throws DataError when the file is damaged or was written
// by a run of another name.
void loadState(const std::filesystem::path& path, TrainingState& state, const std::string& run);

}  // namespace edgewise
