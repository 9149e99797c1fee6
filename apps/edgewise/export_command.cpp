// edgewise export DIR --embeddings FILE: what a trained model makes of every node.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "edgewise/data/catalogue.h"
#include "edgewise/serving/embeddings.h"
#include "edgewise/serving/link_predictor.h"
#include "edgewise/util/count_text.h"
#include "edgewise/util/text.h"
#include "run_choice.h"

namespace edgewise::app {
namespace {

struct ExportArguments {
  std::string folder;
  std::string embeddings;
  std::string messages;
};

void exportRun(Session& session, const ExportArguments& arguments) {
  const ServedRun run = serveRun(openOneRun(session, arguments.folder), dataRoot(session.data_root),
                                 session.console.progress());
  const PredictionGraph graph = runGraph(run, arguments.messages);
  const NodeEmbeddings embeddings = embedNodes(run.stored, run.dataset, graph.messages);
  writeEmbeddings(arguments.embeddings, run.dataset, embeddings);
  session.console.note(graph.describe());
  session.console.say(
      fmt::format("{} of {}, {} wide, written to {}", countText(embeddings.layers.size(), "layer"),
                  countText(embeddings.nodes, "node"), embeddings.width, arguments.embeddings));
  session.console.showJson({{"file", arguments.embeddings},
                            {"layers", embeddings.layers.size()},
                            {"first_hops", embeddings.first_hops},
                            {"nodes", embeddings.nodes},
                            {"width", embeddings.width}});
}

}  // namespace

void addExportCommand(CLI::App& program, Session& session) {
  CLI::App* command =
      program.add_subcommand("export", "write a trained model's node embeddings to a file");
  const auto arguments = std::make_shared<ExportArguments>();
  command->add_option("DIR", arguments->folder, "a run folder")->required();
  command
      ->add_option("--embeddings", arguments->embeddings,
                   "where to: a file that ends in .npz, .npy or .csv")
      ->option_text("FILE")
      ->required();
  command
      ->add_option("--messages", arguments->messages,
                   "edges that carry messages: train, train+valid, or all that are known "
                   "(default: as the run scored its test pairs)")
      ->option_text("NAME");
  addCommonOptions(*command, session);
  command->footer(
      "Every layer of the encoder that the model's views look at, for every node, with your ids.\n"
      "A layer's number is the hops it looks; a readout of several has the last one's:\n"
      "  .npz   arrays layer_1, layer_2, ... [nodes, width] and ids (numpy.load opens it)\n"
      "  .npy   one array [layers, nodes, width]; ids go to a file beside it, NAME.ids.csv\n"
      "  .csv   a row a layer and node: id, layer, x1, x2, ...\n"
      "\n"
      "Example:\n"
      "  edgewise export runs/cora --embeddings cora.npz");
  command->callback([&session, arguments] {
    session.action = [&session, arguments] { exportRun(session, *arguments); };
  });
}

}  // namespace edgewise::app
