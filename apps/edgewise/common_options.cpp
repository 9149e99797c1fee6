#include <CLI/CLI.hpp>

#include "commands.h"

namespace edgewise::app {

void addCommonOptions(CLI::App& command, Session& session) {
  command.add_flag("--quiet", session.console.quiet, "results and errors only");
  command.add_flag("--json", session.console.json, "print the result as JSON and nothing else");
  command
      .add_option("--data", session.data_root,
                  "where datasets live (else $EDGEWISE_DATA, else your cache folder)")
      ->option_text("DIR");
  command.add_option("--threads", session.threads, "threads to use; 0: all cores")
      ->option_text("N")
      ->check(CLI::Range(0, 4096));
}

}  // namespace edgewise::app
