// edgewise train: from data to a scored run folder.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "dataset_text.h"
#include "edgewise/data/catalogue.h"
#include "edgewise/ops/backend.h"
#include "edgewise/training/heuristic_run.h"
#include "edgewise/training/run_estimate.h"
#include "edgewise/training/run_folder.h"
#include "edgewise/util/atomic_file.h"
#include "edgewise/util/file.h"
#include "edgewise/util/process.h"
#include "edgewise/util/text.h"
#include "run_text.h"

namespace edgewise::app {
namespace {

struct TrainArguments {
  std::string recipe;
  std::string models;
  std::vector<std::string> settings;
  std::optional<std::int64_t> seed;
  std::int64_t seeds = 1;
  std::string out;
  bool overwrite = false;
  bool dry_run = false;
  std::string dataset;
  std::string edges;
  std::string features;
  bool bipartite = false;
  bool directed = false;
  std::string device;
};

// One run of the several that a list of models and seeds makes.
struct Job {
  RunOptions options;
  std::filesystem::path folder;
};

void applyRecipe(const std::string& path, OptionSet& set) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    throw ConfigError(fmt::format("--recipe: no such file '{}'", path),
                      "a recipe is a JSON file of options; `edgewise options` lists them");
  }
  const FileBytes bytes = readFile(path);
  const nlohmann::json json = nlohmann::json::parse(bytes.view(), nullptr, false);
  if (json.is_discarded()) {
    throw ConfigError(path + ": is not valid JSON");
  }
  // A run's own options.json repeats that run.
  const bool is_a_run = json.is_object() && json.contains("format") && json.contains("options");
  set.setAll(is_a_run ? json["options"] : json, path);
}

// Recipe first, then the named arguments, then --set: the most particular wins.
RunOptions resolveOptions(const TrainArguments& arguments, const Session& session) {
  RunOptions options;
  OptionSet set = options.bind();
  if (!arguments.recipe.empty()) {
    applyRecipe(arguments.recipe, set);
  }
  const auto set_if_given = [&](const char* key, const std::string& value, const char* origin) {
    if (!value.empty()) {
      set.set(key, value, origin);
    }
  };
  set_if_given("data.dataset", arguments.dataset, "--dataset");
  set_if_given("data.edges", arguments.edges, "--edges");
  set_if_given("data.features", arguments.features, "--features");
  set_if_given("data.bipartite", arguments.bipartite ? "true" : "", "--bipartite");
  set_if_given("data.directed", arguments.directed ? "true" : "", "--directed");
  set_if_given("run.device", arguments.device, "--device");
  if (arguments.seed) {
    set.set("run.seed", std::to_string(*arguments.seed), "--seed");
  }
  if (session.threads) {
    set.set("run.threads", std::to_string(*session.threads), "--threads");
  }
  for (const std::string& setting : arguments.settings) {
    set.setAssignment(setting, "--set");
  }
  return options;
}

std::vector<std::string> modelNames(const TrainArguments& arguments, RunOptions options) {
  if (arguments.models.empty()) {
    return {options.model};
  }
  std::vector<std::string> names;
  for (const std::string_view name : splitText(arguments.models, ',')) {
    options.bind().set("model.kind", trimmed(name), "--model");
    if (std::ranges::find(names, options.model) != names.end()) {
      throw ConfigError(fmt::format("--model: {} is named twice", options.model));
    }
    names.push_back(options.model);
  }
  return names;
}

std::filesystem::path outFolder(const TrainArguments& arguments, const Dataset& dataset,
                                std::span<const std::string> models) {
  if (!arguments.out.empty()) {
    return arguments.out;
  }
  return freeRunFolder("runs", fmt::format("{}-{}", dataset.name, joinText(models, "-")));
}

