// edgewise options [KEY]: every option with default, bounds and help.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "edgewise/training/run_options.h"

namespace edgewise::app {
namespace {

nlohmann::ordered_json describeJson(const OptionDescription& option) {
  return {{"key", option.key},
          {"type", option.type},
          {"default", option.fallback},
          {"allowed", option.bounds},
          {"help", option.help}};
}

void showOptions(const Session& session, const std::string& key) {
  RunOptions options;
  const OptionSet set = options.bind();
  const std::vector<OptionDescription> all =
      key.empty() ? set.describe() : std::vector{set.describe(key)};
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  TextTable table({{"option"}, {"default"}, {"allowed"}, {"meaning"}});
  for (const OptionDescription& option : all) {
    json.push_back(describeJson(option));
    table.addRow({option.key, option.fallback.empty() ? "-" : option.fallback,
                  option.bounds.empty() ? option.type : option.bounds, option.help});
  }
  session.console.showJson(json);
  session.console.show(table);
  session.console.say("\nSet one with --set KEY=VALUE; a recipe file holds several as JSON.");
}

}  // namespace

void addOptionsCommand(CLI::App& program, Session& session) {
  CLI::App* command =
      program.add_subcommand("options", "every option with default, bounds and help");
  addCommonOptions(*command, session);
  const auto key = std::make_shared<std::string>();
  command->add_option("KEY", *key, "show this one alone, e.g. split.test");
  command->callback(
      [&session, key] { session.action = [&session, key] { showOptions(session, *key); }; });
}

}  // namespace edgewise::app
