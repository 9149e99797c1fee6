// A graph as compressed sparse rows: the form every kernel reads. Immutable once built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "edgewise/graph/types.h"

namespace edgewise {

class CsrGraph {
 public:
  // The graph without nodes.
  CsrGraph() : offsets_(1, 0) {}

  // Builds from a list of edges in any order. Undirected: each edge is entered at both ends,
  // whichever way it is given. Duplicates are entered once (their weights added up); self-loops are
  // entered once. `weights` is empty or as long as `edges`. Throws ShapeError for an end >=
  // node_count or a weight list of another length.
  static CsrGraph fromEdges(std::size_t node_count, std::span<const Edge> edges,
                            Direction direction = Direction::kUndirected,
                            std::span<const float> weights = {});

  // Takes over rows that are ready: node_count + 1 offsets, and each row's neighbours ascending
  // without repeats. An undirected graph must have each edge in both its rows, which is not
  // checked; the rest is, and throws ShapeError.
  static CsrGraph fromRows(std::vector<std::uint64_t> offsets, std::vector<NodeId> neighbours,
                           Direction direction = Direction::kUndirected);

  [[nodiscard]] std::size_t nodeCount() const { return offsets_.size() - 1; }
  // Entries of the adjacency matrix; an undirected edge has two (a self-loop one).
  [[nodiscard]] std::size_t entryCount() const { return neighbours_.size(); }
  [[nodiscard]] Direction direction() const { return direction_; }
  [[nodiscard]] bool weighted() const { return !weights_.empty(); }

  // Ascending, without repeats. Out-neighbours when directed.
  [[nodiscard]] std::span<const NodeId> neighbours(NodeId node) const {
    return std::span(neighbours_).subspan(offsets_[index(node)], degree(node));
  }
  // Parallel to `neighbours`; empty for an unweighted graph.
  [[nodiscard]] std::span<const float> weights(NodeId node) const {
    return weighted() ? std::span(weights_).subspan(offsets_[index(node)], degree(node))
                      : std::span<const float>();
  }
  [[nodiscard]] std::size_t degree(NodeId node) const {
    return offsets_[index(node) + std::size_t{1}] - offsets_[index(node)];
  }
  // Binary search in the row of `src`.
  [[nodiscard]] bool hasEdge(NodeId src, NodeId dst) const;

  // All edges reversed; an undirected graph is its own transpose (a copy).
  [[nodiscard]] CsrGraph transposed() const;

  // The raw arrays: node_count + 1 offsets, then entries.
  [[nodiscard]] std::span<const std::uint64_t> offsets() const { return offsets_; }
  [[nodiscard]] std::span<const NodeId> targets() const { return neighbours_; }
  [[nodiscard]] std::span<const float> entryWeights() const { return weights_; }

 private:
  void sortRows();

  std::vector<std::uint64_t> offsets_;
  std::vector<NodeId> neighbours_;
  std::vector<float> weights_;
  Direction direction_ = Direction::kUndirected;
};

}  // namespace edgewise
