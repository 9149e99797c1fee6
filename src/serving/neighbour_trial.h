// Leaves the neighbours of a pair's ends out one at a time to see what that does to its score.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "edgewise/serving/explanation.h"

namespace edgewise::detail {

// The pair's score as if these edges, given both ways round, were no messages; the pair's own is
// among them where it carries.
using ScoreWithout = std::function<double(std::span<const Edge> hidden)>;

// What the graph costs a trial: an entry looked at counts about as much as so many multiplications.
inline constexpr double kWorkOfAnEntry = 3000;

class NeighbourTrial {
 public:
  // Refers to all but the pair.
  NeighbourTrial(const ServedRun& run, Edge pair, const ExplainOptions& options,
                 ProgressSink& progress)
      : run_(run), pair_(pair), options_(options), progress_(progress) {}

  // None where no neighbours are asked for. `told` has the score with all of them, and says whether
  // the pair's own edge was left out. `work` tells how much one trial multiplies beside looking at
  // the graph: the more, the fewer are made.
  [[nodiscard]] std::optional<NeighbourChanges> run(const Explanation& told, double work,
                                                    const ScoreWithout& score_without) const;

 private:
  const ServedRun& run_;
  Edge pair_;
  const ExplainOptions& options_;
  ProgressSink& progress_;
};

}  // namespace edgewise::detail
