// A batch of node pairs as kernels want it: the ends side by side, and for each node the places
// where it occurs, so that gradients are gathered by node in a fixed order instead of scattered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "edgewise/graph/types.h"

namespace edgewise {

class PairIndex {
 public:
  // Throws ShapeError for an end >= node_count, or 2^31 pairs and more.
  static std::shared_ptr<const PairIndex> make(std::span<const Edge> pairs, std::size_t node_count);

  [[nodiscard]] std::size_t size() const { return pairs_.size(); }
  [[nodiscard]] std::size_t nodeCount() const { return node_count_; }
  [[nodiscard]] std::span<const Edge> pairs() const { return pairs_; }

  // The nodes that occur, ascending.
  [[nodiscard]] std::span<const std::uint32_t> nodes() const { return nodes_; }
  // Where the i-th of them occurs, ascending: 2 * pair for a source, 2 * pair + 1 for a target.
  [[nodiscard]] std::span<const std::uint32_t> places(std::size_t i) const {
    return std::span(places_).subspan(offsets_[i], offsets_[i + 1] - offsets_[i]);
  }
  // First of nodes() of consecutive blocks of about equal work, with their number at the end.
  [[nodiscard]] std::span<const std::uint32_t> blocks() const { return blocks_; }

 private:
  PairIndex() = default;

  std::vector<Edge> pairs_;
  std::size_t node_count_ = 0;
  std::vector<std::uint32_t> nodes_;
  std::vector<std::uint64_t> offsets_;
  std::vector<std::uint32_t> places_;
  std::vector<std::uint32_t> blocks_;
};

}  // namespace edgewise
