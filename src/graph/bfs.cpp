#include "edgewise/graph/bfs.h"

#include <fmt/format.h>

#include "edgewise/util/error.h"

namespace edgewise {
namespace {

// Tells whether going from one node to another crosses the edge left out.
class Barrier {
 public:
  Barrier(const std::optional<Edge>& edge, Direction direction)
      : edge_(edge), both_ways_(direction == Direction::kUndirected) {}
  [[nodiscard]] bool stops(NodeId from, NodeId to) const {
    const Edge step{from, to};
    return edge_ && (step == *edge_ || (both_ways_ && reversed(step) == *edge_));
  }

 private:
  std::optional<Edge> edge_;
  bool both_ways_;
};

}  // namespace

void BfsWorkspace::clear() {
  for (const NodeId node : reached_) {
    distances_[index(node)] = kUnreached;
  }
  reached_.clear();
}

std::span<const NodeId> BfsWorkspace::search(const CsrGraph& graph, NodeId source,
                                             const BfsOptions& options) {
  if (graph.nodeCount() != distances_.size()) {
    throw ShapeError(fmt::format("a search over {} nodes was given a graph of {}",
                                 distances_.size(), graph.nodeCount()));
  }
  if (index(source) >= graph.nodeCount()) {
    throw ShapeError(
        fmt::format("node {} is outside a graph of {} nodes", index(source), graph.nodeCount()));
  }
  clear();
  const Barrier barrier(options.without_edge, graph.direction());
  reached_.push_back(source);
  distances_[index(source)] = 0;
  for (std::size_t head = 0; head < reached_.size(); ++head) {
    const NodeId node = reached_[head];
    const std::uint32_t depth = distances_[index(node)];
    if (depth >= options.max_depth) {
      break;
    }
    for (const NodeId next : graph.neighbours(node)) {
      if (distances_[index(next)] == kUnreached && !barrier.stops(node, next)) {
        distances_[index(next)] = depth + 1;
        reached_.push_back(next);
      }
    }
  }
  return reached_;
}

std::vector<std::uint32_t> bfsDistances(const CsrGraph& graph, NodeId source,
                                        const BfsOptions& options) {
  BfsWorkspace workspace(graph.nodeCount());
  workspace.search(graph, source, options);
  std::vector<std::uint32_t> distances(graph.nodeCount(), kUnreached);
  for (const NodeId node : workspace.reached()) {
    distances[index(node)] = workspace.distance(node);
  }
  return distances;
}

std::vector<NodeId> hopBall(const CsrGraph& graph, NodeId center, std::uint32_t hops) {
  BfsWorkspace workspace(graph.nodeCount());
  const auto nodes = workspace.search(graph, center, {.max_depth = hops, .without_edge = {}});
  return {nodes.begin(), nodes.end()};
}

}  // namespace edgewise
