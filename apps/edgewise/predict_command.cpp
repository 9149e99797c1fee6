// edgewise predict DIR: scores of pairs, and the links most likely missing.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands.h"
#include "edgewise/data/catalogue.h"
#include "edgewise/ops/backend.h"
#include "edgewise/serving/link_predictor.h"
#include "edgewise/serving/node_ids.h"
#include "edgewise/util/atomic_file.h"
#include "edgewise/util/count_text.h"
#include "edgewise/util/process.h"
#include "edgewise/util/text.h"
#include "predict_text.h"
#include "run_choice.h"

namespace edgewise::app {
namespace {

struct PredictArguments {
  std::string folder;
  std::string pairs;
  std::string node;
  bool all = false;
  std::size_t top = 10;
  std::string messages;
  std::string graph;
  std::string features;
  std::string out;
  bool dry_run = false;
};

// Work that takes less than this needs no forecast.
constexpr double kWorthAForecast = 3;

void requireOneQuestion(const PredictArguments& arguments) {
  const int questions = (arguments.pairs.empty() ? 0 : 1) + (arguments.node.empty() ? 0 : 1) +
                        (arguments.all ? 1 : 0);
  if (questions != 1) {
    throw ConfigError(
        questions == 0 ? "nothing to predict" : "more than one thing to predict at once",
        "give one of --pairs FILE, --node ID and --all");
  }
  if (arguments.graph.empty() && !arguments.features.empty()) {
    throw ConfigError("--features are those of the nodes in --graph FILE, which is not given",
                      "give the new graph too, or leave the features out");
  }
  if (!arguments.graph.empty() && !arguments.messages.empty()) {
    throw ConfigError("--messages chooses among the run's own edges, not those of --graph",
                      "leave it out: all edges of the new graph carry messages");
  }
}

// What the questions are about: the run's own data, or another graph.
struct Subject {
  Dataset dataset;
  PredictionGraph graph;
  std::optional<ScoreCalibration> calibration;
  // Of the run's own data.
  std::optional<LinkSplit> split = std::nullopt;
};

Subject ownSubject(Session& session, StoredRun stored, const PredictArguments& arguments) {
  ProgressSink& progress = session.console.progress();
  ServedRun run = serveRun(std::move(stored), dataRoot(session.data_root), progress);
  PredictionGraph graph = runGraph(run, arguments.messages);
  ScoreCalibration calibration = calibrateRun(run, progress);
  return {std::move(run.dataset), std::move(graph), std::move(calibration), std::move(run.split)};
}

// Probabilities are learned from the run's own validation pairs, where those are at hand.
std::optional<ScoreCalibration> calibrationFor(Session& session, const StoredRun& stored) {
  try {
    return calibrateRun(serveRun(stored, dataRoot(session.data_root), session.console.progress()));
  } catch (const DataError& error) {
    session.console.warn(
        fmt::format("scores come without probabilities, which need the data the run was trained "
                    "on: {}",
                    error.what()));
    return std::nullopt;
  }
}

Subject newSubject(Session& session, const StoredRun& stored, const PredictArguments& arguments) {
  DataOptions data;
  data.edges = arguments.graph;
  data.features = arguments.features;
  data.bipartite = stored.options.data.bipartite;
  data.directed = stored.options.data.directed;
  Dataset dataset = openDataset(data, {}, {}, session.console.progress());
  PredictionGraph graph = newGraph(dataset);
  return {std::move(dataset), std::move(graph), calibrationFor(session, stored)};
}

// Results go to a file, or to standard output.
class Output {
 public:
  Output(const Session& session, const std::string& path) : console_(session.console) {
    if (!path.empty()) {
      file_.emplace(path);
    }
  }
  void write(std::string_view text) {
    if (file_) {
      file_->write(text);
    } else {
      console_.emit(text);
    }
  }
  void commit() {
    if (file_) {
      file_->commit();
    }
  }

 private:
  const Console& console_;
  std::optional<AtomicFile> file_;
};

std::string forecastText(const SearchEstimate& estimate) {
  return fmt::format("{} to score: about {} and {}", countText(estimate.pairs, "pair"),
                     readableSeconds(estimate.seconds), readableBytes(estimate.memory_bytes));
}

class PredictCommand {
 public:
  PredictCommand(Session& session, const PredictArguments& arguments)
      : session_(session),
        arguments_(arguments),
        stored_(openOneRun(session, arguments.folder)),
        subject_(arguments.graph.empty() ? ownSubject(session, stored_, arguments)
                                         : newSubject(session, stored_, arguments)),
        predictor_(stored_, subject_.dataset, std::move(subject_.graph),
                   std::move(subject_.calibration), subject_.split ? &*subject_.split : nullptr) {}

  void run() {
    const Console& console = session_.console;
    console.note(predictor_.graph().describe());
    if (const auto& calibration = predictor_.calibration()) {
      console.note(fmt::format("probabilities: {} on {} and {} of the validation, weighed alike",
                               calibration->method(), countText(calibration->links(), "link"),
                               countText(calibration->others(), "non-link")));
    }
    if (arguments_.all) {
      predictAll();
    } else if (!arguments_.node.empty()) {
      const NodeId node = findNode(subject_.dataset, arguments_.node);
      const std::vector<Prediction> best =
          predictor_.topOf(node, arguments_.top, session_.console.progress());
      writeAll(best, false);
      if (best.empty()) {
        session_.console.note(fmt::format(
            "nothing is left to offer {}: its links with all others are known", arguments_.node));
      }
    } else {
      predictPairs();
    }
  }

