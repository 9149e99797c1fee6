#include "serving/neighbour_trial.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <tuple>

#include "edgewise/training/subgraph_trainer.h"
#include "edgewise/util/interrupt.h"
#include "serving/pair_context.h"

namespace edgewise::detail {
namespace {

// Every trial looks at the whole graph, so these bound the time: to about ten seconds of two cores,
// unless even the fewest take longer.
constexpr double kMostTried = 100;
constexpr double kFewestTried = 10;
constexpr double kAllWork = 3e11;

std::size_t mostTried(const CsrGraph& graph, double work, std::size_t asked) {
  const double each =
      std::max(1.0, work + kWorkOfAnEntry * static_cast<double>(graph.entryCount()));
  return std::max(asked,
                  static_cast<std::size_t>(std::clamp(kAllWork / each, kFewestTried, kMostTried)));
}

// Of either end, but for the ends themselves; ascending.
std::vector<NeighbourChange> neighboursOf(const CsrGraph& graph, Edge pair) {
  std::vector<NodeId> nodes;
  std::ranges::set_union(graph.neighbours(pair.src), graph.neighbours(pair.dst),
                         std::back_inserter(nodes));
  std::vector<NeighbourChange> neighbours;
  for (const NodeId node : nodes) {
    if (node != pair.src && node != pair.dst) {
      NeighbourChange& one = neighbours.emplace_back();
      one.node = node;
      one.of_source = graph.hasEdge(pair.src, node);
      one.of_target = graph.hasEdge(pair.dst, node);
      one.degree = graph.degree(node);
    }
  }
  return neighbours;
}

// The `most` that promise to matter; the order among them is that of the nodes, as before.
void keepPromising(std::vector<NeighbourChange>& neighbours, std::size_t most) {
  if (neighbours.size() <= most) {
    return;
  }
  const auto promise = [](const NeighbourChange& one) {
    return std::tuple(!(one.of_source && one.of_target), one.degree, one.node);
  };
  std::ranges::sort(neighbours, {}, promise);
  neighbours.resize(most);
  std::ranges::sort(neighbours, {}, &NeighbourChange::node);
}

std::vector<Edge> messagesBetween(const NeighbourChange& neighbour, Edge pair) {
  std::vector<Edge> edges;
  const auto both_ways = [&](NodeId end) {
    edges.push_back({end, neighbour.node});
    edges.push_back({neighbour.node, end});
  };
  if (neighbour.of_source) {
    both_ways(pair.src);
  }
  if (neighbour.of_target) {
    both_ways(pair.dst);
  }
  return edges;
}

// Changes that may be rounding are none.
void keepLargest(std::vector<NeighbourChange>& neighbours, std::size_t count, double score) {
  constexpr double kRounding = 1e-6;
  std::erase_if(neighbours, [&](const NeighbourChange& one) {
    return std::abs(one.change) <= kRounding * std::max(std::abs(score), kRounding);
  });
  std::ranges::stable_sort(neighbours, std::ranges::greater(),
                           [](const NeighbourChange& one) { return std::abs(one.change); });
  neighbours.resize(std::min(count, neighbours.size()));
}

}  // namespace

std::optional<NeighbourChanges> NeighbourTrial::run(const Explanation& told, double work,
                                                    const ScoreWithout& score_without) const {
  if (options_.neighbours == 0) {
    return std::nullopt;
  }
  const CsrGraph graph = subgraphMessages(run_.dataset, testMessages(run_));
  NeighbourChanges result;
  result.most = neighboursOf(graph, pair_);
  result.count = result.most.size();
  keepPromising(result.most, mostTried(graph, work, options_.neighbours));
  result.tried = result.most.size();
  ProgressTask task(progress_, "leaving neighbours out", result.tried);
  for (NeighbourChange& one : result.most) {
    throwIfInterrupted();
    std::vector<Edge> hidden = messagesBetween(one, pair_);
    if (told.left_out) {
      hidden.push_back(pair_);
    }
    one.id = run_.dataset.nodeLabel(one.node);
    one.score = score_without(hidden);
    one.change = one.score - told.score;
    task.advance();
  }
  keepLargest(result.most, options_.neighbours, told.score);
  return result;
}

}  // namespace edgewise::detail
