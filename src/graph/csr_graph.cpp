#include "edgewise/graph/csr_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "edgewise/util/error.h"
#include "edgewise/util/parallel.h"

namespace edgewise {
namespace {

constexpr std::size_t kRowGrain = 1024;
constexpr double kNanosecondsPerCheckedEntry = 2;

void checkEnds(std::size_t node_count, std::span<const Edge> edges) {
  for (const Edge& edge : edges) {
    if (index(edge.src) >= node_count || index(edge.dst) >= node_count) {
      throw ShapeError(fmt::format("edge ({}, {}) names a node outside 0..{}", index(edge.src),
                                   index(edge.dst), static_cast<std::int64_t>(node_count) - 1),
                       "check the number of nodes against the ids in the edge list");
    }
  }
}

struct Entry {
  NodeId target;
  float weight;
};

// Sorts one row and folds repeats (adding weights); returns the new length. Weights of repeats are
// added in the order given, so the sum does not depend on anything else.
std::size_t sortWeightedRow(std::span<NodeId> targets, std::span<float> weights,
                            std::vector<Entry>& scratch) {
  scratch.clear();
  for (std::size_t i = 0; i < targets.size(); ++i) {
    scratch.push_back({targets[i], weights[i]});
  }
  std::ranges::stable_sort(scratch, {}, &Entry::target);
  std::size_t kept = 0;
  for (const Entry& entry : scratch) {
    if (kept > 0 && targets[kept - 1] == entry.target) {
      weights[kept - 1] += entry.weight;
    } else {
      targets[kept] = entry.target;
      weights[kept] = entry.weight;
      ++kept;
    }
  }
  return kept;
}

std::size_t sortPlainRow(std::span<NodeId> targets) {
  std::ranges::sort(targets);
  return static_cast<std::size_t>(std::ranges::unique(targets).begin() - targets.begin());
}

void checkOffsets(std::span<const std::uint64_t> offsets, std::size_t entries) {
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != entries ||
      !std::ranges::is_sorted(offsets)) {
    throw ShapeError(fmt::format("offsets of {} rows do not cut {} entries into rows",
                                 offsets.empty() ? 0 : offsets.size() - 1, entries));
  }
}

void checkRow(std::size_t row, std::span<const NodeId> targets, std::size_t node_count) {
  const bool ascending =
      std::ranges::adjacent_find(targets, std::ranges::greater_equal()) == targets.end();
  if (!ascending || (!targets.empty() && index(targets.back()) >= node_count)) {
    throw ShapeError(
        fmt::format("row {} of {} is not ascending or names a node outside", row, node_count));
  }
}

}  // namespace

CsrGraph CsrGraph::fromRows(std::vector<std::uint64_t> offsets, std::vector<NodeId> neighbours,
                            Direction direction) {
  checkOffsets(offsets, neighbours.size());
  CsrGraph graph;
  graph.direction_ = direction;
  graph.offsets_ = std::move(offsets);
  graph.neighbours_ = std::move(neighbours);
  const auto check = [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      checkRow(row, graph.neighbours(NodeId{static_cast<std::uint32_t>(row)}), graph.nodeCount());
    }
  };
  parallelFor(
      graph.nodeCount(), kRowGrain, check,
      kNanosecondsPerCheckedEntry * static_cast<double>(graph.nodeCount() + graph.entryCount()));
  return graph;
}

CsrGraph CsrGraph::fromEdges(std::size_t node_count, std::span<const Edge> edges,
                             Direction direction, std::span<const float> weights) {
  if (!weights.empty() && weights.size() != edges.size()) {
    throw ShapeError(fmt::format("{} weights for {} edges", weights.size(), edges.size()));
  }
  checkEnds(node_count, edges);
  CsrGraph graph;
  graph.direction_ = direction;
  graph.offsets_.assign(node_count + 1, 0);
  const bool both_ways = direction == Direction::kUndirected;
  for (const Edge& edge : edges) {
    ++graph.offsets_[index(edge.src) + std::size_t{1}];
    if (both_ways && edge.src != edge.dst) {
      ++graph.offsets_[index(edge.dst) + std::size_t{1}];
    }
  }
  std::partial_sum(graph.offsets_.begin(), graph.offsets_.end(), graph.offsets_.begin());
  graph.neighbours_.resize(graph.offsets_.back());
  graph.weights_.resize(weights.empty() ? 0 : graph.offsets_.back());
  std::vector<std::uint64_t> cursor(graph.offsets_.begin(), graph.offsets_.end() - 1);
  const auto enter = [&](NodeId at, NodeId target, std::size_t edge) {
    const std::uint64_t place = cursor[index(at)]++;
    graph.neighbours_[place] = target;
    if (!weights.empty()) {
      graph.weights_[place] = weights[edge];
    }
  };
  for (std::size_t i = 0; i < edges.size(); ++i) {
    enter(edges[i].src, edges[i].dst, i);
    if (both_ways && edges[i].src != edges[i].dst) {
      enter(edges[i].dst, edges[i].src, i);
    }
  }
  graph.sortRows();
  return graph;
}

void CsrGraph::sortRows() {
  const std::size_t rows = nodeCount();
  std::vector<std::uint64_t> kept(rows, 0);
  parallelFor(rows, kRowGrain, [&](std::size_t begin, std::size_t end) {
    std::vector<Entry> scratch;
    for (std::size_t row = begin; row < end; ++row) {
      const std::size_t length = offsets_[row + 1] - offsets_[row];
      const auto targets = std::span(neighbours_).subspan(offsets_[row], length);
      kept[row] = weighted()
                      ? sortWeightedRow(targets, std::span(weights_).subspan(offsets_[row], length),
                                        scratch)
                      : sortPlainRow(targets);
    }
  });
  // Close the gaps that folded repeats left; rows only move to the left.
  std::uint64_t place = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint64_t begin = offsets_[row];
    if (place != begin) {
      std::copy_n(neighbours_.begin() + static_cast<std::ptrdiff_t>(begin), kept[row],
                  neighbours_.begin() + static_cast<std::ptrdiff_t>(place));
      if (weighted()) {
        std::copy_n(weights_.begin() + static_cast<std::ptrdiff_t>(begin), kept[row],
                    weights_.begin() + static_cast<std::ptrdiff_t>(place));
      }
    }
    offsets_[row] = place;
    place += kept[row];
  }
  const bool had_weights = weighted();
  offsets_[rows] = place;
  neighbours_.resize(place);
  weights_.resize(had_weights ? place : 0);
}

bool CsrGraph::hasEdge(NodeId src, NodeId dst) const {
  return std::ranges::binary_search(neighbours(src), dst);
}

CsrGraph CsrGraph::transposed() const {
  if (direction_ == Direction::kUndirected) {
    return *this;
  }
  std::vector<Edge> reversed_edges;
  reversed_edges.reserve(entryCount());
  for (std::uint32_t node = 0; node < nodeCount(); ++node) {
    for (const NodeId target : neighbours(NodeId{node})) {
      reversed_edges.push_back({target, NodeId{node}});
    }
  }
  return fromEdges(nodeCount(), reversed_edges, direction_, weights_);
}

}  // namespace edgewise
