// The tables and figures of the paper by name, each as the cells it is made of.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "edgewise/experiments/cell.h"

namespace edgewise {

enum class ExperimentKind : std::uint8_t {
  // The vanilla model, random views and PS2, with what PS2 has to be compared with.
  kComparison,
  // Fine-tuned or trained from scratch.
  kFinetune,
  // Seconds an epoch.
  kEfficiency,
  // Which views were chosen.
  kViews,
  // Single links by every fixed view.
  kObservation,
  // Search and apply, or both jointly.
  kOptimization,
  // Hops K and width D of the selector.
  kHyper,
  // Loss and validation by epoch for several K.
  kCurves,
};

struct Experiment {
  std::string name = {};
  // What it shows, in a few words.
  std::string about = {};
  ExperimentKind kind = ExperimentKind::kComparison;
  // The paper's.
  std::vector<std::string> datasets = {};
  std::vector<std::string> models = {};
  // What is run unless asked otherwise.
  std::vector<std::string> recipes = {"paper"};
  std::int64_t seeds = 10;
};

[[nodiscard]] const std::vector<Experiment>& experiments();
// Throws ConfigError with the nearest name.
[[nodiscard]] const Experiment& findExperiment(std::string_view name);

// What a user asks of it; empty: as the experiment has it.
struct ExperimentRequest {
  std::vector<std::string> datasets = {};
  std::vector<std::string> models = {};
  std::vector<std::string> recipes = {};
  // Of its cells those of these methods ("none", "ps2", "ps2-scratch"; "fixed" for all such views).
  std::vector<std::string> methods = {};
  std::int64_t seeds = 0;
  // For every run, over the recipe.
  std::vector<std::string> settings = {};
  // What PS2 is compared with beyond the paper's rows.
  bool controls = true;
};

struct ExperimentPlan {
  Experiment experiment = {};
  // In the order of the table, each once.
  std::vector<Cell> cells = {};
};

// Whether a dataset can be opened here.
using DataCheck = std::function<bool(const std::string&)>;

// The experiment as asked for: its `datasets`, `models`, `recipes` and `seeds` are those of the
// request. Any known dataset may be named; models and methods must be the experiment's. Speed is
// measured on a generated graph of the same size where `at_hand` has not the real one. Throws
// ConfigError with the nearest name.
[[nodiscard]] ExperimentPlan planExperiment(const Experiment& experiment,
                                            const ExperimentRequest& request,
                                            const DataCheck& at_hand);

// Of fig:hyper and fig:curves.
[[nodiscard]] std::vector<std::int64_t> triedDepths(ExperimentKind kind);
[[nodiscard]] std::vector<std::int64_t> triedWidths();

}  // namespace edgewise
