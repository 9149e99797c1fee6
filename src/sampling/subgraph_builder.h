// Makes enclosing subgraphs one after another. Its memory is kept, so that a subgraph costs what it
// touches and allocates nothing once the largest has been seen.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "edgewise/graph/bfs.h"
#include "edgewise/graph/csr_graph.h"
#include "edgewise/graph/types.h"
#include "edgewise/sampling/enclosing_subgraph.h"
#include "edgewise/util/rng.h"
#include "sampling/row_bits.h"
#include "sampling/subgraph_labeller.h"

namespace edgewise::detail {

// Subgraphs of consecutive pairs, one after another. Neighbours are places 0..n-1 among the nodes
// of their own pair, ascending in each row.
struct SubgraphPiece {
  std::vector<std::uint32_t> node_counts;
  std::vector<NodeId> nodes;
  std::vector<std::uint32_t> labels;
  std::vector<std::uint32_t> row_sizes;
  std::vector<std::uint32_t> neighbours;
};

class SubgraphBuilder {
 public:
  // `bits`: of the graph's rows, where there are any.
  SubgraphBuilder(const CsrGraph& graph, const ExtractionOptions& options,
                  std::shared_ptr<const RowBits> bits);

  // Appends the subgraph of a pair of two different nodes of the graph.
  void append(Edge pair, HopView view, SubgraphPiece& piece);

 private:
  struct Lot {
    std::uint64_t number;
    NodeId node;
    friend auto operator<=>(const Lot&, const Lot&) = default;
  };

  void gatherNodes(Edge pair, HopView view);
  void gatherBall(NodeId center, std::uint32_t hops, Edge pair);
  void admit(NodeId node);
  std::size_t thinHop(std::span<NodeId> hop, std::uint64_t pair_key);
  void gatherRows(Edge pair);
  void gatherRow(NodeId node);
  // Whether asking for every two nodes is less than reading all rows.
  [[nodiscard]] bool bitsPay() const;
  // All rows, already in the order in which they are appended.
  void gatherRowsByBits();
  void makeRoom(std::size_t entries);
  // As if there were no edge between the two.
  void gatherRowWithout(NodeId node, NodeId hidden);
  void appendRows(SubgraphPiece& piece);

  const CsrGraph* graph_;
  ExtractionOptions options_;
  CounterRng lots_;
  BfsWorkspace bfs_;
  SubgraphLabeller labeller_;
  // The subgraph's nodes, and the place of each of the graph's nodes among them.
  std::vector<NodeId> members_;
  std::vector<std::uint32_t> places_;
  std::shared_ptr<const RowBits> bits_;
  // Whether the rows at hand came from bits.
  bool by_bits_ = false;
  // Its rows, each in the order of the graph's unless they are read as bits; `neighbours_` is
  // longer than what is in use.
  std::vector<std::uint64_t> row_ends_;
  std::vector<std::uint32_t> neighbours_;
  std::vector<std::uint64_t> cursors_;
  std::vector<Lot> hop_lots_;
  std::vector<Lot> best_lots_;
};

}  // namespace edgewise::detail