std::vector<Job> planJobs(const RunOptions& base, std::span<const std::string> models,
                          std::int64_t seeds, const std::filesystem::path& out) {
  std::vector<Job> jobs;
  for (const std::string& model : models) {
    for (std::int64_t i = 0; i < seeds; ++i) {
      Job job{.options = base, .folder = out};
      job.options.model = model;
      job.options.seed = base.seed + i;
      if (models.size() > 1) {
        job.folder /= model;
      }
      if (seeds > 1) {
        job.folder /= fmt::format("seed-{}", job.options.seed);
      }
      jobs.push_back(std::move(job));
    }
  }
  return jobs;
}

void warnOfLeaks(const Console& console, const RunMetrics& run) {
  for (const Leak& leak : run.audit.leaks) {
    console.warn(fmt::format("leak: {} {} (for example {})", groupedCount(leak.count), leak.what,
                             joinText(leak.examples, "; ")));
  }
}

// Runs first and writes last: what fails on the way leaves no folder behind and destroys no earlier
// run.
RunMetrics runJob(Session& session, Job& job, const Dataset& dataset, double load_seconds) {
  ProgressSink& progress = session.console.progress();
  const Stopwatch split_watch;
  const LinkSplit split = splitLinks(dataset, job.options.split, job.options.negatives,
                                     splitSeed(job.options), progress);
  const double split_seconds = split_watch.seconds();
  RunMetrics run = runHeuristic(dataset, split, job.options, progress);
  run.time.insert(run.time.begin(), {{"load_s", load_seconds}, {"split_s", split_seconds}});
  for (const std::string& note : split.notes) {
    session.console.note(note);
  }
  warnOfLeaks(session.console, run);
  return run;
}

// A run must be found again from any folder.
void makeAbsolute(std::string& path) {
  if (!path.empty()) {
    path = std::filesystem::absolute(path).lexically_normal().string();
  }
}

void writeRun(Job& job, const Dataset& dataset, const RunMetrics& run) {
  makeAbsolute(job.options.data.edges);
  makeAbsolute(job.options.data.features);
  RunFolder folder = RunFolder::create(job.folder);
  folder.writeOptions(job.options, dataset.hash);
  folder.writeJson("metrics.json", run.toJson());
  folder.log(describeDataset(dataset));
  folder.log(describeSplit(run));
  folder.log("finished");
}

void dryRun(Session& session, const Dataset& dataset, std::span<Job> jobs) {
  nlohmann::ordered_json json;
  json["data"] = datasetJson(dataset);
  json["runs"] = nlohmann::ordered_json::array();
  session.console.say(describeDataset(dataset) + "\n");
  TextTable table({{"option"}, {"value"}});
  OptionSet set = jobs.front().options.bind();
  for (const OptionDescription& option : set.describe()) {
    const std::string value = set.value(option.key);
    table.addRow({option.key, value.empty() ? "-" : value});
  }
  session.console.say(table);
  TextTable plan({{"would run"}, {"memory", Align::kRight}, {"time", Align::kRight}, {"folder"}});
  for (Job& job : jobs) {
    const RunEstimate estimate = estimateHeuristicRun(dataset, job.options);
    json["runs"].push_back(
        {{"options", job.options.bind().toJson()},
         {"folder", job.folder.string()},
         {"estimate", {{"memory_bytes", estimate.memory_bytes}, {"seconds", estimate.seconds}}}});
    plan.addRow({fmt::format("{} seed {}", job.options.model, job.options.seed),
                 "about " + readableBytes(estimate.memory_bytes),
                 "about " + readableSeconds(estimate.seconds), job.folder.string()});
  }
  session.console.say("");
  session.console.show(plan);
  session.console.showJson(json);
}

void showOutcome(const Session& session, std::span<const RunMetrics> runs,
                 const std::filesystem::path& out) {
  showRuns(session.console, runs);
  double seconds = 0;
  for (const RunMetrics& run : runs) {
    for (const auto& [stage, time] : run.time) {
      seconds += stage == "load_s" && &run != &runs.front() ? 0 : time;
    }
  }
  session.console.say(fmt::format("\nrun folder: {}   ({}, {} at most)", out.string(),
                                  readableSeconds(seconds), readableBytes(peakMemoryBytes())));
  session.console.say(fmt::format("next: edgewise evaluate {}", out.string()));
}

