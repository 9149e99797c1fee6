#include "training/run_parts.h"

#include "edgewise/util/parallel.h"
#include "edgewise/util/process.h"

namespace edgewise::detail {
namespace {

SplitSummary summariseSplit(const LinkSplit& split, const SplitOptions& options) {
  return {.kind = split.kind,
          .seed = split.seed,
          .hash = split.hash,
          .message_at_train = options.message_at_train,
          .message_at_test = options.message_at_test,
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

RunMessages messagesOf(const LinkSplit& split, const RunOptions& options) {
  TrainingEdges training = trainingEdges(split, options.split.message_at_train);
  MessageEdges at_valid = messagesAtValid(training);
  return {.at_train = std::move(training.message),
          .at_valid = std::move(at_valid),
          .at_test = messagesAtTest(split, options.split.message_at_test)};
}

RunMetrics describeRun(const Dataset& dataset, const LinkSplit& split, const RunOptions& options,
                       const RunMessages& messages) {
  RunMetrics run;
  run.dataset = dataset.name;
  run.data_hash = dataset.hash;
  run.data = factsOf(dataset);
  run.model = options.model;
  run.recipe = options.recipe;
  run.seed = static_cast<std::uint64_t>(options.seed);
  run.threads = threadCount();
  run.split = summariseSplit(split, options.split);
  const Stopwatch watch;
  run.audit = auditSplit(
      dataset, split,
      {.training = messages.at_train, .valid = messages.at_valid, .test = messages.at_test});
  run.time.emplace_back("audit_s", watch.seconds());
  return run;
}

HeldOut heldOutValid(const LinkSplit& split) {
  return {split.training.valid.positive, split.training.valid.negative,
          messagesAtValid(split.training)};
}

HeldOut heldOutTest(const LinkSplit& split) {
  return {split.test.positive, split.test.negative, messagesAtTest(split, "train+valid")};
}

std::vector<Edge> pairsOf(const HeldOut& held_out) {
  std::vector<Edge> pairs = held_out.positive.edges;
  pairs.insert(pairs.end(), held_out.negative.edges.begin(), held_out.negative.edges.end());
  return pairs;
}

StageResult evaluateStage(const LinkScorer& scorer, const Dataset& dataset,
                          const EvaluationOptions& options, const HeldOut& held_out,
                          ProgressSink& progress) {
  const std::vector<MetricRequest> requests = resolveMetrics(options, dataset, held_out.negative);
  const std::vector<MetricRequest> full_requests = resolveFullMetrics(options, dataset, requests);
  std::vector<double> scores = scorer.score(pairsOf(held_out), progress);
  MetricSet metrics =
      evaluateScores(scores, held_out.positive.size(), held_out.negative.per_positive, requests);
  const Stopwatch watch;
  if (!full_requests.empty()) {
    const FullRankingRequest request{.requests = full_requests, .users = options.full_users};
    const MetricSet full =
        evaluateFullRanking(scorer, dataset, held_out.known, held_out.positive, request, progress);
    for (const auto& [name, value] : full.values()) {
      metrics.set(name, value);
    }
  }
  return {std::move(metrics), std::move(scores), full_requests.empty() ? 0 : watch.seconds()};
}

}  // namespace edgewise::detail
