// edgewise completion SHELL and edgewise man: what the program knows about itself.
#include <CLI/CLI.hpp>
#include <memory>

#include "commands.h"
#include "program_words.h"

namespace edgewise::app {
namespace {

std::string completionFor(const std::string& shell, const ProgramWords& words) {
  if (shell == "bash") {
    return bashCompletion(words);
  }
  if (shell == "zsh") {
    return zshCompletion(words);
  }
  if (shell == "fish") {
    return fishCompletion(words);
  }
  throw ConfigError("no completion is known for '" + shell + "'", "bash, zsh or fish");
}

}  // namespace

void addCompletionCommand(CLI::App& program, Session& session) {
  CLI::App* command =
      program.add_subcommand("completion", "print a completion script for your shell");
  const auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish")->required();
  command->footer(
      "Examples:\n"
      "  source <(edgewise completion bash)\n"
      "  edgewise completion zsh > ~/.zfunc/_edgewise\n"
      "  edgewise completion fish > ~/.config/fish/completions/edgewise.fish");
  command->callback([&program, &session, shell] {
    session.action = [&program, &session, shell] {
      session.console.emit(completionFor(*shell, wordsOf(program)));
    };
  });
}

void addManCommand(CLI::App& program, Session& session) {
  CLI::App* command = program.add_subcommand("man", "print the manual page");
  command->footer(
      "Example:\n"
      "  edgewise man > edgewise.1 && man ./edgewise.1");
  command->callback([&program, &session] {
    session.action = [&program, &session] { session.console.emit(manPage(wordsOf(program))); };
  });
}

}  // namespace edgewise::app
