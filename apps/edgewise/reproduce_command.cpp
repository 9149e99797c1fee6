// edgewise reproduce: the paper's tables and figures by name.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "commands.h"
#include "edgewise/data/catalogue.h"
#include "edgewise/experiments/experiment.h"
#include "edgewise/experiments/experiment_report.h"
#include "edgewise/experiments/paper_tables.h"
#include "edgewise/experiments/reproduction.h"
#include "edgewise/experiments/results_page.h"
#include "edgewise/ops/backend.h"
#include "edgewise/training/run_options.h"
#include "edgewise/util/count_text.h"
#include "edgewise/util/file.h"
#include "edgewise/util/parallel.h"
#include "edgewise/util/text.h"

namespace edgewise::app {
namespace {

struct ReproduceArguments {
  std::string name;
  std::string datasets;
  std::string models;
  std::string recipes;
  std::string methods;
  std::int64_t seeds = 0;
  std::vector<std::string> settings;
  bool no_controls = false;
  std::string out = "runs/reproduce";
  int jobs = 0;
  std::string device = "auto";
  bool dry_run = false;
  bool collect = false;
  bool missing = false;
  std::string store;
  std::string docs;
  bool check = false;
};

std::vector<std::string> namesIn(const std::string& list) {
  std::vector<std::string> names;
  for (const std::string_view name : splitText(list, ',')) {
    if (!trimmed(name).empty()) {
      names.emplace_back(trimmed(name));
    }
  }
  return names;
}

// Processors share a machine well; a GPU is best left to one run at a time, and so is whatever is
// being timed.
void settleJobs(const ReproduceArguments& arguments, const Session& session,
                const Experiment& experiment, ReproductionOptions& options) {
  setThreadCount(0);
  const int cores = threadCount();
  const bool timed = experiment.kind == ExperimentKind::kEfficiency;
  options.threads = session.threads.value_or(timed ? 0 : 1);
  const int each = options.threads == 0 ? cores : options.threads;
  const bool on_gpu =
      options.device == "cuda" || (options.device == "auto" && inspectBackend().cuda_available);
  options.jobs = arguments.jobs > 0 ? arguments.jobs
                 : timed || on_gpu  ? 1
                                    : std::max(1, cores / each);
}

// Seconds in which runs that wait for their turn wait for the store as well.
constexpr double kStorePatience = 2;

// On a terminal a bar; elsewhere a line a run, and one now and then while a run takes long. Adds
// every run to the store, if there is one: it is there then, whatever stops the program.
class ConsoleWatcher final : public ReproductionWatcher {
 public:
  ConsoleWatcher(Console& console, std::size_t total, std::filesystem::path store)
      : console_(console),
        bar_(console.progress(), "reproducing", total),
        store_(std::move(store)) {}

  void tick(const Moment& moment) override {
    bar_.remark(fmt::format("forecast {}; running {}", readableSeconds(moment.seconds_left),
                            joinText(moment.running, ", ")));
    // Also when nothing has ended meanwhile: the bar is drawn anew.
    bar_.advance(moment.done - shown_);
    shown_ = moment.done;
  }

  void finished(const Cell& cell, const SeedResult& result, double seconds,
                const Moment& moment) override {
    keep(cell, result);
    if (console_.showsBar()) {
      return;
    }
    const auto values = result.test.values();
    console_.note(fmt::format("{} of {}: {} seed {}{}, {}; about {} left", moment.done,
                              moment.total, cell.name(), result.seed,
                              values.empty() ? ""
                                             : fmt::format(": test {} {:.4f}", values.front().first,
                                                           values.front().second),
                              readableSeconds(seconds), readableSeconds(moment.seconds_left)));
  }

  void failed(const RunFailure& failure) override {
    console_.warn(fmt::format("{} failed: {}", failure.run, failure.reason));
  }

