#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include "edgewise/graph/heuristics.h"
#include "edgewise/sampling/edge_set.h"
#include "serving/pair_context.h"

namespace edgewise::detail {
namespace {

// Neighbours as the formulas mean them: of a directed pair the targets of the source and the
// sources of the target.
class PairGraph {
 public:
  explicit PairGraph(CsrGraph graph) : out_(std::move(graph)) {
    if (directed()) {
      in_ = out_.transposed();
    }
  }

  [[nodiscard]] const CsrGraph& graph() const { return out_; }
  [[nodiscard]] const CsrGraph& towards() const { return directed() ? in_ : out_; }
  [[nodiscard]] std::size_t degree(NodeId node) const {
    return out_.degree(node) + (directed() ? in_.degree(node) : 0);
  }
  [[nodiscard]] std::vector<NodeId> between(Edge pair) const {
    std::vector<NodeId> common;
    std::ranges::set_intersection(out_.neighbours(pair.src), towards().neighbours(pair.dst),
                                  std::back_inserter(common));
    return common;
  }

 private:
  [[nodiscard]] bool directed() const { return out_.direction() == Direction::kDirected; }

  CsrGraph out_;
  CsrGraph in_;
};

CsrGraph graphWithout(const ServedRun& run, const MessageEdges& messages,
                      std::span<const Edge> hidden) {
  const EdgeSet gone = EdgeSet::fromEdges(hidden, run.dataset.direction);
  std::vector<Edge> edges = messages.table.edges;
  std::erase_if(edges, [&](Edge edge) { return gone.contains(edge); });
  return CsrGraph::fromEdges(run.dataset.node_count, edges, run.dataset.direction);
}

bool looksEverywhere(Heuristic heuristic) {
  return heuristic == Heuristic::kKatz || heuristic == Heuristic::kPersonalizedPageRank;
}

// What a common neighbour of this degree adds to a score of `total` over `count` of them.
std::optional<double> partOf(Heuristic heuristic, std::size_t degree, double total,
                             std::size_t count) {
  switch (heuristic) {
    case Heuristic::kCommonNeighbours:
    case Heuristic::kJaccard:
      return total / static_cast<double>(count);
    case Heuristic::kAdamicAdar:
      return degree > 1 ? 1 / std::log(static_cast<double>(degree)) : 0;
    case Heuristic::kResourceAllocation:
      return 1 / static_cast<double>(degree);
    default:
      return std::nullopt;
  }
}

std::vector<CommonNeighbour> commonOf(const ServedRun& run, const PairGraph& graph, Edge pair,
                                      double total) {
  const Heuristic heuristic = parseHeuristic(run.stored.options.model);
  const std::vector<NodeId> nodes = graph.between(pair);
  std::vector<CommonNeighbour> common;
  for (const NodeId node : nodes) {
    const std::size_t degree = graph.degree(node);
    common.push_back({.id = run.dataset.nodeLabel(node),
                      .degree = degree,
                      .adds = partOf(heuristic, degree, total, nodes.size())});
  }
  std::ranges::stable_sort(common, std::ranges::greater(), &CommonNeighbour::adds);
  return common;
}

void lookAround(const PairGraph& graph, Edge pair, Heuristic heuristic, Explanation& told) {
  told.source.degree = graph.graph().degree(pair.src);
  told.target.degree = graph.towards().degree(pair.dst);
  if (looksEverywhere(heuristic)) {
    return;
  }
  const BfsOptions one_hop{.max_depth = 1, .without_edge = std::nullopt};
  const auto around_source = nodesWithin(graph.graph(), pair.src, one_hop);
  const auto around_target = nodesWithin(graph.towards(), pair.dst, one_hop);
  told.source.hops = 1;
  told.source.nodes = around_source.size();
  told.target.hops = 1;
  told.target.nodes = around_target.size();
  told.nodes = countTogether(around_source, around_target);
}

}  // namespace

Explanation explainByFormula(const ServedRun& run, Edge pair, const NeighbourTrial& trial) {
  const RunOptions& options = run.stored.options;
  const Heuristic heuristic = parseHeuristic(options.model);
  const MessageEdges messages = testMessages(run);
  const std::span<const Edge> own(&pair, 1);
  Explanation told = describePair(run, pair, messages);
  const PairGraph graph(graphWithout(run, messages, own));
  HeuristicOptions resolved = options.heuristic.resolve();
  const HeuristicScorer scorer(graph.graph(), heuristic, resolved);
  told.score = scorer.score(own).front();
  told.common = commonOf(run, graph, pair, told.score);
  lookAround(graph, pair, heuristic, told);
  // A beta that follows from the graph would change with it, and every score with that.
  resolved.katz_beta = scorer.katzBeta();
  told.neighbours = trial.run(told, 0, [&](std::span<const Edge> hidden) {
    const CsrGraph less = graphWithout(run, messages, hidden);
    return HeuristicScorer(less, heuristic, resolved).score(own).front();
  });
  return told;
}

}  // namespace edgewise::detail
