// Everything that decides a run, in one struct that binds to dotted keys. A run folder stores it
// whole; the same options and seed give the same numbers.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "edgewise/data/link_split.h"
#include "edgewise/data/open_dataset.h"
#include "edgewise/data/planted.h"
#include "edgewise/evaluation/metric_set.h"
#include "edgewise/graph/heuristics.h"
#include "edgewise/training/training_options.h"
#include "edgewise/util/options.h"
#include "edgewise/views/link_model.h"
#include "edgewise/views/subgraph_model.h"

namespace edgewise {

struct EvaluationOptions {
  std::string metrics = "auto";
  std::string full_metrics = "auto";
  std::int64_t full_users = -1;
  void bind(OptionSet& set);
};

// Settings of the heuristics as options.
struct HeuristicSettings {
  double katz_beta = 0;
  std::int64_t katz_length = 0;
  double ppr_restart = 0.15;
  void bind(OptionSet& set);
  [[nodiscard]] HeuristicOptions resolve() const;
};

struct RunOptions {
  DataOptions data;
  PlantedOptions planted;
  SplitOptions split;
  NegativeSettings negatives;
  HeuristicSettings heuristic;
  EvaluationOptions evaluation;
  // What is learned and how, where the model is not a heuristic.
  ModelOptions network;
  SubgraphOptions subgraph;
  TrainingOptions training;
  std::string model = "ra";
  // The recipe these options came from; told in the results, without effect.
  std::string recipe;
  std::int64_t seed = 0;
  std::int64_t threads = 0;
  std::string device = "auto";
  std::string precision = "tf32";
  bool check_memory = true;

  // All options by key; refers to this object.
  [[nodiscard]] OptionSet bind();
};

// The options that decide a run's numbers: without those that say how it is made.
[[nodiscard]] nlohmann::json decidingOptions(RunOptions options);

// Whether `model` is scored by a formula; else it is trained.
[[nodiscard]] bool isHeuristic(std::string_view model);
// All that can score pairs: learned models, then formulas.
[[nodiscard]] std::vector<std::string> modelNames();

// The seed of the split: its own where given, else the run's.
[[nodiscard]] std::uint64_t splitSeed(const RunOptions& options);

// Whether negatives keep their positive's source: as asked for, or where users choose among items
// and where a loss compares pairs. Throws ConfigError when such a loss is to compare pairs of
// others.
[[nodiscard]] bool negativesKeepSource(const RunOptions& options, const Dataset& dataset);

// The metrics of a run: as asked for, or what is usual for the dataset and its negatives. Throws
// ConfigError for names that are unknown or that such negatives cannot give.
[[nodiscard]] std::vector<MetricRequest> resolveMetrics(const EvaluationOptions& options,
                                                        const Dataset& dataset,
                                                        const FrozenNegatives& negatives);
// The metrics of full ranking: as asked for, or recall and ndcg at 20 and at 10 and recall@50 on
// bipartite data, but for those among `others`; none elsewhere. Throws ConfigError for one that
// `others` has too, or for data that has no items to rank.
[[nodiscard]] std::vector<MetricRequest> resolveFullMetrics(const EvaluationOptions& options,
                                                            const Dataset& dataset,
                                                            std::span<const MetricRequest> others);

}  // namespace edgewise
