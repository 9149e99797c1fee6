// Breadth-first search with a bound on depth: the distances and balls that views, enclosing
// subgraphs and labels are made of. A `BfsWorkspace` is kept and reused, so that a search costs
// what it touches and not the size of the graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "edgewise/graph/csr_graph.h"
#include "edgewise/graph/types.h"

namespace edgewise {

// The distance of a node that a search did not reach.
inline constexpr std::uint32_t kUnreached = std::numeric_limits<std::uint32_t>::max();

struct BfsOptions {
  // Nodes further away are not reached.
  std::uint32_t max_depth = kUnreached - 1;
  // An edge that the search must not cross (in both directions when the graph is undirected).
  std::optional<Edge> without_edge;
  // Thins out a hop: given its nodes in order of discovery, moves those that stay to the front and
  // returns how many they are. The others count as not reached, by later hops neither. Empty: all
  // stay.
  std::function<std::size_t(std::span<NodeId> hop)> thin_hop = {};
};

// Results of the latest search. Not for use by two threads at once.
class BfsWorkspace {
 public:
  explicit BfsWorkspace(std::size_t node_count) : distances_(node_count, kUnreached) {}

  // Searches along (out-)edges from `source`. Returns the nodes reached, the source first, by
  // distance and then by order of discovery (neighbours ascending); valid until the next search.
  // Throws ShapeError when the graph's node count is not the workspace's or `source` is outside it.
  std::span<const NodeId> search(const CsrGraph& graph, NodeId source,
                                 const BfsOptions& options = {});

  // Distance in the latest search; kUnreached for nodes it did not reach.
  [[nodiscard]] std::uint32_t distance(NodeId node) const { return distances_[index(node)]; }
  // What the latest search returned.
  [[nodiscard]] std::span<const NodeId> reached() const { return reached_; }

 private:
  void clear();
  void thinHop(const BfsOptions& options, std::size_t hop_begin);

  std::vector<std::uint32_t> distances_;
  std::vector<NodeId> reached_;
  // Given up during a search; marked as seen until it ends.
  std::vector<NodeId> given_up_;
};

// Distances from `source` to every node; kUnreached beyond `max_depth` or without a path.
[[nodiscard]] std::vector<std::uint32_t> bfsDistances(const CsrGraph& graph, NodeId source,
                                                      const BfsOptions& options = {});

// The nodes at most `hops` away from `center`, itself included, in the order of
// BfsWorkspace::search.
[[nodiscard]] std::vector<NodeId> hopBall(const CsrGraph& graph, NodeId center, std::uint32_t hops);

}  // namespace edgewise
