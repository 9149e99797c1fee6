// Results of cells, seed by seed, without the models: what tables and figures are made from. Taken
// from run folders, or kept as JSON lines in a folder such as results/, one file a dataset and one
// line a cell.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "edgewise/evaluation/metric_set.h"
#include "edgewise/evaluation/summary.h"
#include "edgewise/experiments/cell.h"

namespace edgewise {

struct SeedResult {
  std::uint64_t seed = 0;
  MetricSet valid;
  MetricSet test;
  std::string device = "cpu";
  std::string precision = "fp32";
  std::string version = {};
  // The first digits of the split's hash.
  std::string split = {};
  std::size_t supervision = 0;
  std::int64_t epochs = 0;
  // Stage name and seconds ("apply_s") or milliseconds a step ("apply_step_ms").
  std::vector<std::pair<std::string, double>> time = {};
  // Where views are chosen by pair: shares, hops around the source slowest, from `first_hops` on.
  std::vector<double> views_positive = {};
  std::vector<double> views_negative = {};
  int first_hops = 1;
  std::optional<double> effective = {};
  // Where views are scored apart: the best by validation, and what it reaches on test.
  std::optional<HopPair> best_view = {};
  MetricSet best_view_test;

  // Of a finished run's metrics.json. Throws nlohmann's exceptions or DataError for JSON that no
  // run wrote.
  static SeedResult fromMetrics(const nlohmann::ordered_json& metrics, std::string version);
  [[nodiscard]] nlohmann::ordered_json toJson() const;
  static SeedResult fromJson(const nlohmann::ordered_json& json);

  [[nodiscard]] std::optional<double> timeOf(std::string_view stage) const;
  // Of all stages.
  [[nodiscard]] double seconds() const;
};

struct CellResult {
  Cell cell = {};
  // By seed.
  std::vector<SeedResult> runs = {};

  // Replaces an earlier run of that seed.
  void add(SeedResult run);
  // Nothing unless every run has that test (or validation) metric.
  [[nodiscard]] std::optional<MeanStd> test(std::string_view metric) const;
  [[nodiscard]] std::optional<MeanStd> valid(std::string_view metric) const;
  // Nothing where views are not chosen by pair.
  [[nodiscard]] std::optional<double> effective() const;
};

// The difference in a test metric over the seeds that both have; nothing below two.
[[nodiscard]] std::optional<PairedTest> pairedDifference(const CellResult& first,
                                                         const CellResult& second,
                                                         std::string_view metric);

class ResultBook {
 public:
  // Reads NAME.jsonl below the folder; a folder that is not there holds nothing. Throws DataError
  // with file and line for what is damaged.
  static ResultBook read(const std::filesystem::path& folder);
  // Adds all of this book to what the folder holds, cells by name, every file whole or not at all.
  // Files of other datasets stay as they are; several processes may add to a folder at once, which
  // takes each a moment: waits for others so many seconds, then throws ConfigError.
  void addTo(const std::filesystem::path& folder, double patience = 60) const;

  void add(const Cell& cell, SeedResult run);
  // Says why a dataset has no results; forgotten when it gets some.
  void setAbsent(const std::string& dataset, const std::string& why);
  // All of another book; its runs replace those of the same seed.
  void merge(const ResultBook& other);

  // Null when there are no runs.
  [[nodiscard]] const CellResult* find(const std::string& cell_name) const;
  [[nodiscard]] std::optional<std::string> absent(const std::string& dataset) const;
  [[nodiscard]] const std::map<std::string, CellResult>& cells() const { return cells_; }

 private:
  [[nodiscard]] std::map<std::string, std::string> files() const;

  std::map<std::string, CellResult> cells_;
  std::map<std::string, std::string> absent_;
};

// The result of a finished run's folder. Throws DataError for a folder that holds none.
[[nodiscard]] SeedResult readSeedResult(const std::filesystem::path& run_folder);

}  // namespace edgewise
