#include "edgewise/training/run_folder.h"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <system_error>
#include <tuple>
#include <vector>

#include "edgewise/util/atomic_file.h"
#include "edgewise/util/error.h"
#include "edgewise/util/file.h"
#include "edgewise/util/shell_text.h"
#include "edgewise/util/text.h"
#include "edgewise/util/version.h"

namespace edgewise {
namespace {

constexpr std::string_view kOptionsFile = "options.json";
// There while a run is made; what a killed one leaves means nothing.
constexpr std::string_view kLockFile = ".lock";
// Raised when options.json changes in a way that older programs cannot read.
constexpr int kFolderFormat = 1;

// All a run may leave in its folder; only these are ever removed.
constexpr std::array<std::string_view, 13> kRunFiles = {"options.json",
                                                        "metrics.json",
                                                        "curves.csv",
                                                        "views.csv",
                                                        "log.txt",
                                                        "model.safetensors",
                                                        "checkpoint.safetensors",
                                                        "report.html",
                                                        "summary.json",
                                                        "test_scores.csv",
                                                        "search.safetensors",
                                                        "refit.safetensors",
                                                        "test_curves.json"};

bool isDirectory(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

std::vector<std::filesystem::path> entriesOf(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> entries;
  std::error_code failure;
  for (std::filesystem::directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    entries.push_back(at->path());
  }
  if (failure) {
    throw DataError(FilePlace{folder}, fmt::format("cannot be listed ({})", failure.message()),
                    "make the folder readable, or choose another with --out");
  }
  return entries;
}

bool isLock(const std::filesystem::path& path) { return path.filename() == kLockFile; }

bool isRunFile(const std::filesystem::path& path) {
  return std::ranges::find(kRunFiles, path.filename().string()) != kRunFiles.end();
}

// Whether everything here and below was left by runs.
bool holdsOnlyRuns(const std::filesystem::path& folder) {
  return std::ranges::all_of(entriesOf(folder), [](const std::filesystem::path& entry) {
    return isDirectory(entry) ? holdsOnlyRuns(entry) : isRunFile(entry) || isLock(entry);
  });
}

[[noreturn]] void throwUnwritable(const std::filesystem::path& path, const std::string& reason) {
  throw DataError(FilePlace{path}, fmt::format("cannot write to this folder ({})", reason),
                  "choose another folder with --out");
}

// Looks at the nearest folder that exists.
void checkWritable(const std::filesystem::path& path) {
  std::error_code failure;
  std::filesystem::path nearest = std::filesystem::absolute(path, failure);
  while (!failure && !std::filesystem::exists(nearest, failure) && nearest.has_relative_path()) {
    if (failure && failure != std::errc::not_a_directory) {
      throwUnwritable(path, failure.message());
    }
    failure.clear();
    nearest = nearest.parent_path();
  }
  if (failure) {
    throwUnwritable(path, failure.message());
  }
  if (!isDirectory(nearest)) {
    throwUnwritable(path, nearest.string() + " is a file");
  }
  if (::access(nearest.c_str(), W_OK) != 0) {
    throwUnwritable(path, std::generic_category().message(errno));
  }
}

}  // namespace

void claimRunFolder(const std::filesystem::path& path, bool overwrite) {
  checkWritable(path);
  if (!isThere(path)) {
    return;
  }
  std::vector<std::filesystem::path> entries = entriesOf(path);
  std::erase_if(entries, isLock);
  const bool a_run = std::ranges::any_of(entries, [](const std::filesystem::path& entry) {
    return isRunFile(entry) || isDirectory(entry);
  });
  if (!entries.empty() && (!a_run || !holdsOnlyRuns(path))) {
    throw ConfigError(path.string() + " holds something else than runs",
                      "choose a new folder with --out");
  }
  if (entries.empty() || overwrite) {
    return;
  }
  const std::vector<std::filesystem::path> runs = runsBelow(path);
  if (!std::ranges::all_of(runs, holdsResult)) {
    throw ConfigError(path.string() + " holds a run that is not finished",
                      fmt::format("go on with it: train --resume {}; or begin anew with "
                                  "--overwrite, or elsewhere with --out",
                                  shellWord(path.string())));
  }
  throw ConfigError(path.string() + " holds a run already",
                    "choose another --out, or add --overwrite");
}

void clearRunFolder(const std::filesystem::path& path) {
  if (!isDirectory(path)) {
    return;
  }
  for (const std::filesystem::path& entry : entriesOf(path)) {
    if (isDirectory(entry)) {
      clearRunFolder(entry);
    }
    std::error_code failure;
    if (isRunFile(entry) || isDirectory(entry)) {
      std::filesystem::remove(entry, failure);
    }
    if (failure && failure != std::errc::directory_not_empty) {
      throw DataError(FilePlace{entry}, fmt::format("cannot be removed ({})", failure.message()));
    }
  }
}

RunFolder RunFolder::create(const std::filesystem::path& path) {
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  if (failure) {
    throwUnwritable(path, failure.message());
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
  if (!isDirectory(path)) {
    throw DataError(FilePlace{path}, "no such run folder", "give the folder that --out named");
  }
  if (!isThere(path / kOptionsFile)) {
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
  try {
    std::ignore = json.dump();
  } catch (const nlohmann::json::exception&) {
    throw ConfigError("a path among the options is not UTF-8: the run could not be found again",
                      "give the file or folder another name");
  }
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
  } catch (const ConfigError& error) {
    // Nobody typed this: the file is at fault.
    throw DataError(error.what(), "was it made by another version? run the training again");
  } catch (const nlohmann::json::exception& error) {
    throw DataError(fmt::format("{}: is damaged ({})", origin, error.what()),
                    "run the training again");
  }
}

std::string RunFolder::version() const {
  const nlohmann::ordered_json json = readJson(kOptionsFile);
  return json.contains("version") && json.at("version").is_string()
             ? json.at("version").get<std::string>()
             : "unknown";
}

bool RunFolder::finished() const { return holdsResult(path_); }

void RunFolder::writeJson(std::string_view name, const nlohmann::ordered_json& content) const {
  // Ids of other encodings may stand in an audit's examples.
  constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;
  writeFileAtomically(path_ / name, content.dump(2, ' ', false, kReplace) + "\n");
}

nlohmann::ordered_json RunFolder::readJson(std::string_view name) const {
  const std::filesystem::path file = path_ / name;
  if (!isThere(file)) {
    throw DataError(FilePlace{file}, "is missing: the run did not finish",
                    "finish it with: edgewise train --resume " + shellWord(path_.string()));
  }
  const FileBytes bytes = readFile(file);
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(bytes.view(), nullptr, false);
  if (json.is_discarded()) {
    throw DataError(FilePlace{file}, "is not valid JSON (damaged or truncated)",
                    "run the training again");
  }
  return json;
}

void RunFolder::writeScores(const Dataset& dataset, const TestEdges& test,
                            std::span<const double> scores, std::span<const HopPair> views) const {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return scores[i]; });
  AtomicFile file(path_ / "test_scores.csv");
  file.write(views.empty() ? "source,target,link,score\n"
                           : "source,target,link,score,hops_source,hops_target\n");
  for (const std::size_t i : order) {
    const bool link = i < test.positive.size();
    const Edge pair = link ? test.positive.edges[i] : test.negative.edges[i - test.positive.size()];
    file.write(fmt::format("{},{},{},{}", csvField(dataset.nodeLabel(pair.src)),
                           csvField(dataset.nodeLabel(pair.dst)), link ? 1 : 0, scores[i]));
    file.write(views.empty() ? "\n" : fmt::format(",{},{}\n", views[i].source, views[i].target));
  }
  file.commit();
}

void RunFolder::log(std::string_view line) {
  if (log_) {
    log_->info(line);
  }
}

bool holdsResult(const std::filesystem::path& folder) { return isThere(folder / "metrics.json"); }

std::vector<std::filesystem::path> runsBelow(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> runs;
  std::error_code failure;
  std::filesystem::recursive_directory_iterator at(path, failure);
  for (const std::filesystem::recursive_directory_iterator end; !failure && at != end;
       at.increment(failure)) {
    if (at->path().filename() == kOptionsFile) {
      runs.push_back(at->path().parent_path());
    }
  }
  std::ranges::sort(runs);
  return runs;
}

std::filesystem::path freeRunFolder(const std::filesystem::path& root, const std::string& name) {
  std::filesystem::path candidate = root / name;
  for (int number = 2; isThere(candidate); ++number) {
    candidate = root / fmt::format("{}-{}", name, number);
  }
  return candidate;
}

}  // namespace edgewise
