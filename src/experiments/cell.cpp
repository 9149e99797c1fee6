#include "edgewise/experiments/cell.h"

#include <fmt/format.h>

#include <algorithm>

#include "edgewise/data/catalogue.h"
#include "edgewise/training/run_recipe.h"
#include "edgewise/util/text.h"

namespace edgewise {

std::string Cell::name() const {
  // "fixed:1,1" is no name for a folder everywhere.
  std::string selector_name = selector;
  std::erase(selector_name, ':');
  return fmt::format("{}-{}-{}-{}{}{}", dataset, model, selector_name, recipe,
                     variant.empty() ? "" : "-", variant);
}

std::string Cell::method() const {
  return variant.empty() ? selector : fmt::format("{}-{}", selector, variant);
}

std::vector<std::string> Cell::trainWords() const {
  std::vector<std::string> words = {"train",      "--dataset", dataset,    "--model", model,
                                    "--selector", selector,    "--recipe", recipe};
  if (!settings.empty()) {
    words.emplace_back("--set");
    words.insert(words.end(), settings.begin(), settings.end());
  }
  return words;
}

std::string Cell::command(std::size_t seeds) const {
  return fmt::format("edgewise {} --seeds {}", joinText(trainWords(), " "), seeds);
}

RunOptions resolveCell(const Cell& cell, std::int64_t seed) {
  return resolveRun(cell.recipe, [&](OptionSet& set) {
    set.set("data.dataset", cell.dataset, "--dataset");
    set.set("model.kind", cell.model, "--model");
    set.set("selector.kind", cell.selector, "--selector");
    set.set("run.seed", std::to_string(seed), "--seed");
    for (const std::string& setting : cell.settings) {
      set.setAssignment(setting, "--set");
    }
  });
}

Cell simplified(Cell cell) {
  Cell plain = cell;
  plain.settings.clear();
  RunOptions options = resolveCell(plain);
  const OptionSet set = options.bind();
  std::erase_if(cell.settings, [&](const std::string& setting) {
    const std::size_t equals = setting.find('=');
    return equals != std::string::npos &&
           set.value(trimmed(std::string_view(setting).substr(0, equals))) ==
               trimmed(std::string_view(setting).substr(equals + 1));
  });
  if (cell.settings.empty()) {
    cell.variant.clear();
  }
  return cell;
}

bool isBipartite(std::string_view dataset) {
  return dataset == "sized-gowalla" ||
         std::ranges::any_of(catalogue(), [&](const CatalogueEntry& entry) {
           return entry.name == dataset && entry.family == DatasetFamily::kRecommendation;
         });
}

}  // namespace edgewise
