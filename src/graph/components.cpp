#include "edgewise/graph/components.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace edgewise {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// Gives arbitrary group marks (one a node, below the number of nodes) their final numbers.
Components numbered(std::span<const std::uint32_t> marks) {
  Components result;
  result.labels.resize(marks.size());
  std::vector<std::uint32_t> number(marks.size(), kNone);
  for (std::size_t node = 0; node < marks.size(); ++node) {
    std::uint32_t& label = number[marks[node]];
    if (label == kNone) {
      label = static_cast<std::uint32_t>(result.count++);
      result.sizes.push_back(0);
    }
    result.labels[node] = label;
    ++result.sizes[label];
  }
  return result;
}

std::uint32_t findRoot(std::vector<std::uint32_t>& parent, std::uint32_t node) {
  while (parent[node] != node) {
    parent[node] = parent[parent[node]];
    node = parent[node];
  }
  return node;
}

// Tarjan's algorithm with an explicit stack, so that long paths cannot exhaust the real one.
class StrongSearch {
 public:
  explicit StrongSearch(const CsrGraph& graph)
      : graph_(graph),
        order_(graph.nodeCount(), kNone),
        low_(graph.nodeCount(), kNone),
        mark_(graph.nodeCount(), kNone) {}

  std::vector<std::uint32_t> run() {
    for (std::uint32_t node = 0; node < graph_.nodeCount(); ++node) {
      if (order_[node] == kNone) {
        explore(node);
      }
    }
    return std::move(mark_);
  }

 private:
  struct Frame {
    std::uint32_t node;
    std::size_t next_edge;
  };

  void enter(std::uint32_t node) {
    order_[node] = low_[node] = visited_++;
    open_.push_back(node);
    frames_.push_back({node, 0});
  }

  void explore(std::uint32_t start) {
    enter(start);
    while (!frames_.empty()) {
      const std::uint32_t node = frames_.back().node;
      const auto targets = graph_.neighbours(NodeId{node});
      if (frames_.back().next_edge < targets.size()) {
        visitEdge(node, index(targets[frames_.back().next_edge++]));
      } else {
        leave(node);
      }
    }
  }

  void visitEdge(std::uint32_t node, std::uint32_t target) {
    if (order_[target] == kNone) {
      enter(target);
    } else if (mark_[target] == kNone) {
      low_[node] = std::min(low_[node], order_[target]);
    }
  }

  void leave(std::uint32_t node) {
    frames_.pop_back();
    if (!frames_.empty()) {
      std::uint32_t& above = low_[frames_.back().node];
      above = std::min(above, low_[node]);
    }
    if (low_[node] != order_[node]) {
      return;
    }
    std::uint32_t member = kNone;
    do {
      member = open_.back();
      open_.pop_back();
      mark_[member] = node;
    } while (member != node);
  }

  const CsrGraph& graph_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> low_;
  std::vector<std::uint32_t> mark_;
  std::vector<std::uint32_t> open_;
  std::vector<Frame> frames_;
  std::uint32_t visited_ = 0;
};

}  // namespace

Components connectedComponents(const CsrGraph& graph) {
  std::vector<std::uint32_t> parent(graph.nodeCount());
  std::iota(parent.begin(), parent.end(), 0U);
  for (std::uint32_t node = 0; node < graph.nodeCount(); ++node) {
    for (const NodeId target : graph.neighbours(NodeId{node})) {
      const std::uint32_t left = findRoot(parent, node);
      const std::uint32_t right = findRoot(parent, index(target));
      parent[std::max(left, right)] = std::min(left, right);
    }
  }
  for (std::uint32_t node = 0; node < graph.nodeCount(); ++node) {
    parent[node] = findRoot(parent, node);
  }
  return numbered(parent);
}

Components stronglyConnectedComponents(const CsrGraph& graph) {
  if (graph.direction() == Direction::kUndirected) {
    return connectedComponents(graph);
  }
  return numbered(StrongSearch(graph).run());
}

}  // namespace edgewise
