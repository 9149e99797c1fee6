// edgewise evaluate DIR: make a run's numbers again from its stored options, and compare.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "edgewise/data/catalogue.h"
#include "edgewise/ops/backend.h"
#include "edgewise/training/heuristic_run.h"
#include "edgewise/training/model_run.h"
#include "edgewise/training/run_folder.h"
#include "edgewise/training/stored_run.h"
#include "edgewise/training/test_curves.h"
#include "edgewise/util/text.h"
#include "run_text.h"

namespace edgewise::app {
namespace {

// The data of the run before: runs of one comparison share it, and reading it can take longer than
// scoring.
struct SharedData {
  std::string settings;
  Dataset dataset;
};

const Dataset& openShared(Session& session, RunOptions& options, SharedData& shared) {
  const nlohmann::json json = options.bind().toJson();
  const std::string settings = json["data"].dump() + json["planted"].dump();
  if (settings != shared.settings) {
    shared.dataset = openDataset(options.data, options.planted, dataRoot(session.data_root),
                                 session.console.progress());
    shared.settings = settings;
  }
  return shared.dataset;
}

// Whether all metrics agree but for what another device's rounding may do.
bool nearlyEqual(const MetricSet& a, const MetricSet& b) {
  constexpr double kRounding = 5e-3;
  return std::ranges::equal(a.values(), b.values(), [](const auto& one, const auto& other) {
    return one.first == other.first && std::abs(one.second - other.second) <= kRounding;
  });
}

// "test auc is 0.9100 here and 0.9200 there" for the first that differs.
std::string firstDifference(const char* stage, const MetricSet& here, const MetricSet& stored) {
  for (const auto& [name, value] : here.values()) {
    const std::optional<double> there = stored.find(name);
    if (there != value) {
      return fmt::format("{} {} is {} here and {} there", stage, name, value,
                         there ? fmt::format("{}", *there) : "not stored");
    }
  }
  return fmt::format("{} has other metrics there", stage);
}

// Runs of earlier versions lack what a report's pictures are drawn from. A folder that cannot be
// written to is no reason to fail.
void addTestCurves(const Console& console, const std::filesystem::path& path,
                   const RunMetrics& run) {
  std::error_code ignored;
  const auto curves = testCurvesOf(run);
  if (!curves || std::filesystem::exists(path / kTestCurvesFile, ignored)) {
    return;
  }
  try {
    RunFolder::open(path).writeJson(kTestCurvesFile, curves->toJson());
    console.note(fmt::format("{}: added {}, for reports", path.string(), kTestCurvesFile));
  } catch (const Error& error) {
    console.note(error.what());
  }
}

// One run made again; throws when its numbers come out differently.
RunMetrics evaluateRun(Session& session, const std::filesystem::path& path,
                       const std::string& device, SharedData& shared) {
  StoredRun stored = readStoredRun(path);
  RunOptions& options = stored.options;
  if (!isHeuristic(options.model)) {
    options.device = device;
  }
  setBackendThreads(session.threads.value_or(static_cast<int>(options.threads)));
  ProgressSink& progress = session.console.progress();
  const Dataset& dataset = openShared(session, options, shared);
  const LinkSplit split = splitAgain(stored, dataset, progress);
  RunMetrics run = isHeuristic(options.model)
                       ? runHeuristic(dataset, split, options, progress)
                       : evaluateModel(dataset, split, options, path, progress);
  const bool same_place = run.device == stored.device && run.precision == stored.precision;
  if (!same_place && nearlyEqual(run.test, stored.test) && nearlyEqual(run.valid, stored.valid)) {
    session.console.say(path.string() + ": made on " + stored.device + " (" + stored.precision +
                        "), here on " + run.device + " (" + run.precision +
                        "): the same but for rounding");
    return run;
  }
  if (run.test != stored.test || run.valid != stored.valid) {
    const bool test = run.test != stored.test;
    throw Error(fmt::format("{}: these numbers differ from the stored ones: {}", path.string(),
                            test ? firstDifference("test", run.test, stored.test)
                                 : firstDifference("valid", run.valid, stored.valid)),
                "was the run made by another version (options.json names it), or metrics.json "
                "changed?",
                ExitCode::kFailure);
  }
  addTestCurves(session.console, path, run);
  return run;
}

void evaluate(Session& session, const std::string& path, const std::string& device) {
  std::vector<std::filesystem::path> folders = runsBelow(path);
  if (folders.empty()) {
    folders.emplace_back(path);  // to be told what is wrong with it
  }
  SharedData shared;
  std::vector<RunMetrics> runs;
  runs.reserve(folders.size());
  for (const std::filesystem::path& folder : folders) {
    runs.push_back(evaluateRun(session, folder, device, shared));
  }
  showRuns(session.console, runs);
  session.console.say("\nthe same numbers as stored");
}

}  // namespace

void addEvaluateCommand(CLI::App& program, Session& session) {
  CLI::App* command =
      program.add_subcommand("evaluate", "make a run's numbers again and compare with the stored");
  const auto folder = std::make_shared<std::string>();
  command->add_option("DIR", *folder, "a run folder, or one that holds several")->required();
  const auto device = std::make_shared<std::string>("auto");
  command->add_option("--device", *device, "cpu, cuda or auto")->option_text("NAME");
  addCommonOptions(*command, session);
  command->callback([&session, folder, device] {
    session.action = [&session, folder, device] { evaluate(session, *folder, *device); };
  });
}

}  // namespace edgewise::app
