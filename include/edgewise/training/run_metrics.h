// What a run reports: the content of metrics.json.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "edgewise/data/dataset.h"
#include "edgewise/data/dataset_facts.h"
#include "edgewise/evaluation/audit.h"
#include "edgewise/evaluation/metric_set.h"

namespace edgewise {

struct SplitSummary {
  std::string kind;
  std::uint64_t seed = 0;
  std::string hash;
  std::string message_at_train;
  std::string message_at_test;
  std::string negatives;
  std::size_t negatives_per_positive = 0;
  std::size_t message = 0;
  std::size_t supervision = 0;
  std::size_t valid = 0;
  std::size_t test = 0;
  std::size_t valid_negative = 0;
  std::size_t test_negative = 0;
};

// How single views fare where each is scored apart, by the metric that selects.
struct ViewMetrics {
  std::string metric;
  // depth x depth, hops around the source slowest, from `first_hops` on.
  std::size_t depth = 0;
  int first_hops = 1;
  std::vector<double> valid;
  // The best of them, and what it alone reaches.
  HopPair best;
  MetricSet best_test;
};

// Which views were chosen for the test pairs, where views are chosen by pair.
struct ViewUse {
  std::size_t depth = 0;
  int first_hops = 1;
  // Shares, depth x depth, hops around the source slowest, from `first_hops` on.
  std::vector<double> test_positive;
  std::vector<double> test_negative;
  // exp of the entropy of the positives' shares, (i, j) and (j, i) taken together where pairs have
  // no direction: how many views are really in use.
  double effective = 0;
  // Mean share that the selector gives to the view it likes best.
  double confidence_positive = 1;
  double confidence_negative = 1;
  // Of the test positives of each known class, the share whose view is one the class is told by.
  std::vector<std::pair<std::string, double>> agreement;
};

// What learning took.
struct LearningSummary {
  std::string input;
  std::int64_t parameters = 0;
  std::int64_t epochs = 0;
  std::int64_t best_epoch = 0;
  std::int64_t steps = 0;
  // Epochs of a training with the validation edges that followed; 0: none did.
  std::int64_t refit_epochs = 0;
};

struct RunMetrics {
  std::string dataset;
  std::string data_hash;
  std::string model;
  std::string selector = "none";
  std::string recipe;
  std::string apply;
  std::uint64_t seed = 0;
  std::string device = "cpu";
  // How products were rounded: "fp32", or "tf32" on a GPU.
  std::string precision = "fp32";
  int threads = 1;
  // Missing in what earlier versions stored.
  std::optional<DatasetFacts> data;
  SplitSummary split;
  AuditReport audit;
  MetricSet valid;
  MetricSet test;
  // Of the positives, then of the negatives; not part of the JSON.
  std::vector<double> valid_scores;
  std::vector<double> test_scores;
  std::optional<LearningSummary> learning;
  std::optional<ViewMetrics> by_view;
  std::optional<ViewUse> views;
  // The views chosen for the pairs of test_scores; not part of the JSON.
  std::vector<HopPair> test_views;
  // Stage name ("load_s", "score_s") and seconds.
  std::vector<std::pair<std::string, double>> time;
  // The process's high-water mark when the run ended.
  std::uint64_t peak_bytes = 0;
  // Of a GPU's memory.
  std::uint64_t peak_device_bytes = 0;
  // Settings the model chose itself, such as Katz's β.
  std::vector<std::pair<std::string, double>> chosen;

  [[nodiscard]] nlohmann::ordered_json toJson() const;
  // What a finished run reported; what earlier versions did not store stays as it is by default.
  // Throws nlohmann's exceptions or DataError for JSON that no run wrote.
  static RunMetrics fromJson(const nlohmann::ordered_json& json);
  // Model and, where it has one, selector: "gae", "gae mean".
  [[nodiscard]] std::string label() const;
};

}  // namespace edgewise
