// edgewise compare DIR... --against DIR...: whether one method beats another by more than chance.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "edgewise/evaluation/summary.h"
#include "edgewise/report/mean_text.h"
#include "edgewise/training/run_folder.h"
#include "edgewise/training/run_metrics.h"
#include "edgewise/training/run_options.h"
#include "edgewise/util/count_text.h"
#include "edgewise/util/text.h"

namespace edgewise::app {
namespace {

struct CompareArguments {
  std::vector<std::string> folders;
  std::vector<std::string> against;
};

// The runs of one method, by seed.
struct Side {
  std::string label;
  std::map<std::uint64_t, RunMetrics> runs;
};

RunMetrics readMetrics(const std::filesystem::path& folder) {
  const RunFolder files = RunFolder::open(folder);
  // Refuses runs of a newer version, whose numbers may mean something else.
  RunOptions options;
  files.readOptions(options);
  const nlohmann::ordered_json json = files.readJson("metrics.json");
  try {
    return RunMetrics::fromJson(json);
  } catch (const nlohmann::json::exception& error) {
    throw DataError(FilePlace{folder / "metrics.json"},
                    fmt::format("is damaged ({})", error.what()), "run the training again");
  }
}

void addRun(Side& side, const std::filesystem::path& folder) {
  RunMetrics run = readMetrics(folder);
  if (side.label.empty()) {
    side.label = run.label();
  }
  if (run.label() != side.label) {
    throw ConfigError(fmt::format("{} is a run of {}, beside others of {}", folder.string(),
                                  run.label(), side.label),
                      "name folders of one method on each side");
  }
  const std::uint64_t seed = run.seed;
  if (!side.runs.emplace(seed, std::move(run)).second) {
    throw ConfigError(fmt::format("{}: seed {} is there twice on its side", folder.string(), seed),
                      "runs are paired by seed: name each once");
  }
}

Side readSide(const std::vector<std::string>& folders) {
  Side side;
  for (const std::string& folder : folders) {
    const std::vector<std::filesystem::path> runs = runsBelow(folder);
    if (runs.empty()) {
      RunFolder::open(folder);  // to be told what is wrong with it
    }
    for (const std::filesystem::path& run : runs) {
      addRun(side, run);
    }
  }
  return side;
}

// Runs of the same seed, and what makes them less than a pair.
struct SeedPairs {
  std::vector<const RunMetrics*> first;
  std::vector<const RunMetrics*> second;
  std::vector<std::string> seeds;
  std::size_t unpaired = 0;
  bool other_splits = false;
};

SeedPairs pairUp(const Side& first, const Side& second) {
  SeedPairs pairs;
  for (const auto& [seed, run] : first.runs) {
    const auto twin = second.runs.find(seed);
    if (twin == second.runs.end()) {
      continue;
    }
    if (run.dataset != twin->second.dataset) {
      throw ConfigError(fmt::format("seed {}: {} was trained on {}, {} on {}", seed, first.label,
                                    run.dataset, second.label, twin->second.dataset),
                        "compare runs on the same data");
    }
    pairs.first.push_back(&run);
    pairs.second.push_back(&twin->second);
    pairs.seeds.push_back(std::to_string(seed));
    pairs.other_splits = pairs.other_splits || run.split.hash != twin->second.split.hash;
  }
  pairs.unpaired = first.runs.size() + second.runs.size() - 2 * pairs.seeds.size();
  if (pairs.seeds.size() < 2) {
    throw ConfigError(fmt::format("{} a run on both sides; a test needs two at least",
                                  countText(pairs.seeds.size(), "seed has", "seeds have")),
                      "train both with the same seeds, for example --seeds 10");
  }
  return pairs;
}

std::vector<double> valuesOf(std::span<const RunMetrics* const> runs, const std::string& metric) {
  std::vector<double> values;
  for (const RunMetrics* run : runs) {
    if (const auto value = run->test.find(metric)) {
      values.push_back(*value);
    }
  }
  return values;
}

struct MetricComparison {
  std::string name;
  MeanStd first;
  MeanStd second;
  PairedTest test;
};

// Metrics that every run of both sides has.
std::vector<MetricComparison> compareMetrics(const SeedPairs& pairs) {
  std::vector<MetricComparison> all;
  for (const auto& [name, ignored] : pairs.first.front()->test.values()) {
    const std::vector<double> first = valuesOf(pairs.first, name);
    const std::vector<double> second = valuesOf(pairs.second, name);
    if (first.size() == pairs.seeds.size() && second.size() == pairs.seeds.size()) {
      all.push_back({name, summarise(first), summarise(second), pairedTest(first, second)});
    }
  }
  if (all.empty()) {
    throw ConfigError("the two sides report no metric in common",
                      "train both with the same evaluation.metrics");
  }
  return all;
}

std::string chanceText(double p) {
  return p < 1e-4 ? std::string("< 0.0001") : fmt::format("{:.4f}", p);
}

TextTable tableOf(const Side& first, const Side& second,
                  std::span<const MetricComparison> metrics) {
  TextTable table({{"test"},
                   {first.label, Align::kRight},
                   {second.label, Align::kRight},
                   {"difference", Align::kRight},
                   {"t", Align::kRight},
                   {"p", Align::kRight},
                   {"p by sign flips", Align::kRight}});
  constexpr double kUsualLevel = 0.05;
  for (const MetricComparison& each : metrics) {
    const PairedTest& test = each.test;
    const Ink ink = test.t_test_p < kUsualLevel ? Ink::kBold : Ink::kPlain;
    table.addRow({each.name, meanText(each.first), meanText(each.second),
                  TextTable::Cell(fmt::format("{:+.4f}", test.mean_difference), ink),
                  fmt::format("{:.2f}", test.t), TextTable::Cell(chanceText(test.t_test_p), ink),
                  test.permutation_p ? chanceText(*test.permutation_p) : "-"});
  }
  return table;
}

nlohmann::ordered_json jsonOf(const Side& first, const Side& second, const SeedPairs& pairs,
                              std::span<const MetricComparison> metrics) {
  nlohmann::ordered_json json;
  json["first"] = first.label;
  json["second"] = second.label;
  json["seeds"] = pairs.seeds.size();
  json["same_splits"] = !pairs.other_splits;
  for (const MetricComparison& each : metrics) {
    const PairedTest& test = each.test;
    nlohmann::ordered_json one;
    one["first"] = {{"mean", each.first.mean}, {"std", each.first.std}};
    one["second"] = {{"mean", each.second.mean}, {"std", each.second.std}};
    one["difference"] = test.mean_difference;
    one["t"] = std::isfinite(test.t) ? nlohmann::ordered_json(test.t) : nullptr;
    one["p"] = test.t_test_p;
    one["permutation_p"] =
        test.permutation_p ? nlohmann::ordered_json(*test.permutation_p) : nullptr;
    json["test"][each.name] = one;
  }
  return json;
}

void compare(const Session& session, CompareArguments arguments) {
  // `compare A B` is short for `compare A --against B`.
  if (arguments.against.empty() && arguments.folders.size() == 2) {
    arguments.against.push_back(arguments.folders.back());
    arguments.folders.pop_back();
  }
  if (arguments.against.empty()) {
    throw ConfigError("nothing to compare with", "name the other side with --against DIR");
  }
  const Side first = readSide(arguments.folders);
  const Side second = readSide(arguments.against);
  const SeedPairs pairs = pairUp(first, second);
  if (pairs.unpaired > 0) {
    session.console.warn(countText(pairs.unpaired,
                                   "run has no partner of the same seed and is left out",
                                   "runs have no partner of the same seed and are left out"));
  }
  if (pairs.other_splits) {
    session.console.warn(
        "runs of the same seed were made on different splits: their differences are partly those "
        "of the splits");
  }
  const std::vector<MetricComparison> metrics = compareMetrics(pairs);
  session.console.say(fmt::format("{} against {} on {}, {} seeds ({})\n", first.label, second.label,
                                  pairs.first.front()->dataset, pairs.seeds.size(),
                                  joinText(pairs.seeds, ", ")));
  session.console.show(tableOf(first, second, metrics));
  session.console.say(
      "\nThe difference is the first minus the second, run by run of the same seed. p: how often\n"
      "chance alone would show such a difference (Student's paired t, two-sided).");
  session.console.showJson(jsonOf(first, second, pairs, metrics));
}

}  // namespace

void addCompareCommand(CLI::App& program, Session& session) {
  CLI::App* command = program.add_subcommand(
      "compare", "test whether one method beats another by more than chance");
  const auto arguments = std::make_shared<CompareArguments>();
  command->add_option("DIR", arguments->folders, "run folders of one method, or above them")
      ->required();
  command->add_option("--against", arguments->against, "run folders of the other")
      ->option_text("DIR ...");
  addCommonOptions(*command, session);
  command->footer(
      "Runs are paired by seed, which gives both methods the same split. Shows mean ± std of "
      "each,\n"
      "the mean difference, Student's paired t with its two-sided p and, up to 12 seeds, the "
      "exact\n"
      "p over all flips of signs. `compare A B` is short for `compare A --against B`.\n"
      "\n"
      "Example:\n"
      "  edgewise train --dataset cora --model gae,sage --seeds 10 --out runs/cora\n"
      "  edgewise compare runs/cora/sage --against runs/cora/gae");
  command->callback([&session, arguments] {
    session.action = [&session, arguments] { compare(session, *arguments); };
  });
}

}  // namespace edgewise::app
