#include "edgewise/experiments/result_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <system_error>

#include "edgewise/training/run_folder.h"
#include "edgewise/util/atomic_file.h"
#include "edgewise/util/child_process.h"
#include "edgewise/util/error.h"
#include "edgewise/util/file.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kEnding = ".jsonl";
constexpr std::size_t kHashDigits = 12;

// Shares are shown, not computed with: four digits keep the files small.
double rounded(double share) {
  constexpr double kDigits = 1e4;
  return std::round(share * kDigits) / kDigits;
}

std::vector<double> flatShares(const Json& rows) {
  std::vector<double> shares;
  for (const Json& row : rows) {
    for (const Json& share : row) {
      shares.push_back(rounded(share.get<double>()));
    }
  }
  return shares;
}

// Without the words on ties: one policy holds for the whole program.
Json metricsJson(const MetricSet& metrics) {
  Json json = Json::object();
  for (const auto& [name, value] : metrics.values()) {
    json[name] = value;
  }
  return json;
}

MetricSet readMetrics(const Json& json) {
  MetricSet metrics;
  for (const auto& [name, value] : json.items()) {
    if (name != "ties") {
      metrics.set(name, value.get<double>());
    }
  }
  return metrics;
}

std::optional<MeanStd> summaryOf(const std::vector<SeedResult>& runs,
                                 const MetricSet SeedResult::* part, std::string_view metric) {
  std::vector<double> values;
  for (const SeedResult& run : runs) {
    const std::optional<double> value = (run.*part).find(metric);
    if (!value) {
      return std::nullopt;
    }
    values.push_back(*value);
  }
  return values.empty() ? std::nullopt : std::optional(summarise(values));
}

Json cellJson(const CellResult& result) {
  Json json;
  json["cell"] = result.cell.name();
  json["dataset"] = result.cell.dataset;
  json["model"] = result.cell.model;
  json["selector"] = result.cell.selector;
  json["recipe"] = result.cell.recipe;
  if (!result.cell.variant.empty()) {
    json["variant"] = result.cell.variant;
    json["set"] = result.cell.settings;
  }
  json["command"] = result.cell.command(result.runs.size());
  json["runs"] = Json::array();
  for (const SeedResult& run : result.runs) {
    json["runs"].push_back(run.toJson());
  }
  return json;
}

Cell readCell(const Json& json) {
  Cell cell{.dataset = json.at("dataset"),
            .model = json.at("model"),
            .selector = json.at("selector"),
            .recipe = json.at("recipe"),
            .variant = json.value("variant", ""),
            .settings = {}};
  if (json.contains("set")) {
    cell.settings = json.at("set").get<std::vector<std::string>>();
  }
  return cell;
}

}  // namespace

SeedResult SeedResult::fromMetrics(const Json& metrics, std::string version) {
  SeedResult run;
  run.seed = metrics.at("seed");
  run.valid = readMetrics(metrics.at("valid"));
  run.test = readMetrics(metrics.at("test"));
  run.device = metrics.at("device");
  run.precision = metrics.value("precision", "fp32");
  run.version = std::move(version);
  run.split = metrics.at("split").at("hash").get<std::string>().substr(0, kHashDigits);
  run.supervision = metrics.at("split").at("supervision_edges");
  if (metrics.contains("learning")) {
    run.epochs = metrics.at("learning").at("epochs");
  }
  for (const auto& [stage, value] : metrics.at("time").items()) {
    run.time.emplace_back(stage, value.get<double>());
  }
  if (metrics.contains("views")) {
    const Json& views = metrics.at("views");
    run.views_positive = flatShares(views.at("test_positive"));
    run.views_negative = flatShares(views.at("test_negative"));
    run.first_hops = views.value("first_hops", 1);
    run.effective = views.at("effective").get<double>();
  }
  if (metrics.contains("by_view")) {
    const Json& views = metrics.at("by_view");
    run.best_view = HopPair{views.at("best").at(0).get<int>(), views.at("best").at(1).get<int>()};
    run.best_view_test = readMetrics(views.at("best_test"));
  }
  return run;
}

