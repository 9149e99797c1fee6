// edgewise options [KEY]: every option with default, bounds and help; --recipes: named sets of
// them.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "edgewise/training/run_options.h"
#include "edgewise/util/recipe.h"

namespace edgewise::app {
namespace {

nlohmann::ordered_json describeJson(const OptionDescription& option) {
  return {{"key", option.key},
          {"type", option.type},
          {"default", option.fallback},
          {"allowed", option.bounds},
          {"help", option.help}};
}

// All, those of a group ("split"), or one.
std::vector<OptionDescription> chosenOptions(const OptionSet& set, const std::string& key) {
  std::vector<OptionDescription> all = set.describe();
  if (key.empty()) {
    return all;
  }
  const std::string group = key.ends_with('.') ? key : key + ".";
  std::erase_if(all,
                [&](const OptionDescription& option) { return !option.key.starts_with(group); });
  return all.empty() ? std::vector{set.describe(key)} : all;
}

void showOptions(const Session& session, const std::string& key) {
  RunOptions options;
  const OptionSet set = options.bind();
  const std::vector<OptionDescription> all = chosenOptions(set, key);
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  TextTable table({{"option"}, {"default"}, {"allowed"}, {"meaning"}});
  for (const OptionDescription& option : all) {
    json.push_back(describeJson(option));
    table.addRow({option.key, option.fallback.empty() ? "-" : option.fallback,
                  option.bounds.empty() ? option.type : option.bounds, option.help});
  }
  session.console.showJson(json);
  session.console.show(table);
  session.console.say(
      "\nSet one with --set KEY=VALUE; a recipe holds several (`edgewise options --recipes`).");
}

void showRecipes(const Session& session) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  TextTable table({{"recipe"}, {"what it holds"}});
  for (const std::string& name : recipeNames()) {
    const std::string about = Recipe::named(name).about();
    json.push_back({{"name", name}, {"about", about}});
    table.addRow({name, about});
  }
  session.console.showJson(json);
  session.console.show(table);
  session.console.say("\nUse one with --recipe NAME, or your own with --recipe FILE.json.");
}

}  // namespace

void addOptionsCommand(CLI::App& program, Session& session) {
  CLI::App* command =
      program.add_subcommand("options", "every option with default, bounds and help");
  addCommonOptions(*command, session);
  const auto key = std::make_shared<std::string>();
  const auto recipes = std::make_shared<bool>(false);
  CLI::Option* one = command->add_option(
      "KEY", *key, "show this one alone, e.g. split.test, or a group, e.g. split");
  command->add_flag("--recipes", *recipes, "show the built-in recipes instead")->excludes(one);
  command->callback([&session, key, recipes] {
    session.action = [&session, key, recipes] {
      if (*recipes) {
        showRecipes(session);
      } else {
        showOptions(session, *key);
      }
    };
  });
}

}  // namespace edgewise::app
