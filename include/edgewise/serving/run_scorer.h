// A finished run as something that scores pairs: a trained model or a formula over one set of
// messages.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "edgewise/data/dataset.h"
#include "edgewise/data/link_split.h"
#include "edgewise/training/stored_run.h"
#include "edgewise/util/progress.h"

namespace edgewise {

class RunScorer {
 public:
  RunScorer() = default;
  RunScorer(const RunScorer&) = delete;
  RunScorer& operator=(const RunScorer&) = delete;
  RunScorer(RunScorer&&) = delete;
  RunScorer& operator=(RunScorer&&) = delete;
  virtual ~RunScorer() = default;

  // One score a pair, in order.
  [[nodiscard]] virtual std::vector<double> score(
      std::span<const Edge> pairs, ProgressSink& progress = silentProgress()) const = 0;
  // Whether each pair has views of its own.
  [[nodiscard]] virtual bool choosesViews() const = 0;
  // The view that counts most for each pair; empty where views are not chosen by pair.
  [[nodiscard]] virtual std::vector<HopPair> views(std::span<const Edge> pairs) const = 0;
  // out[i * targets + j] = the score of (sources[i], targets[j]), but for rounding.
  virtual void scoreTile(std::span<const NodeId> sources, std::span<const NodeId> targets,
                         std::span<double> out) const = 0;
  // Whether a source is scored against all nodes at once anyway (formulas): then tiles had better
  // have all targets, and their scores are those of score().
  [[nodiscard]] virtual bool scoresWholeRows() const = 0;
};

// Reads the run's model where it has one. `dataset` is the run's own or another whose nodes bring
// the same kind of input; it must outlive the scorer, and so must the run. `split` is the run's
// own, null for another dataset. Throws DataError for a model that is missing, damaged or
// another's, and ConfigError for a run that cannot score nodes of another dataset.
[[nodiscard]] std::unique_ptr<RunScorer> openScorer(const StoredRun& run, const Dataset& dataset,
                                                    const MessageEdges& messages,
                                                    const LinkSplit* split);

}  // namespace edgewise
