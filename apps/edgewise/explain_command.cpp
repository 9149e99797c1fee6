// edgewise explain DIR --pair U,V: why a trained run scores a pair as it does.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "commands.h"
#include "edgewise/data/catalogue.h"
#include "edgewise/ops/backend.h"
#include "edgewise/serving/explanation.h"
#include "edgewise/serving/node_ids.h"
#include "edgewise/training/run_folder.h"
#include "explain_text.h"

namespace edgewise::app {
namespace {

// A folder of several runs is an easy slip: it is what --seeds leaves.
void requireOneRun(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (std::filesystem::exists(folder / "options.json", ignored)) {
    return;
  }
  const std::vector<std::filesystem::path> runs = runsBelow(folder);
  if (!runs.empty()) {
    throw DataError(FilePlace{folder},
                    fmt::format("is no run itself, but holds {} below", runs.size()),
                    "name one of them, such as " + runs.front().string());
  }
}

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
  requireOneRun(folder);
  StoredRun stored = readStoredRun(folder);
  setBackendThreads(session.threads.value_or(static_cast<int>(stored.options.threads)));
  const ServedRun run =
      serveRun(std::move(stored), dataRoot(session.data_root), session.console.progress());
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
