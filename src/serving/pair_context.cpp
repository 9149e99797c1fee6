#include "serving/pair_context.h"

#include <algorithm>
#include <utility>

#include "edgewise/serving/link_predictor.h"
#include "edgewise/training/pair_model.h"

namespace edgewise::detail {
namespace {

std::size_t countOf(const EdgeTable& table, Edge pair, Direction direction) {
  return static_cast<std::size_t>(std::ranges::count_if(
      table.edges, [&](Edge edge) { return sameEdge(edge, pair, direction); }));
}

std::vector<std::string> partsOf(const LinkSplit& split, Edge pair, Direction direction) {
  const std::pair<const char*, const EdgeTable*> parts[] = {
      {"train", &split.training.message.table},
      {"valid", &split.training.valid.positive},
      {"test", &split.test.positive},
      {"revealed_at_valid", &split.training.revealed_at_valid.table},
      {"revealed_at_test", &split.revealed_at_test.table}};
  std::vector<std::string> names;
  for (const auto& [name, table] : parts) {
    if (countOf(*table, pair, direction) > 0) {
      names.emplace_back(name);
    }
  }
  return names;
}

// How far the views that count look from each end.
HopPair reachOf(const Explanation& told) {
  if (told.view) {
    return *told.view;
  }
  HopPair furthest;
  for (const ViewShare& share : told.views) {
    if (share.weight > 0) {
      furthest.source = std::max(furthest.source, share.view.source);
      furthest.target = std::max(furthest.target, share.view.target);
    }
  }
  return furthest;
}

}  // namespace

bool sameEdge(Edge one, Edge other, Direction direction) {
  return one == other || (direction == Direction::kUndirected && one == reversed(other));
}

MessageEdges testMessages(const ServedRun& run) {
  return messagesAtTest(run.split, run.stored.options.split.message_at_test);
}

Explanation describePair(const ServedRun& run, Edge pair, const MessageEdges& messages) {
  const Direction direction = run.dataset.direction;
  const std::size_t own = countOf(messages.table, pair, direction);
  Explanation explanation;
  explanation.dataset = run.dataset.name;
  explanation.model = run.stored.options.model;
  explanation.source.id = run.dataset.nodeLabel(pair.src);
  explanation.target.id = run.dataset.nodeLabel(pair.dst);
  explanation.parts = partsOf(run.split, pair, direction);
  explanation.carried = run.stored.options.split.message_at_test;
  explanation.message_edges = messages.table.size() - own;
  explanation.left_out = own > 0;
  return explanation;
}

std::vector<NodeId> nodesWithin(const CsrGraph& graph, NodeId center, const BfsOptions& options) {
  BfsWorkspace search(graph.nodeCount());
  const std::span<const NodeId> reached = search.search(graph, center, options);
  std::vector<NodeId> nodes(reached.begin(), reached.end());
  std::ranges::sort(nodes);
  return nodes;
}

std::size_t countTogether(const std::vector<NodeId>& one, const std::vector<NodeId>& other) {
  std::vector<NodeId> both;
  std::ranges::set_union(one, other, std::back_inserter(both));
  return both.size();
}

void lookAround(const CsrGraph& graph, Edge pair, bool without_own, Explanation& told) {
  const std::size_t own = without_own && graph.hasEdge(pair.src, pair.dst) ? 1 : 0;
  const auto around = [&](NodeId node, int hops, ExplainedEnd& end) {
    std::vector<NodeId> nodes =
        nodesWithin(graph, node,
                    {.max_depth = static_cast<std::uint32_t>(hops),
                     .without_edge = without_own ? std::optional(pair) : std::nullopt});
    end.degree = graph.degree(node) - own;
    end.hops = hops;
    end.nodes = nodes.size();
    return nodes;
  };
  const HopPair hops = reachOf(told);
  const std::vector<NodeId> source = around(pair.src, hops.source, told.source);
  const std::vector<NodeId> target = around(pair.dst, hops.target, told.target);
  told.nodes = countTogether(source, target);
}

}  // namespace edgewise::detail

namespace edgewise {

Explanation explainPair(const ServedRun& run, Edge pair, const ExplainOptions& options,
                        ProgressSink& progress) {
  const RunOptions& chosen = run.stored.options;
  const detail::NeighbourTrial trial(run, pair, options, progress);
  Explanation explanation = isHeuristic(chosen.model) ? detail::explainByFormula(run, pair, trial)
                            : readsSubgraphs(chosen)  ? detail::explainByEnclosing(run, pair, trial)
                                                      : detail::explainByModel(run, pair, trial);
  // What the same score means to `predict`.
  explanation.probability = calibrateRun(run).probability(explanation.score);
  explanation.subgraph = detail::subgraphAround(run, pair, explanation);
  return explanation;
}

}  // namespace edgewise