void train(Session& session, const TrainArguments& arguments) {
  const RunOptions options = resolveOptions(arguments, session);
  const std::vector<std::string> models = modelNames(arguments, options);
  setBackendThreads(static_cast<int>(options.threads));
  const Stopwatch load_watch;
  const Dataset dataset = openDataset(options.data, options.planted, dataRoot(session.data_root),
                                      session.console.progress());
  const double load_seconds = load_watch.seconds();
  const std::filesystem::path out = outFolder(arguments, dataset, models);
  std::vector<Job> jobs = planJobs(options, models, arguments.seeds, out);
  if (arguments.dry_run) {
    dryRun(session, dataset, jobs);
    return;
  }
  session.console.say(describeDataset(dataset));
  std::vector<RunMetrics> runs;
  runs.reserve(jobs.size());
  claimRunFolder(out, arguments.overwrite);
  for (Job& job : jobs) {
    runs.push_back(runJob(session, job, dataset, load_seconds));
    if (runs.size() == 1) {
      clearRunFolder(out);
    }
    writeRun(job, dataset, runs.back());
  }
  if (runs.size() > 1) {
    writeFileAtomically(out / "summary.json", comparisonJson(runs).dump(2) + "\n");
  }
  showOutcome(session, runs, out);
}

}  // namespace

void addTrainCommand(CLI::App& program, Session& session) {
  CLI::App* command =
      program.add_subcommand("train", "score a graph's held-out links and keep the run");
  const auto arguments = std::make_shared<TrainArguments>();
  command->add_option("--dataset", arguments->dataset, "a known dataset, or planted")
      ->option_text("NAME");
  command->add_option("--edges", arguments->edges, "your own edge list")->option_text("FILE");
  command->add_option("--features", arguments->features, "node features for it")
      ->option_text("FILE");
  command->add_flag("--bipartite", arguments->bipartite, "the two columns are users and items");
  command->add_flag("--directed", arguments->directed, "an edge a,b does not imply b,a");
  command
      ->add_option("--model", arguments->models,
                   "cn, aa, ra, jaccard, pa, katz or ppr; several with commas are compared")
      ->option_text("NAME");
  command->add_option("--recipe", arguments->recipe, "options from a JSON file")
      ->option_text("FILE");
  command->add_option("--set", arguments->settings, "set an option (`edgewise options`)")
      ->option_text("KEY=VALUE ...")
      ->allow_extra_args()
      ->take_all();
  command->add_option("--seed", arguments->seed, "decides the split and every random choice")
      ->option_text("N");
  command->add_option("--seeds", arguments->seeds, "run this many seeds and show mean ± std")
      ->option_text("N")
      ->check(CLI::Range(1, 10000));
  command->add_option("--device", arguments->device, "cpu, cuda or auto")->option_text("NAME");
  command->add_option("--out", arguments->out, "run folder (default: runs/DATASET-MODEL)")
      ->option_text("DIR");
  command->add_flag("--overwrite", arguments->overwrite, "replace a run that is in that folder");
  command->add_flag("--dry-run", arguments->dry_run,
                    "show resolved options, memory and time; run nothing");
  addCommonOptions(*command, session);
  command->footer(
      "Examples:\n"
      "  edgewise train --edges friends.csv --model cn,aa,ra --seeds 5\n"
      "  edgewise train --dataset cora --model katz --set heuristic.katz_beta=0.01\n"
      "  edgewise train --edges calls.csv --model ra --set split.kind=time data.time_column=when");
  command->callback([&session, arguments] {
    session.action = [&session, arguments] { train(session, *arguments); };
  });
}

}  // namespace edgewise::app
