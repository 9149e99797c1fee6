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
#include "edgewise/util/atomic_file.h"
#include "edgewise/util/error.h"
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
  if (const std::string title = neighbourTitle(explanation); !title.empty()) {
    console.say("\n" + title);
  }
  if (const auto neighbours = neighbourTable(explanation)) {
    console.show(*neighbours);
  }
  if (const auto nodes = subgraphTable(explanation); nodes && explanation.subgraph) {
    console.say("\n" + subgraphTitle(*explanation.subgraph));
    console.show(*nodes);
  }
  console.showJson(explanation.toJson());
}

void writePicture(const Explanation& explanation, const std::string& file) {
  if (!explanation.subgraph) {
    throw ConfigError(fmt::format(
        "--svg: {} looks at the whole graph, there is no subgraph to draw", explanation.model));
  }
  writeFileAtomically(file, explanation.subgraph->toSvg());
}

struct ExplainArguments {
  std::string folder;
  std::string pair;
  std::string svg;
  ExplainOptions options;
};

void explain(Session& session, const ExplainArguments& arguments) {
  const ServedRun run = serveRun(openOneRun(session, arguments.folder), dataRoot(session.data_root),
                                 session.console.progress());
  const Explanation explanation = explainPair(run, findPair(run.dataset, arguments.pair),
                                              arguments.options, session.console.progress());
  if (!arguments.svg.empty()) {
    writePicture(explanation, arguments.svg);
  }
  show(session.console, explanation);
  if (!arguments.svg.empty()) {
    session.console.note("drawn into " + arguments.svg);
  }
}

}  // namespace

void addExplainCommand(CLI::App& program, Session& session) {
  CLI::App* command =
      program.add_subcommand("explain", "show why a trained run scores a pair as it does");
  const auto arguments = std::make_shared<ExplainArguments>();
  command->add_option("DIR", arguments->folder, "a run folder")->required();
  command->add_option("--pair", arguments->pair, "two nodes by their ids in your data")
      ->option_text("U,V")
      ->required();
  command->add_option("--svg", arguments->svg, "draw the enclosing subgraph into this file")
      ->option_text("FILE");
  command
      ->add_option("--neighbours", arguments->options.neighbours,
                   "how many of the neighbours that mattered most to tell (default: 10; 0: none)")
      ->option_text("N")
      ->check(CLI::Range(0, 1'000'000));
  addCommonOptions(*command, session);
  command->footer(
      "Shows the pair's score, how many hops around each end it was seen by, how the selector\n"
      "weighed the other views, and the subgraph within those hops: its nodes, their labels and\n"
      "edges (--json has them all, --svg draws them). The pair is scored as test pairs\n"
      "are; where its own edge is known, it is left out of the messages first.\n"
      "\n"
      "Which neighbours mattered: the pair is scored anew without the messages between its ends\n"
      "and one neighbour, for one neighbour after the other. Where the score falls, that\n"
      "neighbour spoke for the link. At most 100 are left out in turn (fewer on graphs of\n"
      "millions of edges), or as many as --neighbours asks for: common neighbours first, then\n"
      "those with the fewest edges.\n"
      "\n"
      "Example:\n"
      "  edgewise train --edges friends.csv --model gae --selector ps2 --out runs/friends\n"
      "  edgewise explain runs/friends --pair ann,bob\n"
      "  edgewise explain runs/friends --pair '\"smith, ann\",bob' --json    an id with a comma\n"
      "  edgewise explain runs/friends --pair ann,bob --svg ann-bob.svg");
  command->callback([&session, arguments] {
    session.action = [&session, arguments] { explain(session, *arguments); };
  });
}

}  // namespace edgewise::app