 private:
  // What cannot be stored now is tried again at the end, and must not stop runs that go on.
  void keep(const Cell& cell, const SeedResult& result) {
    if (store_.empty()) {
      return;
    }
    try {
      ResultBook book;
      book.add(cell, result);
      book.addTo(store_, kStorePatience);
    } catch (const Error& error) {
      if (!std::exchange(warned_, true)) {
        console_.warn(fmt::format("not stored yet: {}", error.what()));
      }
    }
  }

  Console& console_;
  ProgressTask bar_;
  std::filesystem::path store_;
  bool warned_ = false;
  std::size_t shown_ = 0;
};

std::string stateText(const CellStatus& status) {
  if (!status.runnable()) {
    return status.absent ? "no data" : "cannot run here";
  }
  std::string text = fmt::format("{} of {} done", status.finished(), status.wanted);
  return status.begun > 0 ? text + fmt::format(", {} begun", status.begun) : text;
}

void showPlan(const Session& session, const ExperimentPlan& plan, std::span<const CellStatus> cells,
              const ReproductionOptions& options) {
  TextTable table({{"cell"},
                   {"runs"},
                   {"a run", Align::kRight},
                   {"memory", Align::kRight},
                   {"left", Align::kRight}});
  nlohmann::ordered_json json = resultsJson(plan, cells, {});
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const CellStatus& status = cells[i];
    const bool told = status.left() > 0;
    table.addRow(
        {status.cell.name(), stateText(status), told ? readableSeconds(status.seconds) : "",
         told ? readableBytes(status.memory_bytes) : "",
         told ? readableSeconds(status.seconds * static_cast<double>(status.left())) : ""});
    json["cells"][i]["finished"] = status.finished();
    json["cells"][i]["seconds"] = status.seconds;
    json["cells"][i]["memory_bytes"] = status.memory_bytes;
  }
  const double seconds = secondsLeft(cells, options.jobs);
  json["seconds_left"] = seconds;
  session.console.show(table);
  session.console.say(fmt::format(
      "\nabout {} with {} at a time ({} each); runs below {}", readableSeconds(seconds),
      options.jobs, options.threads == 1 ? "one thread" : "several threads", options.out.string()));
  session.console.showJson(json);
}

// The docs' tables from what is stored.
void writeDocs(const Session& session, const ReproduceArguments& arguments) {
  const std::string store = arguments.store.empty() ? "results" : arguments.store;
  const PageUpdate update = updateResultsPage(arguments.docs, ResultBook::read(store));
  if (update.changed && arguments.check) {
    throw DataError(
        FilePlace{arguments.docs}, "is not what the stored results make of it",
        fmt::format("run: edgewise reproduce --docs {} --store {}", arguments.docs, store));
  }
  if (update.changed) {
    writeResultsPage(arguments.docs, update);
  }
  session.console.say(fmt::format("{}: {} tables from {}, {}", arguments.docs, update.blocks, store,
                                  update.changed ? "written" : "unchanged"));
  session.console.showJson({{"blocks", update.blocks}, {"changed", update.changed}});
}

void checkArguments(const ReproduceArguments& arguments) {
  RunOptions().bind().check("run.device", arguments.device, "--device");
  if (arguments.name.empty()) {
    std::vector<std::string> names;
    for (const Experiment& experiment : experiments()) {
      names.push_back(experiment.name);
    }
    throw ConfigError("which table or figure?", joinText(names, ", "));
  }
  if (!arguments.docs.empty() && !isThere(arguments.docs)) {
    throw DataError(FilePlace{arguments.docs}, "no such page to write tables to",
                    "name a page that has a place for them (docs/reproduce.md)");
  }
  if (arguments.missing && arguments.store.empty()) {
    throw ConfigError("--missing makes what a store does not hold, and none is named",
                      "add --store DIR, such as --store results");
  }
  if (!arguments.store.empty() && !arguments.settings.empty()) {
    throw ConfigError("--store keeps what recipes give, and --set changes that",
                      "leave out one of them");
  }
}

void showOutcome(const Session& session, const ExperimentPlan& plan,
                 std::span<const CellStatus> cells, const ResultBook& book,
                 const std::filesystem::path& out) {
  const ExperimentReport report = makeReport(plan, cells, book, out);
  session.console.say(report.title + "\n");
  session.console.show(gridText(report.table));
  for (const std::string& remark : report.remarks) {
    session.console.say("\n" + remark);
  }
  std::vector<std::string> files;
  for (const std::filesystem::path& file : writeReport(report, plan.experiment.name, out)) {
    files.push_back(file.string());
  }
  session.console.say("\nwritten: " + joinText(files, ", "));
  nlohmann::ordered_json json = resultsJson(plan, cells, book);
  json["files"] = files;
  session.console.showJson(json);
}

// That of all failures, where they agree on what a user can mend.
ExitCode exitCodeOf(const std::vector<RunFailure>& failures) {
  const bool no_room = std::ranges::all_of(failures, [](const RunFailure& failure) {
    return failure.code == static_cast<int>(ExitCode::kResources);
  });
  return no_room ? ExitCode::kResources : ExitCode::kFailure;
}

void reproduce(Session& session, const ReproduceArguments& arguments) {
  if (!arguments.docs.empty() && arguments.name.empty()) {
    writeDocs(session, arguments);
    return;
  }
  checkArguments(arguments);
  const Experiment& experiment = findExperiment(arguments.name);
  ReproductionOptions options{.out = arguments.out,
                              .data_root = session.data_root,
                              .device = arguments.device,
                              .collect = arguments.collect};
  settleJobs(arguments, session, experiment, options);
  if (arguments.missing) {
    options.stored = ResultBook::read(arguments.store);
  }
  const std::filesystem::path root = dataRoot(session.data_root);
  const ExperimentPlan plan =
      planExperiment(experiment,
                     {.datasets = namesIn(arguments.datasets),
                      .models = namesIn(arguments.models),
                      .recipes = namesIn(arguments.recipes),
                      .methods = namesIn(arguments.methods),
                      .seeds = arguments.seeds,
                      .settings = arguments.settings,
                      .controls = !arguments.no_controls},
                     [&](const std::string& dataset) { return isAtHand(dataset, root); });
  const std::vector<CellStatus> cells = inspectCells(plan, options, session.console.progress());
  if (arguments.dry_run) {
    showPlan(session, plan, cells, options);
    return;
  }
  std::int64_t left = 0;
  std::int64_t finished = 0;
  for (const CellStatus& status : cells) {
    left += arguments.collect ? 0 : status.left();
    finished += status.finished();
  }
  const std::string intent =
      arguments.collect
          ? fmt::format("{} found", countText(static_cast<std::uint64_t>(finished), "finished run"))
          : fmt::format("{} to make, {} at a time, about {}",
                        countText(static_cast<std::uint64_t>(left), "run"), options.jobs,
                        readableSeconds(secondsLeft(cells, options.jobs)));
  session.console.note(
      fmt::format("{}: {}, {}", plan.experiment.name, countText(cells.size(), "cell"), intent));
  std::vector<RunFailure> failures;
  if (left > 0) {
    ConsoleWatcher watcher(session.console, static_cast<std::size_t>(left), arguments.store);
    failures = makeRuns(cells, options, watcher);
  }
  const ResultBook book = collectResults(cells, options.out);
  if (arguments.collect && finished == 0) {
    throw DataError(FilePlace{options.out}, "none of these runs is finished here",
                    "each is looked for in CELL/seed-N below --out; --dry-run lists the cells");
  }
  ResultBook shown = storedResults(cells, options);
  shown.merge(book);
  showOutcome(session, plan, cells, shown, options.out);
  if (!arguments.store.empty()) {
    book.addTo(arguments.store);
    session.console.say(fmt::format("stored: {}", arguments.store));
  }
  if (!arguments.docs.empty()) {
    writeDocs(session, arguments);
  }
  if (!failures.empty()) {
    throw Error(fmt::format("{} of {} runs failed, the first: {}: {}", failures.size(), left,
                            failures.front().run, failures.front().reason),
                fmt::format("what they said is in {}; the same command tries them again",
                            (options.out / "logs").string()),
                exitCodeOf(failures));
  }
}

std::string experimentList() {
  std::string text;
  for (const Experiment& experiment : experiments()) {
    text += fmt::format("  {:<17} {}\n", experiment.name, experiment.about);
  }
  return text;
}

}  // namespace

