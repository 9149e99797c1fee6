// edgewise bench: step times against the floor of this machine.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench_text.h"
#include "commands.h"
#include "edgewise/data/catalogue.h"
#include "edgewise/ops/backend.h"
#include "edgewise/ops/device.h"
#include "edgewise/training/model_run.h"
#include "edgewise/training/run_recipe.h"
#include "edgewise/util/text.h"
#include "typed_options.h"

namespace edgewise::app {
namespace {

struct BenchArguments {
  std::string cases;
  std::string dataset;
  std::string models;
  std::string selector;
  std::string recipe;
  std::string device;
  std::optional<std::size_t> steps;
  std::vector<std::string> settings;
};

std::vector<std::string> listOf(const std::string& text) {
  std::vector<std::string> names;
  for (const std::string_view name : splitText(text, ',')) {
    names.emplace_back(trimmed(name));
  }
  return names;
}

BenchEffort effortOf(const BenchArguments& arguments) {
  BenchEffort effort;
  if (arguments.steps) {
    // Who asks for a number gets it, however long it takes.
    effort.steps = *arguments.steps;
    effort.step_seconds = 0;
  }
  return effort;
}

// What is measured where neither a model nor a recipe was named.
constexpr const char* kUsualModels = "gae,sage";

// As `train` resolves them, with the case's own options before what was typed. An empty model is
// the recipe's.
RunOptions optionsFor(const BenchArguments& arguments, const BenchCase* bench_case,
                      const std::string& model) {
  return resolveRun(arguments.recipe, [&](OptionSet& set) {
    if (bench_case != nullptr) {
      for (const OptionText& setting : bench_case->settings) {
        set.set(setting.key, setting.value, bench_case->name());
      }
    } else {
      set.set("data.dataset", arguments.dataset, "--dataset");
    }
    setIfTyped(set, "model.kind", model, "--model");
    setIfTyped(set, "selector.kind", arguments.selector, "--selector");
    setIfTyped(set, "run.device", arguments.device, "--device");
    for (const std::string& setting : arguments.settings) {
      set.setAssignment(setting, "--set");
    }
  });
}

RunOptions withoutSelector(RunOptions options) {
  options.network.selector.kind = "none";
  return options;
}

// One case with one model. A searched selector is measured searching, and then applied beside the
// same training without it.
class CaseBench {
 public:
  CaseBench(Session& session, const Dataset& dataset, const RunOptions& options,
            const BenchMachine& machine, const BenchEffort& effort)
      : progress_(session.console.progress()),
        dataset_(dataset),
        options_(options),
        machine_(machine),
        effort_(effort) {
    checkModelRun(dataset, options);
    split_ = splitLinks(dataset, options.split, options.negatives, splitSeed(options), progress_);
  }

  [[nodiscard]] std::vector<BenchResult> run() const {
    if (!options_.network.selector.searches()) {
      return {measure(options_, "train", measureTrainStep)};
    }
    std::vector<BenchResult> results;
    results.push_back(measure(options_, "search", measureSearchStep));
    results.push_back(measure(withoutSelector(options_), "train", measureTrainStep));
    results.push_back(measure(options_, "apply", measureTrainStep));
    results[2].plain_steps = results[2].step.whole.time.median / results[1].step.whole.time.median;
    return results;
  }

 private:
  template <class Measure>
  [[nodiscard]] BenchResult measure(const RunOptions& options, const char* work,
                                    Measure measured) const {
    return {
        .name = dataset_.name,
        .generated = false,
        .model = options.model,
        .selector = options.network.selector.kind,
        .work = work,
        .step = measured({dataset_, split_.training, options}, machine_.rates, effort_, progress_)};
  }

  ProgressSink& progress_;
  const Dataset& dataset_;
  const RunOptions& options_;
  const BenchMachine& machine_;
  const BenchEffort& effort_;
  LinkSplit split_;
};

void showResult(const Session& session, const BenchResult& result) {
  session.console.say("\n" + describeCase(result));
  session.console.say(stageTable(result));
}

class Bench {
 public:
  Bench(Session& session, const BenchArguments& arguments)
      : session_(session), arguments_(arguments), effort_(effortOf(arguments)) {}

  void run() {
    const std::vector<const BenchCase*> cases = chosenCases();
    // Wrong words are told before anything is measured.
    RunOptions options;
    for (const BenchCase* bench_case : cases) {
      for (const std::string& model : models()) {
        options = optionsFor(arguments_, bench_case, model);
        requireLearned(options);
      }
    }
    setBackendThreads(session_.threads.value_or(static_cast<int>(options.threads)));
    const at::Device device = resolveDevice(options.device);
    setProductPrecision(precisionOn(device, options.precision));
    const BenchMachine machine = inspectMachine(effort_, device);
    session_.console.say(describeMachine(machine));
    if (const auto warning = blasWarning(inspectBackend())) {
      session_.console.warn(*warning);
    }
    for (const BenchCase* bench_case : cases) {
      runCase(bench_case, machine);
    }
    session_.console.say("");
    session_.console.show(summaryTable(results_));
    session_.console.showJson(benchJson(machine, results_));
  }