Json SeedResult::toJson() const {
  Json json;
  json["seed"] = seed;
  json["test"] = metricsJson(test);
  json["valid"] = metricsJson(valid);
  if (effective) {
    json["views"] = {{"positive", views_positive},
                     {"negative", views_negative},
                     {"first_hops", first_hops},
                     {"effective", rounded(*effective)}};
  }
  if (best_view) {
    json["best_view"] = {{"view", {best_view->source, best_view->target}},
                         {"test", metricsJson(best_view_test)}};
  }
  json["device"] = device;
  json["precision"] = precision;
  json["version"] = version;
  json["split"] = split;
  json["supervision"] = supervision;
  json["epochs"] = epochs;
  json["time"] = Json::object();
  for (const auto& [stage, value] : time) {
    json["time"][stage] = rounded(value);
  }
  return json;
}

SeedResult SeedResult::fromJson(const Json& json) {
  SeedResult run;
  run.seed = json.at("seed");
  run.test = readMetrics(json.at("test"));
  run.valid = readMetrics(json.at("valid"));
  run.device = json.at("device");
  run.precision = json.at("precision");
  run.version = json.at("version");
  run.split = json.at("split");
  run.supervision = json.at("supervision");
  run.epochs = json.at("epochs");
  for (const auto& [stage, value] : json.at("time").items()) {
    run.time.emplace_back(stage, value.get<double>());
  }
  if (json.contains("views")) {
    const Json& views = json.at("views");
    run.views_positive = views.at("positive").get<std::vector<double>>();
    run.views_negative = views.at("negative").get<std::vector<double>>();
    run.first_hops = views.at("first_hops");
    run.effective = views.at("effective").get<double>();
  }
  if (json.contains("best_view")) {
    const Json& view = json.at("best_view").at("view");
    run.best_view = HopPair{view.at(0).get<int>(), view.at(1).get<int>()};
    run.best_view_test = readMetrics(json.at("best_view").at("test"));
  }
  return run;
}

std::optional<double> SeedResult::timeOf(std::string_view stage) const {
  const auto found = std::ranges::find(time, stage, &std::pair<std::string, double>::first);
  return found == time.end() ? std::nullopt : std::optional(found->second);
}

double SeedResult::seconds() const {
  double sum = 0;
  for (const auto& [stage, value] : time) {
    sum += stage.ends_with("_s") ? value : 0;
  }
  return sum;
}

void CellResult::add(SeedResult run) {
  const auto place = std::ranges::lower_bound(runs, run.seed, {}, &SeedResult::seed);
  if (place != runs.end() && place->seed == run.seed) {
    *place = std::move(run);
  } else {
    runs.insert(place, std::move(run));
  }
}

std::optional<MeanStd> CellResult::test(std::string_view metric) const {
  return summaryOf(runs, &SeedResult::test, metric);
}

std::optional<MeanStd> CellResult::valid(std::string_view metric) const {
  return summaryOf(runs, &SeedResult::valid, metric);
}

std::optional<double> CellResult::effective() const {
  std::vector<double> values;
  for (const SeedResult& run : runs) {
    if (run.effective) {
      values.push_back(*run.effective);
    }
  }
  return values.empty() ? std::nullopt : std::optional(summarise(values).mean);
}

std::optional<PairedTest> pairedDifference(const CellResult& first, const CellResult& second,
                                           std::string_view metric) {
  std::vector<double> of_first;
  std::vector<double> of_second;
  for (const SeedResult& run : first.runs) {
    const auto partner = std::ranges::find(second.runs, run.seed, &SeedResult::seed);
    if (partner == second.runs.end()) {
      continue;
    }
    const std::optional<double> one = run.test.find(metric);
    const std::optional<double> other = partner->test.find(metric);
    if (one && other) {
      of_first.push_back(*one);
      of_second.push_back(*other);
    }
  }
  return of_first.size() < 2 ? std::nullopt : std::optional(pairedTest(of_first, of_second));
}

