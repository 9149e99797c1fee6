#include "edgewise/experiments/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "edgewise/data/catalogue.h"
#include "edgewise/data/sized_graph.h"
#include "edgewise/nn/encoder.h"
#include "edgewise/util/error.h"
#include "edgewise/util/recipe.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

const std::vector<std::string> kPlanetoid = {"cora", "citeseer", "pubmed"};
const std::vector<std::string> kOgb = {"ogbl-ddi", "ogbl-collab", "ogbl-ppa"};
const std::vector<std::string> kShops = {"gowalla", "yelp2018", "amazon-book"};

std::vector<std::string> allDatasets() {
  std::vector<std::string> all = kPlanetoid;
  all.insert(all.end(), kOgb.begin(), kOgb.end());
  all.insert(all.end(), kShops.begin(), kShops.end());
  return all;
}

// Steps of a run that only measures speed.
constexpr int kTimedSteps = 20;

std::string canonicalDataset(const std::string& name) {
  if (name == "planted") {
    return name;
  }
  if (name.starts_with(kSizedPrefix)) {
    std::ignore = findSizes(std::string_view(name).substr(kSizedPrefix.size()));
    return name;
  }
  return findDataset(name).name;
}

bool fits(const std::string& model, const std::string& dataset) {
  return isRecommender(model) == isBipartite(dataset);
}

void requireAmong(const std::vector<std::string>& names, const std::vector<std::string>& known,
                  std::string_view flag, std::string_view experiment) {
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) == known.end()) {
      throw ConfigError(fmt::format("{}: {} has no '{}'", flag, experiment, name),
                        suggestName(name, known));
    }
  }
}

// A fixed view's has a comma.
std::string shortMethod(const Cell& cell) {
  const std::string method = cell.method();
  return method.substr(0, method.find(':'));
}

void keepMethods(std::vector<Cell>& cells, const std::vector<std::string>& methods,
                 std::string_view experiment) {
  if (methods.empty()) {
    return;
  }
  std::vector<std::string> known;
  for (const Cell& cell : cells) {
    if (std::ranges::find(known, shortMethod(cell)) == known.end()) {
      known.push_back(shortMethod(cell));
    }
  }
  requireAmong(methods, known, "--methods", experiment);
  std::erase_if(cells, [&](const Cell& cell) {
    return std::ranges::find(methods, shortMethod(cell)) == methods.end();
  });
}

class Planner {
 public:
  Planner(Experiment experiment, const ExperimentRequest& request, const DataCheck& at_hand)
      : plan_{.experiment = std::move(experiment), .cells = {}},
        request_(request),
        at_hand_(at_hand) {}

  ExperimentPlan plan() {
    for (const std::string& dataset : plan_.experiment.datasets) {
      for (const std::string& model : plan_.experiment.models) {
        for (const std::string& recipe : plan_.experiment.recipes) {
          if (fits(model, dataset)) {
            addCells({.dataset = dataset, .model = model, .recipe = recipe});
          }
        }
      }
    }
    return std::move(plan_);
  }

 private:
  void addCells(const Cell& cell) {
    switch (plan_.experiment.kind) {
      case ExperimentKind::kComparison:
        addComparison(cell);
        break;
      case ExperimentKind::kFinetune:
        add(with(cell, "none"));
        add(with(cell, "ps2", "scratch", {"selector.apply=scratch"}));
        add(with(cell, "ps2", "finetune", {"selector.apply=finetune"}));
        break;
      case ExperimentKind::kEfficiency:
        addTimed(cell, "none");
        addTimed(cell, "ps2");
        break;
      case ExperimentKind::kViews:
        add(with(cell, "ps2"));
        break;
      case ExperimentKind::kObservation:
        addFixedViews(cell);
        break;
      case ExperimentKind::kOptimization:
        // Joint training cannot be followed by a refit, and both are to be compared.
        for (const std::string how : {"finetune", "joint"}) {
          add(with(cell, "ps2", how, {"selector.apply=" + how, "training.refit=false"}));
        }
        break;
      case ExperimentKind::kHyper:
        for (const std::int64_t depth : triedDepths(ExperimentKind::kHyper)) {
          for (const std::int64_t width : triedWidths()) {
            add(with(
                cell, "ps2", fmt::format("K{}-D{}", depth, width),
                {fmt::format("model.layers={}", depth), fmt::format("selector.hidden={}", width)}));
          }
        }
        break;
      case ExperimentKind::kCurves:
        for (const std::int64_t depth : triedDepths(ExperimentKind::kCurves)) {
          add(with(cell, "ps2", fmt::format("K{}", depth),
                   {fmt::format("model.layers={}", depth)}));
        }
        break;
    }
  }

