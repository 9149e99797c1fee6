// What every explanation of a pair says, however it is scored, and the ways to score it.
#pragma once

#include <optional>
#include <vector>

#include "edgewise/data/link_split.h"
#include "edgewise/graph/bfs.h"
#include "edgewise/graph/csr_graph.h"
#include "edgewise/serving/explanation.h"
#include "serving/neighbour_trial.h"

namespace edgewise::detail {

// Names, known parts of the split, and which of these messages carry; no score yet.
[[nodiscard]] Explanation describePair(const ServedRun& run, Edge pair,
                                       const MessageEdges& messages);

// The messages that test pairs are scored over.
[[nodiscard]] MessageEdges testMessages(const ServedRun& run);

// Whether two edges are the same one; of undirected edges either end may come first.
[[nodiscard]] bool sameEdge(Edge one, Edge other, Direction direction);

// Nodes at most options.max_depth away from `center`, itself included, ascending.
[[nodiscard]] std::vector<NodeId> nodesWithin(const CsrGraph& graph, NodeId center,
                                              const BfsOptions& options);
// How many nodes lie in one list or the other; both ascending.
[[nodiscard]] std::size_t countTogether(const std::vector<NodeId>& one,
                                        const std::vector<NodeId>& other);
// What lies around both ends as far as the views look that count in `told`, which gets degrees,
// hops and numbers of nodes; `without_own`: as if the pair's own edge were not in the graph.
void lookAround(const CsrGraph& graph, Edge pair, bool without_own, Explanation& told);

// Told with the neighbours that mattered, where `trial` asks for them.
[[nodiscard]] Explanation explainByModel(const ServedRun& run, Edge pair,
                                         const NeighbourTrial& trial);
[[nodiscard]] Explanation explainByFormula(const ServedRun& run, Edge pair,
                                           const NeighbourTrial& trial);
// Where the model reads enclosing subgraphs.
[[nodiscard]] Explanation explainByEnclosing(const ServedRun& run, Edge pair,
                                             const NeighbourTrial& trial);

// What lies within the hops that an explanation names; none where it names none.
[[nodiscard]] std::optional<ExplainedSubgraph> subgraphAround(const ServedRun& run, Edge pair,
                                                              const Explanation& explanation);

}  // namespace edgewise::detail
