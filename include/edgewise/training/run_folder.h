// A run's folder: options.json, metrics.json and log.txt now, curves, views and weights as models
// land. Every file but the log appears whole or not at all.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "edgewise/data/dataset.h"
#include "edgewise/data/link_split.h"
#include "edgewise/training/run_options.h"

namespace spdlog {
class logger;  // NOLINT(readability-identifier-naming): its name
}

namespace edgewise {

class RunFolder {
 public:
  // Makes the folder and its log. Call `claimRunFolder` first. Throws DataError when it cannot be
  // written.
  static RunFolder create(const std::filesystem::path& path);
  // Opens a run, finished or not. Throws DataError when it is none.
  static RunFolder open(const std::filesystem::path& path);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // Writes the resolved options with version, seed and data hash.
  void writeOptions(RunOptions& options, std::string_view data_hash) const;
  // Sets `options` to what the run was made with. Throws DataError for a damaged or newer file.
  // Returns the data hash.
  std::string readOptions(RunOptions& options) const;
  // The version of the program that began it; "unknown" where that was not told. Throws DataError
  // for a damaged file.
  [[nodiscard]] std::string version() const;
  // Whether its result is there.
  [[nodiscard]] bool finished() const;
  void writeJson(std::string_view name, const nlohmann::ordered_json& content) const;
  // Throws DataError when missing or damaged.
  [[nodiscard]] nlohmann::ordered_json readJson(std::string_view name) const;

  // test_scores.csv: every scored test pair in the user's ids, best first, with the views chosen
  // for them where there are any.
  void writeScores(const Dataset& dataset, const TestEdges& test, std::span<const double> scores,
                   std::span<const HopPair> views) const;

  // Adds a line with the time to log.txt. A log that cannot be written never stops a run.
  void log(std::string_view line);

 private:
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
  std::shared_ptr<spdlog::logger> log_;
};

// Checks, without changing anything, that runs can be written to this folder: that it is new or
// empty, or (with `overwrite`) holds nothing but earlier runs, in itself or in folders below.
// Throws ConfigError otherwise, and DataError where nothing can be written.
void claimRunFolder(const std::filesystem::path& path, bool overwrite);
// Removes the files of earlier runs, here and in folders below; whatever is not a run's stays.
void clearRunFolder(const std::filesystem::path& path);

// Whether a folder, which need not be there, holds a run's result.
[[nodiscard]] bool holdsResult(const std::filesystem::path& folder);

// The runs at or below a folder, in the order of their names.
[[nodiscard]] std::vector<std::filesystem::path> runsBelow(const std::filesystem::path& path);

// A free folder "runs/NAME", "runs/NAME-2", ... below `root`.
[[nodiscard]] std::filesystem::path freeRunFolder(const std::filesystem::path& root,
                                                  const std::string& name);

}  // namespace edgewise
