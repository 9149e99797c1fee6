// The nodes that may be an end of a negative, renumbered without gaps: all of them, or, where a
// dataset has context edges, those that target edges touch. Order is kept, so canonical pairs stay
// canonical.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "edgewise/data/dataset.h"
#include "edgewise/graph/types.h"

namespace edgewise {

class CandidateNodes {
 public:
  // Every node, unless the dataset has edge classes: then the ends of `targets`.
  CandidateNodes(const Dataset& dataset, std::span<const Edge> targets);

  [[nodiscard]] std::size_t size() const { return original_.size(); }
  // Those edges both of whose ends are candidates, renumbered.
  [[nodiscard]] std::vector<Edge> among(std::span<const Edge> edges) const;
  [[nodiscard]] NodeId restore(NodeId compact) const { return NodeId{original_[index(compact)]}; }
  void restore(std::vector<Edge>& edges) const;
  // The nodes, ascending.
  [[nodiscard]] std::span<const std::uint32_t> nodes() const { return original_; }
  [[nodiscard]] bool all() const { return original_.size() == compact_.size(); }

 private:
  static constexpr std::uint32_t kAbsent = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> original_;
  std::vector<std::uint32_t> compact_;
};

}  // namespace edgewise