  void addComparison(const Cell& cell) {
    add(with(cell, "none"));
    add(with(cell, "rs"));
    add(with(cell, "ps2"));
    if (!request_.controls) {
      return;
    }
    for (const std::int64_t hops : {1, 2}) {
      Cell fixed = with(cell, fmt::format("fixed:{0},{0}", hops));
      if (isNews(fixed, hops)) {
        add(std::move(fixed));
      }
    }
    // A network on subgraphs looks at one view, so that there is nothing to mix.
    if (cell.model != "seal") {
      add(with(cell, "jk"));
    }
  }

  // A view that the model has and does not look at anyway; recommenders read all layers.
  static bool isNews(const Cell& fixed, std::int64_t hops) {
    const RunOptions options = resolveCell(fixed);
    const std::int64_t deepest =
        fixed.model == "seal" ? options.subgraph.hops : options.network.encoder.layers;
    return hops < deepest || (hops == deepest && isRecommender(fixed.model));
  }

  void addFixedViews(const Cell& cell) {
    const std::int64_t depth = resolveCell(cell).network.encoder.layers;
    for (std::int64_t source = 1; source <= depth; ++source) {
      for (std::int64_t target = 1; target <= depth; ++target) {
        add(with(cell, fmt::format("fixed:{},{}", source, target)));
      }
    }
  }

  void addTimed(const Cell& cell, const std::string& selector) {
    Cell timed = with(cell, selector, "timed",
                      {fmt::format("training.max_steps={}", kTimedSteps), "training.patience=0"});
    const std::string_view name = cell.dataset;
    if (!at_hand_(cell.dataset) && name.starts_with("ogbl-")) {
      timed = standIn(timed, std::string(kSizedPrefix) + std::string(name.substr(5)));
    }
    add(std::move(timed));
  }

  // The same on another graph, with what the recipe says of this one.
  static Cell standIn(const Cell& cell, const std::string& dataset) {
    Cell other = cell;
    other.dataset = dataset;
    RunOptions here = resolveCell(cell);
    RunOptions there = resolveCell(other);
    const OptionSet wanted = here.bind();
    const OptionSet found = there.bind();
    for (const OptionDescription& option : wanted.describe()) {
      if (option.key != "data.dataset" && wanted.value(option.key) != found.value(option.key)) {
        other.settings.push_back(fmt::format("{}={}", option.key, wanted.value(option.key)));
      }
    }
    return other;
  }

  static Cell with(const Cell& cell, std::string selector, std::string variant = "",
                   std::vector<std::string> settings = {}) {
    Cell made = cell;
    made.selector = std::move(selector);
    made.variant = std::move(variant);
    made.settings = std::move(settings);
    return made;
  }

  void add(Cell cell) {
    cell = simplified(std::move(cell));
    cell.settings.insert(cell.settings.end(), request_.settings.begin(), request_.settings.end());
    if (std::ranges::find(plan_.cells, cell) == plan_.cells.end()) {
      plan_.cells.push_back(std::move(cell));
    }
  }

  ExperimentPlan plan_;
  const ExperimentRequest& request_;
  const DataCheck& at_hand_;
};

}  // namespace

