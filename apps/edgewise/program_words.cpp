#include "program_words.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "edgewise/data/catalogue.h"
#include "edgewise/experiments/experiment.h"
#include "edgewise/training/run_options.h"
#include "edgewise/util/recipe.h"

namespace edgewise::app {
namespace {

std::vector<std::string> settingKeys() {
  RunOptions options;
  std::vector<std::string> keys;
  for (const OptionDescription& option : options.bind().describe()) {
    keys.push_back(option.key);
  }
  return keys;
}

std::vector<std::string> datasetNames() {
  std::vector<std::string> names = {"planted"};
  for (const CatalogueEntry& entry : catalogue()) {
    names.push_back(entry.name);
  }
  return names;
}

std::vector<std::string> experimentNames() {
  std::vector<std::string> names;
  for (const Experiment& experiment : experiments()) {
    names.push_back(experiment.name);
  }
  return names;
}

// Values that can be listed, by option.
std::map<std::string, std::vector<std::string>> knownValues() {
  return {{"--model", modelNames()},
          {"--dataset", datasetNames()},
          {"--recipe", recipeNames()},
          {"--selector", {"none", "mean", "jk", "rs", "ps2", "oracle"}},
          {"--device", {"auto", "cpu", "cuda"}},
          {"--messages", {"train", "train+valid", "all"}},
          // What stands alone, by command.
          {"reproduce NAME", experimentNames()},
          {"datasets NAME", datasetNames()},
          {"options KEY", settingKeys()},
          {"completion SHELL", {"bash", "zsh", "fish"}}};
}

bool namesAFile(const std::string& value) {
  return value.starts_with("FILE") || value.starts_with("DIR") || value.ends_with("FILE");
}

OptionWords wordsOf(const CLI::Option& option, const std::string& command,
                    const std::map<std::string, std::vector<std::string>>& values) {
  OptionWords words;
  words.about = option.get_description();
  words.value = option.get_option_text();
  words.positional = !option.nonpositional();
  if (words.positional) {
    words.name = option.get_name(true);
    words.value = words.name;
  } else {
    words.name = option.get_lnames().empty() ? "" : "--" + option.get_lnames().front();
    words.short_name = option.get_snames().empty() ? "" : "-" + option.get_snames().front();
  }
  if (option.get_items_expected_max() == 0) {
    words.value.clear();
    return words;
  }
  const auto known =
      values.find(words.positional ? fmt::format("{} {}", command, words.name) : words.name);
  if (words.name == "--set") {
    words.kind = ValueKind::kSetting;
    words.choices = settingKeys();
  } else if (known != values.end()) {
    words.kind = ValueKind::kChoice;
    words.choices = known->second;
  } else {
    words.kind = namesAFile(words.value) ? ValueKind::kFile : ValueKind::kOther;
  }
  return words;
}

}  // namespace

ProgramWords wordsOf(const CLI::App& program) {
  const auto values = knownValues();
  ProgramWords words{program.get_description(), program.get_footer(), {}};
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    // A command without words of its own below its options shows the program's.
    const std::string& footer = command->get_footer();
    CommandWords one{
        command->get_name(), command->get_description(), footer == words.footer ? "" : footer, {}};
    for (const CLI::Option* option : command->get_options()) {
      one.options.push_back(wordsOf(*option, one.name, values));
    }
    words.commands.push_back(std::move(one));
  }
  return words;
}

}  // namespace edgewise::app
