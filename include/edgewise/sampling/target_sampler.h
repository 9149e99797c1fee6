// For a source a target that it is not linked to: for a user an item that the user has not met.
// Every such target is as likely as any other, and one random number is enough: the r-th target
// that is missing in the source's row is found by halving, so nothing is drawn in vain however many
// targets a source knows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "edgewise/graph/types.h"
#include "edgewise/util/rng.h"

namespace edgewise {

class TargetSampler {
 public:
  // `targets` are the nodes that may be drawn, ascending. `known` are pairs of nodes that are not
  // to be; undirected ones in either order, and a source is never its own target. Throws ShapeError
  // for a node >= node_count.
  TargetSampler(std::size_t node_count, std::vector<std::uint32_t> targets,
                std::span<const Edge> known, Direction direction);

  // How many different targets `draw` can give this source.
  [[nodiscard]] std::size_t available(NodeId source) const {
    return targets_.size() - row(source).size();
  }
  // The target at `counter`; there must be one available.
  [[nodiscard]] NodeId draw(NodeId source, const CounterRng& rng, std::uint64_t counter) const;
  // For each positive `per_positive` pairs with its source: number j of positive i is at
  // [i * per_positive + j], drawn at the counter of that place. Repeats may occur. The same on any
  // number of threads.
  [[nodiscard]] std::vector<Edge> sample(std::span<const Edge> positives, std::size_t per_positive,
                                         const CounterRng& rng) const;

  // For those who draw by themselves: where each node's row begins in the columns, [nodes + 1], and
  // the rows, ascending places among the targets.
  [[nodiscard]] std::span<const std::uint64_t> offsets() const { return offsets_; }
  [[nodiscard]] std::span<const std::uint32_t> columns() const { return columns_; }
  [[nodiscard]] std::span<const std::uint32_t> targets() const { return targets_; }

 private:
  [[nodiscard]] std::span<const std::uint32_t> row(NodeId source) const {
    return std::span(columns_).subspan(offsets_[index(source)],
                                       offsets_[index(source) + 1] - offsets_[index(source)]);
  }

  std::vector<std::uint32_t> targets_;
  std::vector<std::uint64_t> offsets_;
  std::vector<std::uint32_t> columns_;
};

}  // namespace edgewise