void addReproduceCommand(CLI::App& program, Session& session) {
  CLI::App* command = program.add_subcommand(
      "reproduce", "make the paper's tables and figures, beside its numbers");
  const auto arguments = std::make_shared<ReproduceArguments>();
  command->add_option("NAME", arguments->name, "a table or figure (below)");
  command->add_option("--seeds", arguments->seeds, "runs a cell (default: 10 for most)")
      ->option_text("N")
      ->check(CLI::Range(1, 10000));
  command->add_option("--datasets", arguments->datasets, "these only; any known one may be named")
      ->option_text("NAME,...");
  command->add_option("--models", arguments->models, "these rows only")->option_text("NAME,...");
  command
      ->add_option("--recipe", arguments->recipes,
                   "paper (the default for most), best, or both: paper,best")
      ->option_text("NAME,...");
  command
      ->add_option("--methods", arguments->methods,
                   "these only: none, rs, ps2, ps2-scratch, fixed, jk, ... as in the table's rows")
      ->option_text("NAME,...");
  command->add_flag("--no-controls", arguments->no_controls,
                    "the paper's rows only, without fixed views and jk");
  command->add_option("--set", arguments->settings, "set an option of every run")
      ->option_text("KEY=VALUE ...")
      ->allow_extra_args()
      ->take_all();
  command->add_option("--jobs", arguments->jobs, "runs at a time (default: one a core)")
      ->option_text("N")
      ->check(CLI::Range(1, 1024));
  command->add_option("--device", arguments->device, "cpu, cuda or auto")->option_text("NAME");
  command->add_option("--out", arguments->out, "where runs and figures go (runs/reproduce)")
      ->option_text("DIR");
  command
      ->add_option("--store", arguments->store,
                   "add the results, without models, to this folder, run by run")
      ->option_text("DIR");
  command
      ->add_option("--docs", arguments->docs,
                   "write the tables of this page anew from the stored results (--store, else "
                   "results)")
      ->option_text("FILE");
  command->add_flag("--check", arguments->check, "with --docs: fail when the page would change");
  command->add_flag("--collect", arguments->collect,
                    "run nothing: show, and store, what is finished, such as runs made on another "
                    "machine and copied here");
  command
      ->add_flag("--missing", arguments->missing,
                 "with --store: make only runs that it does not hold, whatever version of the "
                 "program made those")
      ->excludes("--collect");
  command->add_flag("--dry-run", arguments->dry_run, "show the cells, what is done, and how long")
      ->excludes("--collect");
  addCommonOptions(*command, session);
  command->footer(
      experimentList() +
      "\n"
      "Every cell is ordinary training runs, one a seed, in OUT/CELL/seed-N. Interrupted or killed "
      "at\n"
      "any moment, the same command goes on: finished runs are not repeated, begun ones resume. "
      "Runs\n"
      "that tables and figures share are made once. Cells whose data is not at hand are marked.\n"
      "\n"
      "Examples:\n"
      "  edgewise reproduce table:planetoid --datasets cora,citeseer --models gae,sage\n"
      "  edgewise reproduce table:planetoid --recipe paper,best --dry-run\n"
      "  edgewise reproduce fig:views --datasets cora,planted\n"
      "  edgewise reproduce table:rec --seeds 3 --device cuda --store results\n"
      "  edgewise reproduce table:rec --recipe best --methods none,ps2 --models lightgcn\n"
      "  edgewise reproduce table:rec --recipe best --seeds 3 --store results --missing\n"
      "  edgewise reproduce table:ogb --recipe best --out from-the-cluster --collect --store "
      "results\n"
      "  edgewise reproduce --docs docs/results.md");
  command->callback([&session, arguments] {
    session.action = [&session, arguments] { reproduce(session, *arguments); };
  });
}

}  // namespace edgewise::app