 private:
  static void requireLearned(const RunOptions& options) {
    if (isHeuristic(options.model)) {
      throw ConfigError(fmt::format("{} is a formula and takes no training steps", options.model),
                        "use --model gae, sage, lightgcn or ngcf");
    }
  }

  [[nodiscard]] std::vector<std::string> models() const {
    if (!arguments_.models.empty()) {
      return listOf(arguments_.models);
    }
    return arguments_.recipe.empty() ? listOf(kUsualModels) : std::vector<std::string>{""};
  }

  // A null pointer stands for the real dataset.
  [[nodiscard]] std::vector<const BenchCase*> chosenCases() const {
    if (!arguments_.dataset.empty()) {
      return {nullptr};
    }
    std::vector<const BenchCase*> cases;
    if (!arguments_.cases.empty()) {
      for (const std::string& name : listOf(arguments_.cases)) {
        cases.push_back(&findBenchCase(name));
      }
      return cases;
    }
    for (const BenchCase& bench_case : benchCases()) {
      if (bench_case.usual) {
        cases.push_back(&bench_case);
      }
    }
    return cases;
  }

  [[nodiscard]] Dataset dataOf(const BenchCase* bench_case, const RunOptions& options) {
    return bench_case != nullptr
               ? makeSizedGraph(bench_case->graph)
               : openDataset(options.data, options.planted, dataRoot(session_.data_root),
                             session_.console.progress());
  }

  void runCase(const BenchCase* bench_case, const BenchMachine& machine) {
    std::optional<Dataset> dataset;
    for (const std::string& model : models()) {
      const RunOptions options = optionsFor(arguments_, bench_case, model);
      if (!dataset) {
        dataset = dataOf(bench_case, options);
      }
      for (BenchResult& result : CaseBench(session_, *dataset, options, machine, effort_).run()) {
        result.generated = bench_case != nullptr;
        showResult(session_, result);
        results_.push_back(std::move(result));
      }
    }
  }

  Session& session_;
  const BenchArguments& arguments_;
  BenchEffort effort_;
  std::vector<BenchResult> results_;
};

}  // namespace

void addBenchCommand(CLI::App& program, Session& session) {
  CLI::App* command =
      program.add_subcommand("bench", "time training steps against the floor of this machine");
  const auto arguments = std::make_shared<BenchArguments>();
  CLI::Option* cases =
      command
          ->add_option(
              "--case", arguments->cases,
              "generated graphs of known sizes: cora, pubmed, ddi, collab, ppa, gowalla; several "
              "with commas (default: cora,pubmed)")
          ->option_text("NAME");
  command->add_option("--dataset", arguments->dataset, "a real dataset instead")
      ->option_text("NAME")
      ->excludes(cases);
  command
      ->add_option("--model", arguments->models,
                   "gae, sage, lightgcn or ngcf, several with commas (default: the "
                   "recipe's, gae,sage without one)")
      ->option_text("NAME");
  command
      ->add_option("--selector", arguments->selector,
                   "views of a pair that are looked at: none (default), fixed:I,J, mean, or ps2, "
                   "whose search and application are measured, the latter beside none")
      ->option_text("NAME");
  command
      ->add_option("--recipe", arguments->recipe,
                   "best, paper, or a JSON file of options, as for `edgewise train`; rules for a "
                   "dataset apply with --dataset alone")
      ->option_text("NAME");
  command->add_option("--device", arguments->device, "cpu, cuda or auto")->option_text("NAME");
  command
      ->add_option("--steps", arguments->steps,
                   "steps to measure (default: 100, fewer where they are slow)")
      ->option_text("N")
      ->check(CLI::Range(1, 1'000'000));
  command->add_option("--set", arguments->settings, "set an option (`edgewise options`)")
      ->option_text("KEY=VALUE ...")
      ->allow_extra_args()
      ->take_all();
  addCommonOptions(*command, session);
  command->footer(
      "The floor is the least a step can cost here: its dense products at the best rate of this\n"
      "machine, plus the bytes it must read and write at the rates of memory and caches, measured\n"
      "in the same run. Compare ratios between machines, not times. Steps that had far less than\n"
      "all of the processor time were disturbed by others; hundreds of ns from thread to thread\n"
      "mean cores that share no cache, where more threads may be slower than one.");
  command->callback([&session, arguments] {
    session.action = [&session, arguments] { Bench(session, *arguments).run(); };
  });
}

}  // namespace edgewise::app
