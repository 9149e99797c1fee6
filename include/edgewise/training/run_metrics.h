// What a run reports: the content of metrics.json.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

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

struct RunMetrics {
  std::string dataset;
  std::string data_hash;
  std::string model;
  std::string selector = "none";
  std::uint64_t seed = 0;
  std::string device = "cpu";
  int threads = 1;
  SplitSummary split;
  AuditReport audit;
  MetricSet valid;
  MetricSet test;
  // Stage name ("load_s", "score_s") and seconds.
  std::vector<std::pair<std::string, double>> time;
  // The process's high-water mark when the run ended.
  std::uint64_t peak_bytes = 0;
  // Settings the model chose itself, such as Katz's β.
  std::vector<std::pair<std::string, double>> chosen;

  [[nodiscard]] nlohmann::ordered_json toJson() const;
};

}  // namespace edgewise
