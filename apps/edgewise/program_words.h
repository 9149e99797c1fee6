// The program's commands and options as they are declared, told to shells and to man.
#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): its name
class App;
}

namespace edgewise::app {

// What may follow an option.
enum class ValueKind { kNone, kFile, kChoice, kSetting, kOther };

struct OptionWords {
  // "--model"; of a positional argument its name, "DIR".
  std::string name;
  // "-h", or empty.
  std::string short_name;
  std::string about;
  // "FILE", as help shows it; empty for a flag.
  std::string value;
  ValueKind kind = ValueKind::kNone;
  // Of kChoice: what may be chosen. Of kSetting: the keys.
  std::vector<std::string> choices;
  bool positional = false;
};

struct CommandWords {
  std::string name;
  std::string about;
  // Examples and remarks below the options.
  std::string footer;
  std::vector<OptionWords> options;
};

struct ProgramWords {
  std::string about;
  std::string footer;
  std::vector<CommandWords> commands;
};

[[nodiscard]] ProgramWords wordsOf(const CLI::App& program);

// Completion scripts.
[[nodiscard]] std::string bashCompletion(const ProgramWords& words);
[[nodiscard]] std::string zshCompletion(const ProgramWords& words);
[[nodiscard]] std::string fishCompletion(const ProgramWords& words);
// A page for man, section 1.
[[nodiscard]] std::string manPage(const ProgramWords& words);

}  // namespace edgewise::app
