// edgewise explain DIR --pair U,V: why a trained run scores a pair as it does.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "edgewise/data/catalogue.h"
#include "edgewise/serving/explanation.h"
#include "edgewise/serving/node_ids.h"
#include "explain_text.h"
#include "run_choice.h"

namespace edgewise::app {
namespace {

void show(const Console& console, const Explanation& explanation) {
  console.show(explanationTable(explanation));
  if (const auto views = viewTable(explanation)) {
    console.say("\n" + viewTableTitle(explanation));
    console.show(*views);
  }
  if (const auto common = commonTable(explanation)) {
    console.say("");
    console.show(*common);
  }
  console.showJson(explanation.toJson());
}

void explain(Session& session, const std::filesystem::path& folder, const std::string& pair) {
  const ServedRun run = serveRun(openOneRun(session, folder), dataRoot(session.data_root),
                                 session.console.progress());
  show(session.console, explainPair(run, findPair(run.dataset, pair)));
}

}  // namespace

void addExplainCommand(CLI::App& program, Session& session) {
  CLI::App* command =
      program.add_subcommand("explain", "show why a trained run scores a pair as it does");
  const auto folder = std::make_shared<std::string>();
  const auto pair = std::make_shared<std::string>();
  command->add_option("DIR", *folder, "a run folder")->required();
  command->add_option("--pair", *pair, "two nodes by their ids in your data")
      ->option_text("U,V")
      ->required();
  addCommonOptions(*command, session);
  command->footer(
      "Shows the pair's score, how many hops around each end it was seen by, how the selector\n"
      "weighed the other views, and what lies within those hops. The pair is scored as test pairs\n"
      "are; where its own edge is known, it is left out of the messages first.\n"
      "\n"
      "Example:\n"
      "  edgewise train --edges friends.csv --model gae --selector ps2 --out runs/friends\n"
      "  edgewise explain runs/friends --pair ann,bob\n"
      "  edgewise explain runs/friends --pair '\"smith, ann\",bob' --json    an id with a comma");
  command->callback([&session, folder, pair] {
    session.action = [&session, folder, pair] { explain(session, *folder, *pair); };
  });
}

}  // namespace edgewise::app
