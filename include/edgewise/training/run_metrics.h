// What a run reports: the content of metrics.json.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "edgewise/data/dataset.h"
#include "edgewise/evaluation/audit.h"
#include "edgewise/evaluation/metric_set.h"

namespace edgewise {

struct SplitSummary {
  std::string kind;
  std::uint64_t seed = 0;
  std::string hash;
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
  // depth x depth, hops around the source slowest.
  std::size_t depth = 0;
  std::vector<double> valid;
  // The best of them, and what it alone reaches.
  HopPair best;
  MetricSet best_test;
};

// What learning took.
struct LearningSummary {
  std::string input;
  std::int64_t parameters = 0;
  std::int64_t epochs = 0;
  std::int64_t best_epoch = 0;
  std::int64_t steps = 0;
};

struct RunMetrics {
  std::string dataset;
  std::string data_hash;
  std::string model;
  std::string selector = "none";
  std::string recipe;
  std::uint64_t seed = 0;
  std::string device = "cpu";
  int threads = 1;
  SplitSummary split;
  AuditReport audit;
  MetricSet valid;
  MetricSet test;
  // Of the test positives, then of the test negatives; not part of the JSON.
  std::vector<double> test_scores;
  std::optional<LearningSummary> learning;
  std::optional<ViewMetrics> by_view;
  // Stage name ("load_s", "score_s") and seconds.
  std::vector<std::pair<std::string, double>> time;
  // The process's high-water mark when the run ended.
  std::uint64_t peak_bytes = 0;
  // Settings the model chose itself, such as Katz's β.
  std::vector<std::pair<std::string, double>> chosen;

  [[nodiscard]] nlohmann::ordered_json toJson() const;
  // What a finished run reported: names, split, audit and metrics (not times or examples). Throws
  // nlohmann's exceptions or DataError for JSON that no run wrote.
  static RunMetrics fromJson(const nlohmann::ordered_json& json);
  // Model and, where it has one, selector: "gae", "gae mean".
  [[nodiscard]] std::string label() const;
};

}  // namespace edgewise
