#include "edgewise/training/heuristic_run.h"

#include <fmt/format.h>

#include "edgewise/evaluation/link_evaluation.h"
#include "edgewise/graph/heuristics.h"
#include "edgewise/util/error.h"
#include "edgewise/util/process.h"
#include "training/run_parts.h"

namespace edgewise {
namespace {

class HeuristicLinkScorer final : public LinkScorer {
 public:
  HeuristicLinkScorer(const CsrGraph& graph, Heuristic heuristic, const HeuristicOptions& options)
      : scorer_(graph, heuristic, options) {}

  [[nodiscard]] std::vector<double> score(std::span<const Edge> pairs,
                                          ProgressSink& progress) const override {
    return scorer_.score(pairs, progress);
  }
  void scoreSources(std::span<const NodeId> sources, std::span<double> out,
                    ProgressSink& progress) const override {
    scorer_.scoreSources(sources, out, progress);
  }
  [[nodiscard]] double katzBeta() const { return scorer_.katzBeta(); }

 private:
  HeuristicScorer scorer_;
};

bool needsCommonNeighbours(Heuristic heuristic) {
  return heuristic == Heuristic::kCommonNeighbours || heuristic == Heuristic::kAdamicAdar ||
         heuristic == Heuristic::kResourceAllocation || heuristic == Heuristic::kJaccard;
}

class HeuristicRun {
 public:
  HeuristicRun(const Dataset& dataset, const RunOptions& options, ProgressSink& progress)
      : dataset_(dataset),
        options_(options),
        heuristic_(parseHeuristic(options.model)),
        progress_(progress) {
    if (options.device == "cuda") {
      throw ConfigError(fmt::format("{} runs on the CPU only", options.model),
                        "leave --device out, or use --device cpu");
    }
    if (dataset.bipartite && needsCommonNeighbours(heuristic_)) {
      throw ConfigError(
          fmt::format("{} scores every user-item pair 0: a user and an item have no neighbours in "
                      "common",
                      options.model),
          "use --model pa, katz or ppr on bipartite data");
    }
  }

  [[nodiscard]] detail::StageResult score(std::string_view stage, const MessageEdges& messages,
                                          const detail::HeldOut& held_out, RunMetrics& run) const {
    const Stopwatch watch;
    const CsrGraph graph = messageGraph(dataset_, messages);
    const HeuristicLinkScorer scorer(graph, heuristic_, options_.heuristic.resolve());
    if (heuristic_ == Heuristic::kKatz) {
      run.chosen.emplace_back(fmt::format("katz_beta_{}", stage), scorer.katzBeta());
    }
    detail::StageResult result =
        detail::evaluateStage(scorer, dataset_, options_.evaluation, held_out, progress_);
    run.time.emplace_back(stage == "test" ? "eval_s" : "valid_s", watch.seconds());
    return result;
  }

 private:
  const Dataset& dataset_;
  const RunOptions& options_;
  Heuristic heuristic_;
  ProgressSink& progress_;
};

}  // namespace

RunMetrics runHeuristic(const Dataset& dataset, const LinkSplit& split, const RunOptions& options,
                        ProgressSink& progress) {
  const HeuristicRun heuristic(dataset, options, progress);
  const detail::RunMessages messages = detail::messagesOf(split, options);
  RunMetrics run = detail::describeRun(dataset, split, options, messages);
  detail::StageResult valid =
      heuristic.score("valid", messages.at_valid, detail::heldOutValid(split), run);
  run.valid = std::move(valid.metrics);
  run.valid_scores = std::move(valid.scores);
  detail::StageResult test =
      heuristic.score("test", messages.at_test, detail::heldOutTest(split), run);
  run.test = std::move(test.metrics);
  run.test_scores = std::move(test.scores);
  run.peak_bytes = peakMemoryBytes();
  return run;
}

void checkHeuristicRun(const Dataset& dataset, const LinkSplit& split, const RunOptions& options) {
  const HeuristicRun checked(dataset, options, silentProgress());
  if (parseHeuristic(options.model) != Heuristic::kKatz) {
    return;
  }
  const detail::RunMessages messages = detail::messagesOf(split, options);
  for (const MessageEdges* stage : {&messages.at_valid, &messages.at_test}) {
    const CsrGraph graph = messageGraph(dataset, *stage);
    const HeuristicLinkScorer scorer(graph, Heuristic::kKatz, options.heuristic.resolve());
  }
}

}  // namespace edgewise
