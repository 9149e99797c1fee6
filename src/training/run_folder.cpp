#include "edgewise/training/run_folder.h"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>

#include "edgewise/util/atomic_file.h"
#include "edgewise/util/error.h"
#include "edgewise/util/file.h"
#include "edgewise/util/version.h"

namespace edgewise {
namespace {

constexpr std::string_view kOptionsFile = "options.json";
// Raised when options.json changes in a way that older programs cannot read.
constexpr int kFolderFormat = 1;

// All a run may leave in its folder; only these are ever removed.
constexpr std::array<std::string_view, 8> kRunFiles = {
    "options.json", "metrics.json",      "curves.csv",  "views.csv",
    "log.txt",      "model.safetensors", "report.html", "summary.json"};

void removeOldRun(const std::filesystem::path& path) {
  for (const std::string_view name : kRunFiles) {
    std::error_code failure;
    std::filesystem::remove(path / name, failure);
    if (failure) {
      throw DataError(FilePlace{path / name},
                      fmt::format("cannot be removed ({})", failure.message()));
    }
  }
}

void makeWritable(const std::filesystem::path& path) {
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  if (failure || ::access(path.c_str(), W_OK) != 0) {
    throw DataError(FilePlace{path},
                    fmt::format("cannot write to this folder ({})",
                                failure ? failure.message() : "permission denied"),
                    "choose another folder with --out");
  }
}

}  // namespace

RunFolder RunFolder::create(const std::filesystem::path& path, bool overwrite) {
  if (std::filesystem::exists(path) && !std::filesystem::is_directory(path)) {
    throw ConfigError(path.string() + " is a file, not a folder", "choose another --out");
  }
  makeWritable(path);
  if (std::filesystem::exists(path / kOptionsFile)) {
    if (!overwrite) {
      throw ConfigError(path.string() + " holds a run already",
                        "choose another --out, or add --overwrite");
    }
    removeOldRun(path);
  } else if (!std::filesystem::is_empty(path)) {
    throw ConfigError(path.string() + " is not empty and holds no run",
                      "choose a new folder with --out");
  }
  RunFolder folder(path);
  try {
    folder.log_ = std::make_shared<spdlog::logger>(
        "run", std::make_shared<spdlog::sinks::basic_file_sink_mt>((path / "log.txt").string()));
    folder.log_->set_pattern("%Y-%m-%d %H:%M:%S.%e  %v");
    folder.log_->flush_on(spdlog::level::info);
    folder.log_->set_error_handler([](const std::string&) {});
  } catch (const spdlog::spdlog_ex&) {
    folder.log_.reset();
  }
  return folder;
}

RunFolder RunFolder::open(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) {
    throw DataError(FilePlace{path}, "no such run folder", "give the folder that --out named");
  }
  if (!std::filesystem::exists(path / kOptionsFile)) {
    throw DataError(FilePlace{path}, "holds no run (options.json is missing)",
                    "give the folder that --out named");
  }
  return RunFolder(path);
}

void RunFolder::writeOptions(RunOptions& options, std::string_view data_hash) const {
  nlohmann::ordered_json json;
  json["format"] = kFolderFormat;
  json["version"] = versionText();
  json["seed"] = options.seed;
  json["data_hash"] = data_hash;
  json["options"] = options.bind().toJson();
  writeJson(kOptionsFile, json);
}

std::string RunFolder::readOptions(RunOptions& options) const {
  const nlohmann::ordered_json json = readJson(kOptionsFile);
  const std::string origin = (path_ / kOptionsFile).string();
  try {
    if (json.at("format").get<int>() > kFolderFormat) {
      throw DataError(origin + ": was written by a newer edgewise (" +
                          json.at("version").get<std::string>() + ")",
                      "update edgewise to read this run");
    }
    options.bind().setAll(json.at("options"), origin);
    return json.at("data_hash").get<std::string>();
  } catch (const nlohmann::json::exception& error) {
    throw DataError(fmt::format("{}: is damaged ({})", origin, error.what()),
                    "run the training again");
  }
}

void RunFolder::writeJson(std::string_view name, const nlohmann::ordered_json& content) const {
  writeFileAtomically(path_ / name, content.dump(2) + "\n");
}

nlohmann::ordered_json RunFolder::readJson(std::string_view name) const {
  const std::filesystem::path file = path_ / name;
  if (!std::filesystem::exists(file)) {
    throw DataError(FilePlace{file}, "is missing: the run did not finish",
                    "run the training again");
  }
  const FileBytes bytes = readFile(file);
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(bytes.view(), nullptr, false);
  if (json.is_discarded()) {
    throw DataError(FilePlace{file}, "is not valid JSON (damaged or truncated)",
                    "run the training again");
  }
  return json;
}

void RunFolder::log(std::string_view line) {
  if (log_) {
    log_->info(line);
  }
}

std::filesystem::path freeRunFolder(const std::filesystem::path& root, const std::string& name) {
  std::filesystem::path candidate = root / name;
  for (int number = 2; std::filesystem::exists(candidate); ++number) {
    candidate = root / fmt::format("{}-{}", name, number);
  }
  return candidate;
}

}  // namespace edgewise
