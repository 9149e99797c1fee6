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

// Every trial looks at all messages, so these bound the time.
constexpr std::size_t kMostTried = 100;
constexpr std::size_t kFewestTried = 10;
constexpr std::uint64_t kMessagesLookedAt = 100'000'000;

std::size_t mostTried(const CsrGraph& graph, std::size_t asked) {
  const auto affordable =
      static_cast<std::size_t>(kMessagesLookedAt / std::max<std::uint64_t>(1, graph.entryCount()));
  return std::max(asked, std::clamp(affordable, kFewestTried, kMostTried));
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

void keepLargest(std::vector<NeighbourChange>& neighbours, std::size_t count) {
  std::erase_if(neighbours, [](const NeighbourChange& one) { return one.change == 0; });
  std::ranges::stable_sort(neighbours, std::ranges::greater(),
                           [](const NeighbourChange& one) { return std::abs(one.change); });
  neighbours.resize(std::min(count, neighbours.size()));
}

}  // namespace

std::optional<NeighbourChanges> NeighbourTrial::run(const Explanation& told,
                                                    const ScoreWithout& score_without) const {
  if (options_.neighbours == 0) {
    return std::nullopt;
  }
  const CsrGraph graph = subgraphMessages(run_.dataset, testMessages(run_));
  NeighbourChanges result;
  result.most = neighboursOf(graph, pair_);
  result.count = result.most.size();
  keepPromising(result.most, mostTried(graph, options_.neighbours));
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
  keepLargest(result.most, options_.neighbours);
  return result;
}

}  // namespace edgewise::detail
