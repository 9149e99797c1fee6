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
  for (std::vector<NodeId>* nodes : {&reached_, &given_up_}) {
    for (const NodeId node : *nodes) {
      distances_[index(node)] = kUnreached;
    }
    nodes->clear();
  }
}

void BfsWorkspace::thinHop(const BfsOptions& options, std::size_t hop_begin) {
  const std::span<NodeId> hop = std::span(reached_).subspan(hop_begin);
  const std::size_t kept = options.thin_hop(hop);
  const std::span<NodeId> rest = hop.subspan(kept);
  given_up_.insert(given_up_.end(), rest.begin(), rest.end());
  reached_.resize(hop_begin + kept);
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
  std::size_t head = 0;
  for (std::uint32_t depth = 0; depth < options.max_depth && head < reached_.size(); ++depth) {
    const std::size_t hop_begin = reached_.size();
    for (; head < hop_begin; ++head) {
      const NodeId node = reached_[head];
      for (const NodeId next : graph.neighbours(node)) {
        if (distances_[index(next)] == kUnreached && !barrier.stops(node, next)) {
          distances_[index(next)] = depth + 1;
          reached_.push_back(next);
        }
      }
    }
    if (options.thin_hop) {
      thinHop(options, hop_begin);
    }
  }
  for (const NodeId node : given_up_) {
    distances_[index(node)] = kUnreached;
  }
  given_up_.clear();
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
