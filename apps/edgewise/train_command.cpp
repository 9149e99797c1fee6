// edgewise train: from data to a scored run folder.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "commands.h"
#include "dataset_text.h"
#include "edgewise/data/catalogue.h"
#include "edgewise/ops/backend.h"
#include "edgewise/training/heuristic_run.h"
#include "edgewise/training/model_run.h"
#include "edgewise/training/run_estimate.h"
#include "edgewise/training/run_folder.h"
#include "edgewise/training/run_recipe.h"
#include "edgewise/training/test_curves.h"
#include "edgewise/util/atomic_file.h"
#include "edgewise/util/child_process.h"
#include "edgewise/util/file.h"
#include "edgewise/util/process.h"
#include "edgewise/util/shell_text.h"
#include "edgewise/util/text.h"
#include "run_remarks.h"
#include "run_text.h"
#include "train_outcome.h"
#include "typed_options.h"

namespace edgewise::app {
namespace {

struct TrainArguments {
  std::string recipe;
  std::string models;
  std::string selector;
  std::string resume;
  std::vector<std::string> settings;
  std::optional<std::int64_t> seed;
  std::int64_t seeds = 1;
  std::string out;
  bool overwrite = false;
  bool dry_run = false;
  bool no_report = false;
  std::string dataset;
  std::string edges;
  std::string features;
  bool bipartite = false;
  bool directed = false;
  std::string device;
};

// Beyond this many pairs a file of scores is no longer something to look at.
constexpr std::size_t kMostScoresKept = 2'000'000;

// One process makes runs in a folder; what others it starts is not concerned.
const FolderUse kRunUse{.seconds = 1, .inherited = false};

// One run of the several that a list of models and seeds makes.
struct Job {
  RunOptions options;
  std::filesystem::path folder;
};

// The named arguments, then --set: the most particular wins.
void applyArguments(const TrainArguments& arguments, const Session& session,
                    const std::string& model, OptionSet& set) {
  setIfTyped(set, "data.dataset", arguments.dataset, "--dataset");
  setIfTyped(set, "data.edges", arguments.edges, "--edges");
  setIfTyped(set, "data.features", arguments.features, "--features");
  setIfTyped(set, "data.bipartite", arguments.bipartite ? "true" : "", "--bipartite");
  setIfTyped(set, "data.directed", arguments.directed ? "true" : "", "--directed");
  setIfTyped(set, "model.kind", model, "--model");
  setIfTyped(set, "selector.kind", arguments.selector, "--selector");
  setIfTyped(set, "run.device", arguments.device, "--device");
  if (arguments.seed) {
    set.set("run.seed", std::to_string(*arguments.seed), "--seed");
  }
  if (session.threads) {
    set.set("run.threads", std::to_string(*session.threads), "--threads");
  }
  for (const std::string& setting : arguments.settings) {
    set.setAssignment(setting, "--set");
  }
}

RunOptions resolveOptions(const TrainArguments& arguments, const Session& session,
                          const std::string& model) {
  return resolveRun(arguments.recipe,
                    [&](OptionSet& set) { applyArguments(arguments, session, model, set); });
}

// One set of options a model.
std::vector<RunOptions> resolveModels(const TrainArguments& arguments, const Session& session) {
  if (arguments.models.empty()) {
    return {resolveOptions(arguments, session, "")};
  }
  std::vector<RunOptions> models;
  for (const std::string_view name : splitText(arguments.models, ',')) {
    if (trimmed(name).empty()) {
      throw ConfigError(fmt::format("--model: a name is missing in '{}'", arguments.models),
                        "write names with a comma between them: gae,sage");
    }
    models.push_back(resolveOptions(arguments, session, std::string(trimmed(name))));
    for (const RunOptions& earlier : std::span(models).first(models.size() - 1)) {
      if (earlier.model == models.back().model) {
        throw ConfigError(fmt::format("--model: {} is named twice", earlier.model));
      }
    }
  }
  return models;
}

std::filesystem::path outFolder(const TrainArguments& arguments, const Dataset& dataset,
                                std::span<const RunOptions> models) {
  if (!arguments.out.empty()) {
    return arguments.out;
  }
  std::vector<std::string> names;
  for (const RunOptions& options : models) {
    names.push_back(options.model);
  }
  return freeRunFolder("runs", fmt::format("{}-{}", dataset.name, joinText(names, "-")));
}

std::vector<Job> planJobs(std::span<const RunOptions> models, std::int64_t seeds,
                          const std::filesystem::path& out) {
  std::vector<Job> jobs;
  for (const RunOptions& options : models) {
    for (std::int64_t i = 0; i < seeds; ++i) {
      Job job{.options = options, .folder = out};
      job.options.seed += i;
      if (models.size() > 1) {
        job.folder /= options.model;
      }
      if (seeds > 1) {
        job.folder /= fmt::format("seed-{}", job.options.seed);
      }
      jobs.push_back(std::move(job));
    }
  }
  return jobs;
}

// What is left of the runs at or below a folder. Sorted by name, seed-10 before seed-2.
std::vector<Job> unfinishedJobs(const std::filesystem::path& folder,
                                std::vector<RunMetrics>& finished) {
  std::vector<Job> jobs;
  for (const std::filesystem::path& path : runsBelow(folder)) {
    const RunFolder run = RunFolder::open(path);
    Job job{.options = {}, .folder = path};
    run.readOptions(job.options);
    if (run.finished()) {
      try {
        finished.push_back(RunMetrics::fromJson(run.readJson("metrics.json")));
      } catch (const nlohmann::json::exception& error) {
        throw DataError(FilePlace{path / "metrics.json"},
                        fmt::format("is damaged ({})", error.what()),
                        "remove it, and the run is made again");
      }
      continue;
    }
    jobs.push_back(std::move(job));
  }
  if (jobs.empty() && finished.empty()) {
    RunFolder::open(folder);  // to be told what is wrong with it
  }
  return jobs;
}

// Said before the work begins: such a run is a demonstration, not a result.
void warnOfLeakyMessages(const Console& console, std::span<const Job> jobs) {
  const bool leaky = std::ranges::any_of(
      jobs, [](const Job& job) { return job.options.split.message_at_train != "train"; });
  if (leaky) {
    console.warn(
        "split.message_at_train=train+valid lets validation edges carry messages while they are "
        "learned from and validated: validation will look better than it is");
  }
}

// A run must be found again from any folder.
void makeAbsolute(std::string& path) {
  if (!path.empty()) {
    path = std::filesystem::absolute(path).lexically_normal().string();
  }
}

// Every planned run leaves its options first, so that whatever stops the program, --resume knows
// what is still to do.
void prepareFolders(std::span<Job> jobs, const Dataset& dataset) {
  for (Job& job : jobs) {
    makeAbsolute(job.options.data.edges);
    makeAbsolute(job.options.data.features);
    RunFolder::create(job.folder).writeOptions(job.options, dataset.hash);
  }
}

RunMetrics runJob(Session& session, Job& job, const Dataset& dataset, const LinkSplit& split,
                  double load_seconds) {
  ProgressSink& progress = session.console.progress();
  const bool heuristic = isHeuristic(job.options.model);
  RunMetrics run = heuristic ? runHeuristic(dataset, split, job.options, progress)
                             : runModel(dataset, split, job.options, job.folder, progress);
  run.time.insert(run.time.begin(), {"load_s", load_seconds});
  RunFolder folder = RunFolder::create(job.folder);
  folder.log(describeDataset(dataset));
  folder.log(describeSplit(run));
  if (run.test_scores.size() <= kMostScoresKept) {
    folder.writeScores(dataset, split.test, run.test_scores, run.test_views);
  }
  if (const auto curves = testCurvesOf(run)) {
    folder.writeJson(kTestCurvesFile, curves->toJson());
  }
  folder.writeJson("metrics.json", run.toJson());
  if (!heuristic) {
    finishModelRun(job.folder);
  }
  folder.log("finished");
  for (const std::string& note : split.notes) {
    session.console.note(note);
  }
  noteRankedUsers(session.console, run);
  warnOfLeaks(session.console, run);
  warnOfCollapse(session.console, run);
  return run;
}

LinkSplit splitFor(Session& session, const Job& job, const Dataset& dataset) {
  return splitLinks(dataset, job.options.split, job.options.negatives, splitSeed(job.options),
                    session.console.progress());
}

// All that can be found wrong before an earlier run is replaced or anything is written.
void checkJobs(Session& session, std::span<Job> jobs, const Dataset& dataset) {
  const LinkSplit split = splitFor(session, jobs.front(), dataset);
  const EvaluationOptions& evaluation = jobs.front().options.evaluation;
  std::ignore = resolveFullMetrics(
      evaluation, dataset, resolveMetrics(evaluation, dataset, split.training.valid.negative));
  for (const Job& job : jobs) {
    if (isHeuristic(job.options.model)) {
      checkHeuristicRun(dataset, split, job.options);
    } else {
      checkModelRun(dataset, job.options);
    }
  }
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
    const RunEstimate estimate = estimateRun(dataset, job.options);
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

std::vector<RunMetrics> runJobs(Session& session, std::span<Job> jobs, const Dataset& dataset,
                                double load_seconds) {
  std::vector<RunMetrics> runs;
  for (Job& job : jobs) {
    if (jobs.size() > 1) {
      session.console.note(fmt::format("run {} of {}: {} seed {}", runs.size() + 1, jobs.size(),
                                       job.options.model, job.options.seed));
    }
    runs.push_back(runJob(session, job, dataset, splitFor(session, job, dataset), load_seconds));
  }
  return runs;
}

// Ctrl-C ends the program, but not the work.
std::vector<RunMetrics> runResumably(Session& session, std::span<Job> jobs, const Dataset& dataset,
                                     double load_seconds, const std::filesystem::path& out) {
  try {
    return runJobs(session, jobs, dataset, load_seconds);
  } catch (const InterruptedError&) {
    throw InterruptedError(
        "interrupted; nothing is lost",
        fmt::format("go on with: {} train --resume {}", session.program, shellWord(out.string())));
  }
}

Dataset openFor(Session& session, const RunOptions& options) {
  setBackendThreads(session.threads.value_or(static_cast<int>(options.threads)));
  return openDataset(options.data, options.planted, dataRoot(session.data_root),
                     session.console.progress());
}

void resume(Session& session, const std::filesystem::path& folder, bool with_report) {
  std::vector<RunMetrics> runs;
  if (unfinishedJobs(folder, runs).empty()) {
    session.console.note("all that was begun here is finished");
    closeRuns(session, runs, folder, with_report);
    return;
  }
  const FolderLock lock(folder, kRunUse);
  // Somebody else may have gone on with them until now.
  runs.clear();
  std::vector<Job> jobs = unfinishedJobs(folder, runs);
  warnOfLeakyMessages(session.console, jobs);
  if (!jobs.empty()) {
    const Stopwatch load_watch;
    const Dataset dataset = openFor(session, jobs.front().options);
    for (const Job& job : jobs) {
      RunOptions stored;
      if (RunFolder::open(job.folder).readOptions(stored) != dataset.hash) {
        throw DataError(FilePlace{job.folder}, "the data has changed since this run was started",
                        "restore the data, or start again with --overwrite");
      }
    }
    session.console.say(describeDataset(dataset));
    const double load_seconds = load_watch.seconds();
    for (RunMetrics& run : runResumably(session, jobs, dataset, load_seconds, folder)) {
      runs.push_back(std::move(run));
    }
  }
  closeRuns(session, runs, folder, with_report);
}

// A run goes on with the options it was begun with.
void checkResumesAlone(const TrainArguments& arguments) {
  const std::vector<std::pair<bool, const char*>> typed = {
      {!arguments.models.empty(), "--model"},  {!arguments.selector.empty(), "--selector"},
      {!arguments.recipe.empty(), "--recipe"}, {!arguments.settings.empty(), "--set"},
      {arguments.seed.has_value(), "--seed"},  {arguments.seeds != 1, "--seeds"},
      {!arguments.out.empty(), "--out"},       {arguments.overwrite, "--overwrite"},
      {arguments.dry_run, "--dry-run"},        {!arguments.dataset.empty(), "--dataset"},
      {!arguments.edges.empty(), "--edges"},   {!arguments.features.empty(), "--features"},
      {arguments.bipartite, "--bipartite"},    {arguments.directed, "--directed"},
      {!arguments.device.empty(), "--device"}};
  for (const auto& [is_typed, name] : typed) {
    if (is_typed) {
      throw ConfigError(fmt::format("--resume goes on with the options a run was begun with, and "
                                    "{} would change them",
                                    name),
                        fmt::format("leave {} out, or begin a new run without --resume", name));
    }
  }
}

// What says nothing to formulas should not be thought to.
void noteFormulas(const Console& console, const TrainArguments& arguments,
                  std::span<const RunOptions> models) {
  for (const RunOptions& options : models) {
    if (isHeuristic(options.model) && !arguments.selector.empty()) {
      console.note(
          fmt::format("{} is a formula and looks at no views: --selector is for learned models",
                      options.model));
    }
  }
}

void train(Session& session, const TrainArguments& arguments) {
  if (!arguments.resume.empty()) {
    checkResumesAlone(arguments);
    resume(session, arguments.resume, !arguments.no_report);
    return;
  }
  const std::vector<RunOptions> models = resolveModels(arguments, session);
  noteFormulas(session.console, arguments, models);
  const Stopwatch load_watch;
  const Dataset dataset = openFor(session, models.front());
  const double load_seconds = load_watch.seconds();
  const std::filesystem::path out = outFolder(arguments, dataset, models);
  std::vector<Job> jobs = planJobs(models, arguments.seeds, out);
  warnOfLeakyMessages(session.console, jobs);
  if (arguments.dry_run) {
    dryRun(session, dataset, jobs);
    return;
  }
  session.console.say(describeDataset(dataset));
  std::optional<FolderLock> lock;
  if (isThere(out / kRunUse.file)) {
    // Who works there is worth more than what is there.
    lock.emplace(out, kRunUse);
  }
  claimRunFolder(out, arguments.overwrite);
  checkJobs(session, jobs, dataset);
  if (!lock) {
    lock.emplace(out, kRunUse);
    // Somebody else may have been faster.
    claimRunFolder(out, arguments.overwrite);
  }
  clearRunFolder(out);
  prepareFolders(jobs, dataset);
  closeRuns(session, runResumably(session, jobs, dataset, load_seconds, out), out,
            !arguments.no_report);
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
      ->add_option(
          "--model", arguments->models,
          "gae, sage or seal (learned), lightgcn or ngcf (learned, for users and items), cn, aa, "
          "ra, jaccard, pa, katz or ppr (formulas); several with commas are compared")
      ->option_text("NAME");
  command
      ->add_option(
          "--selector", arguments->selector,
          "views of a pair that a learned model looks at: none, fixed:I,J, mean, jk, rs or "
          "ps2 (each pair its own), oracle (generated data: the view known to serve)")
      ->option_text("NAME");
  command
      ->add_option(
          "--recipe", arguments->recipe,
          "best, paper, published, or a JSON file of options (`edgewise options --recipes`)")
      ->option_text("NAME|FILE");
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
  command->add_option("--resume", arguments->resume, "go on with the unfinished runs of a folder")
      ->option_text("DIR");
  command->add_flag("--overwrite", arguments->overwrite, "replace a run that is in that folder");
  command->add_flag("--no-report", arguments->no_report,
                    "leave report.html out (`edgewise report` writes it later)");
  command->add_flag("--dry-run", arguments->dry_run,
                    "show resolved options, memory and time; run nothing");
  addCommonOptions(*command, session);
  command->footer(
      "Examples:\n"
      "  edgewise train --edges friends.csv --model cn,aa,ra --seeds 5\n"
      "  edgewise train --dataset cora --model sage --recipe best --seeds 10\n"
      "  edgewise train --dataset cora --model seal --recipe best --selector ps2\n"
      "  edgewise train --resume runs/cora-sage\n"
      "  edgewise train --dataset cora --model katz --set heuristic.katz_beta=0.01\n"
      "  edgewise train --edges calls.csv --model ra --set split.kind=time data.time_column=when\n"
      "  edgewise train --edges purchases.csv --bipartite --model lightgcn\n"
      "  edgewise train --dataset gowalla --model lightgcn --recipe best");
  command->callback([&session, arguments] {
    session.action = [&session, arguments] { train(session, *arguments); };
  });
}

}  // namespace edgewise::app