ResultBook ResultBook::read(const std::filesystem::path& folder) {
  ResultBook book;
  std::vector<std::filesystem::path> files;
  std::error_code failure;
  for (std::filesystem::directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    if (at->path().extension() == kEnding) {
      files.push_back(at->path());
    }
  }
  std::ranges::sort(files);
  for (const std::filesystem::path& file : files) {
    const FileBytes bytes = readFile(file);
    std::size_t number = 0;
    for (const std::string_view line : splitText(bytes.view(), '\n')) {
      ++number;
      if (trimmed(line).empty()) {
        continue;
      }
      try {
        const Json json = Json::parse(line);
        if (json.contains("absent")) {
          book.setAbsent(json.at("dataset"), json.at("absent"));
          continue;
        }
        const Cell cell = readCell(json);
        for (const Json& run : json.at("runs")) {
          book.add(cell, SeedResult::fromJson(run));
        }
      } catch (const Json::exception& error) {
        throw DataError(FilePlace{file, number}, fmt::format("is damaged ({})", error.what()),
                        "restore the file, or remove the line and run its cell again");
      }
    }
  }
  return book;
}

// By dataset.
std::map<std::string, std::string> ResultBook::files() const {
  std::map<std::string, std::string> files;
  for (const auto& [dataset, why] : absent_) {
    files[dataset] = Json({{"dataset", dataset}, {"absent", why}}).dump() + "\n";
  }
  for (const auto& [name, result] : cells_) {
    files[result.cell.dataset] += cellJson(result).dump() + "\n";
  }
  return files;
}

void ResultBook::addTo(const std::filesystem::path& folder, double patience) const {
  const FolderLock lock(
      folder,
      {.file = ".store.lock", .seconds = patience, .option = "--store", .inherited = false});
  ResultBook kept = read(folder);
  kept.merge(*this);
  const std::map<std::string, std::string> own = files();
  for (const auto& [dataset, content] : kept.files()) {
    if (own.contains(dataset)) {
      writeFileAtomically(folder / (dataset + std::string(kEnding)), content);
    }
  }
}

void ResultBook::add(const Cell& cell, SeedResult run) {
  absent_.erase(cell.dataset);
  CellResult& result = cells_[cell.name()];
  result.cell = cell;
  result.add(std::move(run));
}

void ResultBook::setAbsent(const std::string& dataset, const std::string& why) {
  const bool known = std::ranges::any_of(
      cells_, [&](const auto& entry) { return entry.second.cell.dataset == dataset; });
  if (!known) {
    absent_[dataset] = why;
  }
}

void ResultBook::merge(const ResultBook& other) {
  for (const auto& [name, result] : other.cells_) {
    for (const SeedResult& run : result.runs) {
      add(result.cell, run);
    }
  }
  for (const auto& [dataset, why] : other.absent_) {
    setAbsent(dataset, why);
  }
}

const CellResult* ResultBook::find(const std::string& cell_name) const {
  const auto found = cells_.find(cell_name);
  return found == cells_.end() ? nullptr : &found->second;
}

std::optional<std::string> ResultBook::absent(const std::string& dataset) const {
  const auto found = absent_.find(dataset);
  return found == absent_.end() ? std::nullopt : std::optional(found->second);
}

SeedResult readSeedResult(const std::filesystem::path& run_folder) {
  const RunFolder folder = RunFolder::open(run_folder);
  try {
    return SeedResult::fromMetrics(folder.readJson("metrics.json"),
                                   folder.readJson("options.json").at("version"));
  } catch (const Json::exception& error) {
    throw DataError(FilePlace{run_folder / "metrics.json"},
                    fmt::format("is damaged ({})", error.what()),
                    "remove it, and the run is made again");
  }
}

}  // namespace edgewise