 private:
  void predictPairs() {
    const std::vector<Edge> pairs =
        readPairs(subject_.dataset, arguments_.pairs, session_.console.progress());
    const std::vector<Prediction> predictions =
        predictor_.scorePairs(pairs, session_.console.progress());
    const auto carried = std::ranges::count_if(predictions, &Prediction::carried);
    if (carried > 0) {
      session_.console.warn(
          countText(
              static_cast<std::uint64_t>(carried),
              "of the pairs is an edge that carried messages itself, which flatters its score",
              "of the pairs are edges that carried messages themselves, which flatters their "
              "scores") +
          "; `edgewise explain` leaves such an edge out");
    }
    writeAll(predictions, true);
  }

  void predictAll() {
    const TopRequest request = predictor_.requestForAll(arguments_.top);
    const SearchEstimate estimate = predictor_.estimate(request);
    if (arguments_.dry_run) {
      session_.console.say(forecastText(estimate));
      session_.console.showJson({{"pairs", estimate.pairs},
                                 {"seconds", estimate.seconds},
                                 {"memory_bytes", estimate.memory_bytes}});
      return;
    }
    if (estimate.seconds > kWorthAForecast) {
      session_.console.note(forecastText(estimate));
    }
    const Stopwatch watch;
    Output output(session_, arguments_.out);
    PredictionWriter writer = writerTo(output, false);
    predictor_.topOfAll(
        request, [&](std::span<const Prediction> found) { writer.add(found); },
        session_.console.progress());
    finish(writer, output);
    session_.console.note(
        fmt::format("{}, {}, {} at most", countText(request.sources.size(), "source"),
                    readableSeconds(watch.seconds()), readableBytes(peakMemoryBytes())));
  }

  [[nodiscard]] PredictionWriter writerTo(Output& output, bool known) const {
    return {subject_.dataset,
            {.json = session_.console.json || arguments_.out.ends_with(".json"),
             .probability = predictor_.calibration().has_value(),
             .views = predictor_.choosesViews(),
             .known = known},
            [&output](std::string_view text) { output.write(text); },
            predictorJson(stored_, predictor_)};
  }

  void finish(PredictionWriter& writer, Output& output) const {
    writer.close();
    output.commit();
    if (!arguments_.out.empty()) {
      session_.console.note("written to " + arguments_.out);
    }
  }

  void writeAll(std::span<const Prediction> predictions, bool known) const {
    Output output(session_, arguments_.out);
    PredictionWriter writer = writerTo(output, known);
    writer.add(predictions);
    finish(writer, output);
  }

  Session& session_;
  const PredictArguments& arguments_;
  StoredRun stored_;
  Subject subject_;
  LinkPredictor predictor_;
};

void predict(Session& session, const PredictArguments& arguments) {
  requireOneQuestion(arguments);
  PredictCommand(session, arguments).run();
}

}  // namespace

void addPredictCommand(CLI::App& program, Session& session) {
  CLI::App* command =
      program.add_subcommand("predict", "score pairs, or find the links most likely missing");
  const auto arguments = std::make_shared<PredictArguments>();
  command->add_option("DIR", arguments->folder, "a run folder")->required();
  command
      ->add_option("--pairs", arguments->pairs,
                   "score these pairs: a file of two columns of ids, or - for standard input")
      ->option_text("FILE");
  command->add_option("--node", arguments->node, "the best new links of this node")
      ->option_text("ID");
  command->add_flag("--all", arguments->all, "the best new links of every node (of every user)");
  command->add_option("--top", arguments->top, "how many for each node (default: 10)")
      ->option_text("N")
      ->check(CLI::Range(1, 1'000'000));
  command
      ->add_option("--messages", arguments->messages,
                   "edges that carry messages: train, train+valid, or all that are known "
                   "(default: as the run scored its test pairs)")
      ->option_text("NAME");
  command
      ->add_option("--graph", arguments->graph,
                   "ask about this edge list instead of the run's own data, new nodes and all")
      ->option_text("FILE");
  command->add_option("--features", arguments->features, "features of the nodes in --graph")
      ->option_text("FILE");
  command
      ->add_option("--out", arguments->out,
                   "write to this file, CSV or (named .json) JSON, instead of standard output")
      ->option_text("FILE");
  command->add_flag("--dry-run", arguments->dry_run,
                    "with --all: say how many pairs, how long and how much memory; score nothing");
  addCommonOptions(*command, session);
  command->footer(
      "Prints source, target, score, rank and probability in your own ids, and where each pair\n"
      "has a view of its own, the hops around both ends. Known edges are never predicted by "
      "--node\n"
      "and --all; of users and items, a user gets items not had yet. With --pairs everything is\n"
      "scored in the order given, and `known` names the part of the data that has the edge.\n"
      "\n"
      "A probability is that of a link where half of the pairs are links: learned from the run's\n"
      "validation pairs, by Platt's method for trained models and isotonic regression for "
      "formulas.\n"
      "\n"
      "Examples:\n"
      "  edgewise predict runs/friends --node ann --top 5\n"
      "  edgewise predict runs/friends --pairs who.csv --out scored.csv\n"
      "  echo ann,bob | edgewise predict runs/friends --pairs - --json\n"
      "  edgewise predict runs/friends --all --top 20 --messages all --out friends-to-be.csv\n"
      "  edgewise predict runs/papers --graph new.csv --features new.npz --all --top 5");
  command->callback([&session, arguments] {
    session.action = [&session, arguments] { predict(session, *arguments); };
  });
}

}  // namespace edgewise::app
