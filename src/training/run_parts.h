// What all kinds of runs do alike: describe themselves, audit, and evaluate a scorer.
#pragma once

#include <span>
#include <vector>

#include "edgewise/data/dataset.h"
#include "edgewise/data/link_split.h"
#include "edgewise/evaluation/link_evaluation.h"
#include "edgewise/training/run_metrics.h"
#include "edgewise/training/run_options.h"
#include "edgewise/util/progress.h"

namespace edgewise::detail {

// Messages of each stage as the split and options have them.
struct RunMessages {
  MessageEdges at_train;
  MessageEdges at_valid;
  MessageEdges at_test;
};
[[nodiscard]] RunMessages messagesOf(const LinkSplit& split, const RunOptions& options);

// Names, split, audit; no scores yet.
[[nodiscard]] RunMetrics describeRun(const Dataset& dataset, const LinkSplit& split,
                                     const RunOptions& options, const RunMessages& messages);

// Throws DataError where training.recent would find out only when all else is done that it does not
// know which edges are.
void checkRecent(const LinkSplit& split, const TrainingOptions& training);

// What is held out, and what must not be recommended again: all that was known before, whether or
// not it carries messages.
struct HeldOut {
  const EdgeTable& positive;
  const FrozenNegatives& negative;
  MessageEdges known;
};
[[nodiscard]] HeldOut heldOutValid(const LinkSplit& split);
[[nodiscard]] HeldOut heldOutTest(const LinkSplit& split);

struct StageResult {
  MetricSet metrics;
  // Of the positives, then of the negatives.
  std::vector<double> scores;
  // What a full ranking took; 0 without one.
  double ranking_seconds = 0;
};
// All metrics of the run for one stage.
[[nodiscard]] StageResult evaluateStage(const LinkScorer& scorer, const Dataset& dataset,
                                        const EvaluationOptions& options, const HeldOut& held_out,
                                        ProgressSink& progress);

// The positives, then the negatives.
[[nodiscard]] std::vector<Edge> pairsOf(const HeldOut& held_out);

}  // namespace edgewise::detail
