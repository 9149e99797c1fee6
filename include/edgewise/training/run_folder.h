// A run's folder: options.json, metrics.json and log.txt now, curves, views and weights as models
// land. Every file but the log appears whole or not at all.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "edgewise/training/run_options.h"

namespace spdlog {
class logger;  // NOLINT(readability-identifier-naming): its name
}

namespace edgewise {

class RunFolder {
 public:
  // Starts a run in a folder that is new, empty, or (with `overwrite`) holds an earlier run, whose
  // files are removed. Throws ConfigError when it holds a run or anything else, DataError when it
  // cannot be written.
  static RunFolder create(const std::filesystem::path& path, bool overwrite);
  // Opens a finished run. Throws DataError when it is none.
  static RunFolder open(const std::filesystem::path& path);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // Writes the resolved options with version, seed and data hash.
  void writeOptions(RunOptions& options, std::string_view data_hash) const;
  // Sets `options` to what the run was made with. Throws DataError for a damaged or newer file.
  // Returns the data hash.
  std::string readOptions(RunOptions& options) const;
  void writeJson(std::string_view name, const nlohmann::ordered_json& content) const;
  // Throws DataError when missing or damaged.
  [[nodiscard]] nlohmann::ordered_json readJson(std::string_view name) const;

  // Adds a line with the time to log.txt. A log that cannot be written never stops a run.
  void log(std::string_view line);

 private:
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
  std::shared_ptr<spdlog::logger> log_;
};

// A free folder "runs/NAME", "runs/NAME-2", ... below `root`.
[[nodiscard]] std::filesystem::path freeRunFolder(const std::filesystem::path& root,
                                                  const std::string& name);

}  // namespace edgewise
