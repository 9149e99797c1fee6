// The subcommands. Each adds its options to the program and, when it is the one asked for, leaves
// its work in `Session::action`.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "console.h"

namespace CLI {  // NOLINT(readability-identifier-naming): its name
class App;
}

namespace edgewise::app {

struct Session {
  // As the user called it, so that commands that are shown can be pasted.
  std::string program = "edgewise";
  Console console;
  std::optional<std::string> data_root;
  std::optional<int> threads;
  std::function<void()> action;
};

void addTrainCommand(CLI::App& program, Session& session);
void addEvaluateCommand(CLI::App& program, Session& session);
void addPredictCommand(CLI::App& program, Session& session);
void addExplainCommand(CLI::App& program, Session& session);
void addReportCommand(CLI::App& program, Session& session);
void addCompareCommand(CLI::App& program, Session& session);
void addExportCommand(CLI::App& program, Session& session);
void addReproduceCommand(CLI::App& program, Session& session);
// Print what is known of all commands; added last.
void addCompletionCommand(CLI::App& program, Session& session);
void addManCommand(CLI::App& program, Session& session);
void addDatasetsCommand(CLI::App& program, Session& session);
void addBenchCommand(CLI::App& program, Session& session);
void addOptionsCommand(CLI::App& program, Session& session);

// --quiet, --json, --data and --threads, which all commands share.
void addCommonOptions(CLI::App& command, Session& session);

}  // namespace edgewise::app
