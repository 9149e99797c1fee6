#include "training/run_parts.h"

#include "edgewise/util/parallel.h"
#include "edgewise/util/process.h"

namespace edgewise::detail {
namespace {

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

RunMessages messagesOf(const LinkSplit& split, const RunOptions& options) {
  return {.at_valid = messagesAtValid(split.training),
          .at_test = messagesAtTest(split, options.split.message_at_test),
          .before_test = messagesAtTest(split, "train+valid")};
}

RunMetrics describeRun(const Dataset& dataset, const LinkSplit& split, const RunOptions& options,
                       const RunMessages& messages) {
  RunMetrics run;
  run.dataset = dataset.name;
  run.data_hash = dataset.hash;
  run.model = options.model;
  run.recipe = options.recipe;
  run.seed = static_cast<std::uint64_t>(options.seed);
  run.threads = threadCount();
  run.split = summariseSplit(split, options.split.message_at_test);
  const Stopwatch watch;
  run.audit = auditSplit(
      dataset, split,
      {.training = split.training.message, .valid = messages.at_valid, .test = messages.at_test});
  run.time.emplace_back("audit_s", watch.seconds());
  return run;
}

HeldOut heldOutValid(const LinkSplit& split, const RunMessages& messages) {
  return {split.training.valid.positive, split.training.valid.negative, messages.at_valid};
}

HeldOut heldOutTest(const LinkSplit& split, const RunMessages& messages) {
  return {split.test.positive, split.test.negative, messages.before_test};
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
  if (!full_requests.empty()) {
    const MetricSet full = evaluateFullRanking(scorer, dataset, held_out.known, held_out.positive,
                                               full_requests, progress);
    for (const auto& [name, value] : full.values()) {
      metrics.set(name, value);
    }
  }
  return {std::move(metrics), std::move(scores)};
}

}  // namespace edgewise::detail