const std::vector<Experiment>& experiments() {
  using enum ExperimentKind;
  static const std::vector<Experiment> known = {
      {"table:planetoid",
       "AUC and AP on citation graphs",
       kComparison,
       kPlanetoid,
       {"gae", "sage", "seal"}},
      {"table:ogb", "Hits@K on OGB's graphs", kComparison, kOgb, {"gae", "sage", "seal"}},
      {"table:rec",
       "Hit@10 and NDCG@50 of users' items",
       kComparison,
       kShops,
       {"ngcf", "lightgcn"}},
      {"table:finetune",
       "PS2 fine-tuned against trained from scratch",
       kFinetune,
       kPlanetoid,
       {"gae", "sage"}},
      {"table:efficiency",
       "seconds an epoch without and with PS2",
       kEfficiency,
       kOgb,
       {"gae", "seal"},
       {"paper"},
       1},
      {"fig:views",
       "which views PS2 chooses",
       kViews,
       allDatasets(),
       {"gae", "lightgcn"},
       {"paper", "best"},
       1},
      {"fig:observation",
       "what every fixed view says of six test links",
       kObservation,
       {"cora"},
       {"gae"},
       {"paper"},
       1},
      {"fig:optimization",
       "PS2 searched then applied, against trained jointly",
       kOptimization,
       allDatasets(),
       {"gae", "lightgcn"}},
      {"fig:hyper",
       "PS2 by hops K and width D of its selector",
       kHyper,
       {"pubmed"},
       {"gae", "sage"},
       {"paper"},
       3},
      {"fig:curves",
       "PS2's loss and validation by epoch, for several K",
       kCurves,
       {"ogbl-ddi", "ogbl-collab"},
       {"gae"},
       {"paper"},
       1},
  };
  return known;
}

const Experiment& findExperiment(std::string_view name) {
  std::vector<std::string> names;
  for (const Experiment& experiment : experiments()) {
    if (experiment.name == name) {
      return experiment;
    }
    names.push_back(experiment.name);
  }
  // The kind is easily left out.
  for (const std::string_view kind : {"table:", "fig:"}) {
    const std::string full = std::string(kind) + std::string(name);
    if (std::ranges::find(names, full) != names.end()) {
      throw ConfigError(fmt::format("unknown table or figure '{}'", name),
                        fmt::format("did you mean '{}'?", full));
    }
  }
  throw ConfigError(fmt::format("unknown table or figure '{}'", name), suggestName(name, names));
}

ExperimentPlan planExperiment(const Experiment& experiment, const ExperimentRequest& request,
                              const DataCheck& at_hand) {
  Experiment asked = experiment;
  if (!request.datasets.empty()) {
    asked.datasets.clear();
    for (const std::string& name : request.datasets) {
      asked.datasets.push_back(canonicalDataset(name));
    }
  }
  if (!request.models.empty()) {
    requireAmong(request.models, experiment.models, "--models", experiment.name);
    asked.models = request.models;
  }
  if (!request.recipes.empty()) {
    requireAmong(request.recipes, recipeNames(), "--recipe", experiment.name);
    asked.recipes = request.recipes;
  }
  if (request.seeds > 0) {
    asked.seeds = request.seeds;
  }
  ExperimentPlan plan = Planner(asked, request, at_hand).plan();
  if (plan.cells.empty()) {
    throw ConfigError(fmt::format("{}: none of the models {} is made for {}", experiment.name,
                                  joinText(asked.models, ", "), joinText(asked.datasets, ", ")),
                      "lightgcn and ngcf are for users and items, the others for other graphs");
  }
  keepMethods(plan.cells, request.methods, experiment.name);
  return plan;
}

std::vector<std::int64_t> triedDepths(ExperimentKind kind) {
  return kind == ExperimentKind::kCurves ? std::vector<std::int64_t>{1, 2, 3}
                                         : std::vector<std::int64_t>{1, 2, 3, 4};
}

std::vector<std::int64_t> triedWidths() { return {64, 128, 256, 512, 1024}; }

}  // namespace edgewise
