#include "edgewise/training/heuristic_run.h"

#include <fmt/format.h>

#include "edgewise/evaluation/link_evaluation.h"
#include "edgewise/graph/heuristics.h"
#include "edgewise/util/error.h"
#include "edgewise/util/parallel.h"
#include "edgewise/util/process.h"

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

// What one stage needs: the graph of its messages, what it holds out, and what must not be
// recommended again.
struct Stage {
  std::string_view name;
  RunMetrics& run;
  const MessageEdges& messages;
  const MessageEdges& known;
  const EdgeTable& positive;
  const FrozenNegatives& negative;
};

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

  [[nodiscard]] MetricSet score(const Stage& stage) const {
    const std::vector<MetricRequest> requests =
        resolveMetrics(options_.evaluation, dataset_, stage.negative);
    const std::vector<MetricRequest> full_requests =
        resolveFullMetrics(options_.evaluation, dataset_, requests);
    const CsrGraph graph = messageGraph(dataset_, stage.messages);
    const HeuristicLinkScorer scorer(graph, heuristic_, options_.heuristic.resolve());
    if (heuristic_ == Heuristic::kKatz) {
      stage.run.chosen.emplace_back(fmt::format("katz_beta_{}", stage.name), scorer.katzBeta());
    }
    MetricSet metrics =
        evaluateHeldOut(scorer, stage.positive, stage.negative, requests, progress_);
    if (!full_requests.empty()) {
      const MetricSet full = evaluateFullRanking(scorer, dataset_, stage.known, stage.positive,
                                                 full_requests, progress_);
      for (const auto& [name, value] : full.values()) {
        metrics.set(name, value);
      }
    }
    return metrics;
  }

 private:
  const Dataset& dataset_;
  const RunOptions& options_;
  Heuristic heuristic_;
  ProgressSink& progress_;
};

SplitSummary summariseSplit(const LinkSplit& split, const std::string& message_at_test) {
  return {.kind = split.kind,
          .seed = split.seed,
          .hash = split.hash,
          .message_at_test = message_at_test,
          .negatives = split.test.negative.kind,
          .negatives_per_positive = split.test.negative.per_positive,
          .message = split.training.message.table.size(),
          .supervision = split.training.supervision.table.size(),
          .valid = split.training.valid.positive.size(),
          .test = split.test.positive.size(),
          .valid_negative = split.training.valid.negative.edges.size(),
          .test_negative = split.test.negative.edges.size()};
}

}  // namespace

RunMetrics runHeuristic(const Dataset& dataset, const LinkSplit& split, const RunOptions& options,
                        ProgressSink& progress) {
  RunMetrics run;
  run.dataset = dataset.name;
  run.data_hash = dataset.hash;
  run.model = options.model;
  run.seed = static_cast<std::uint64_t>(options.seed);
  run.threads = threadCount();
  run.split = summariseSplit(split, options.split.message_at_test);
  const HeuristicRun heuristic(dataset, options, progress);
  const MessageEdges at_valid = messagesAtValid(split.training);
  const MessageEdges at_test = messagesAtTest(split, options.split.message_at_test);
  const MessageEdges before_test = messagesAtTest(split, "train+valid");
  const Stopwatch audit_watch;
  run.audit = auditSplit(dataset, split,
                         {.training = split.training.message, .valid = at_valid, .test = at_test});
  run.time.emplace_back("audit_s", audit_watch.seconds());
  const Stopwatch valid_watch;
  run.valid = heuristic.score({"valid", run, at_valid, at_valid, split.training.valid.positive,
                               split.training.valid.negative});
  run.time.emplace_back("valid_s", valid_watch.seconds());
  const Stopwatch test_watch;
  run.test = heuristic.score(
      {"test", run, at_test, before_test, split.test.positive, split.test.negative});
  run.time.emplace_back("eval_s", test_watch.seconds());
  run.peak_bytes = peakMemoryBytes();
  return run;
}

}  // namespace edgewise
