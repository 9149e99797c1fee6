// argv in, exit code out. Everything that can go wrong ends in the one catch below.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <new>

#include "commands.h"
#include "edgewise/ops/backend.h"
#include "edgewise/util/error.h"
#include "edgewise/util/interrupt.h"
#include "edgewise/util/shell_text.h"
#include "edgewise/util/text.h"
#include "edgewise/util/version.h"

namespace edgewise::app {
namespace {

std::string versionLines() {
  const BackendInfo backend = inspectBackend();
  return fmt::format("edgewise {}\nlibtorch {}, {}{}", versionText(), backend.torch_version,
                     backend.blas, backend.cuda_available ? ", CUDA" : "");
}

// All words that may follow: commands at the top, options within a command.
std::vector<std::string> knownWords(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    words.push_back(command->get_name());
  }
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      words.push_back("--" + name);
    }
  }
  return words;
}

const CLI::App& innermost(const CLI::App& program) {
  const auto parsed = program.get_subcommands();
  return parsed.empty() ? program : *parsed.front();
}

ExitCode reportUsage(const CLI::App& program, const CLI::ParseError& error,
                     const Session& session) {
  const Console& console = session.console;
  const CLI::App& command = innermost(program);
  const std::vector<std::string> left = program.remaining(true);
  if (!left.empty()) {
    const bool is_option = left.front().starts_with('-');
    const bool at_top = &command == &program;
    console.fail(fmt::format("unknown {} '{}'",
                             is_option ? "option"
                             : at_top  ? "command"
                                       : "argument",
                             left.front()),
                 suggestName(left.front(), knownWords(command)));
  } else {
    console.fail(error.what(),
                 fmt::format("`{} --help` shows how",
                             &command == &program ? session.program
                                                  : session.program + " " + command.get_name()));
  }
  return ExitCode::kUsage;
}

ExitCode run(int argc, char** argv, Session& session) {
  if (argc > 0 && std::string_view(argv[0]).find('/') != std::string_view::npos) {
    session.program = shellWord(argv[0]);
  }
  CLI::App program("Link prediction in which every edge picks its own view.", "edgewise");
  program.set_version_flag("--version", versionLines, "show versions");
  program.require_subcommand(1);
  program.footer(
      "Start with:\n"
      "  edgewise train --dataset planted --model ra       a graph that comes with the program\n"
      "  edgewise train --edges friends.csv --model cn     your own edge list\n"
      "  edgewise COMMAND --help                           what a command takes\n"
      "\n"
      "Exit codes: 0 done, 2 usage or options, 3 data, 4 out of resources, 130 interrupted, 1 "
      "else.");
  addDatasetsCommand(program, session);
  addTrainCommand(program, session);
  addEvaluateCommand(program, session);
  addPredictCommand(program, session);
  addExplainCommand(program, session);
  addReportCommand(program, session);
  addCompareCommand(program, session);
  addExportCommand(program, session);
  addReproduceCommand(program, session);
  addBenchCommand(program, session);
  addOptionsCommand(program, session);
  addCompletionCommand(program, session);
  addManCommand(program, session);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      program.exit(error);
      return ExitCode::kDone;
    }
    return reportUsage(program, error, session);
  }
  session.action();
  return ExitCode::kDone;
}

}  // namespace
}  // namespace edgewise::app

int main(int argc, char** argv) {
  edgewise::keepFreedMemory();
  using edgewise::ExitCode;
  edgewise::installInterruptHandler();
  edgewise::app::Session session;
  ExitCode code = ExitCode::kFailure;
  try {
    code = edgewise::app::run(argc, argv, session);
  } catch (const edgewise::Error& error) {
    session.console.fail(error);
    code = error.exitCode();
  } catch (const std::bad_alloc&) {
    session.console.fail("out of memory", "use a smaller graph or a machine with more memory");
    code = ExitCode::kResources;
  } catch (const std::exception& error) {
    session.console.fail(fmt::format("unexpected: {}", error.what()),
                         "this is a fault of edgewise; please report it with the command");
  }
  return static_cast<int>(code);
}
