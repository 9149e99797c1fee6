// What a pair of nodes sees of the graph around it: the subgraph that SEAL (Zhang and Chen 2018)
// classifies to tell whether the pair is linked. Of a pair (u, v) with view (i, j) these are the
// nodes at most i hops from u or at most j hops from v, and every edge between them, in the graph
// without the edge u - v itself: what is to be predicted is never shown.
//
// A batch of pairs becomes one graph that holds their subgraphs side by side, ready for the kernels
// that read a CsrGraph. A batch is a function of graph, pairs, views and options alone, so it may
// be made ahead of time, made again, or kept.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "edgewise/graph/csr_graph.h"
#include "edgewise/graph/types.h"
#include "edgewise/sampling/node_labels.h"
#include "edgewise/util/scratch_pool.h"

namespace edgewise {

namespace detail {
class SubgraphBuilder;
class SubgraphStore;
}  // namespace detail

// How many hops a pair looks around its source and around its target.
struct HopView {
  std::uint32_t source = 1;
  std::uint32_t target = 1;
  friend constexpr auto operator<=>(const HopView&, const HopView&) = default;
};

// Thins out every hop of every ball by lot. The lots belong to (seed, pair, node): they do not
// depend on the order of the two ends, and a node that both balls reach draws one lot for both.
// Neither end is ever lost, but a ball grows through the other end only if that stays.
struct HopSampling {
  // Share of a hop that stays, rounded, at least one node. In (0, 1].
  double ratio = 1.0;
  // The most nodes of a hop that stay; applied after the ratio. At least 1.
  std::size_t max_nodes = std::numeric_limits<std::size_t>::max();
  std::uint64_t seed = 0;
};

// Where subgraphs are kept between uses, in a file of a graph and its options each.
struct SubgraphStoring {
  // None: nowhere.
  std::filesystem::path folder = {};
  // The most that a file grows to.
  std::uint64_t most_bytes = std::uint64_t{8} << 30;
};

struct ExtractionOptions {
  LabelOptions labels = {};
  HopSampling sampling = {};
  SubgraphStoring store = {};
};

// Subgraphs of consecutive pairs. In each subgraph the pair's source comes first, then its target,
// then the other nodes of the source's ball and then what the target's ball adds, both by distance
// and then by order of discovery (BfsWorkspace).
struct SubgraphBatch {
  // Where each pair's nodes begin, with the number of all nodes at the end.
  std::vector<std::uint64_t> node_offsets = {0};
  // The nodes' ids in the graph they come from.
  std::vector<NodeId> nodes;
  // label_width numbers a node, node after node.
  std::vector<std::uint32_t> labels;
  std::size_t label_width = 1;
  // Undirected and without weights. Node k of it is nodes[k]; no edge leaves a pair's own nodes.
  CsrGraph graph;

  [[nodiscard]] std::size_t pairCount() const { return node_offsets.size() - 1; }
  [[nodiscard]] std::size_t nodeCount(std::size_t pair) const {
    return node_offsets[pair + 1] - node_offsets[pair];
  }
  [[nodiscard]] std::span<const NodeId> nodesOf(std::size_t pair) const {
    return std::span(nodes).subspan(node_offsets[pair], nodeCount(pair));
  }
  [[nodiscard]] std::span<const std::uint32_t> labelsOf(std::size_t pair) const {
    return std::span(labels).subspan(node_offsets[pair] * label_width,
                                     nodeCount(pair) * label_width);
  }
};

// Extracts subgraphs of one graph. Refers to the graph, which must outlive it. Keeps memory in
// proportion to the graph's nodes for every thread that was ever busy at once; a batch takes up to
// twice its own size while it is made.
class SubgraphExtractor {
 public:
  // Throws ShapeError for a directed graph, ConfigError for sampling options outside their bounds,
  // ResourceError where subgraphs are to be kept and cannot be.
  explicit SubgraphExtractor(const CsrGraph& graph, const ExtractionOptions& options = {});
  SubgraphExtractor(const SubgraphExtractor&) = delete;
  SubgraphExtractor& operator=(const SubgraphExtractor&) = delete;
  SubgraphExtractor(SubgraphExtractor&&) noexcept;
  SubgraphExtractor& operator=(SubgraphExtractor&&) noexcept;
  ~SubgraphExtractor();

  // One view for each pair; pairs need not be edges. The same batch for any number of threads, and
  // safe to call from several at once. Throws ShapeError when there are not as many views as pairs,
  // for a pair of a node with itself or a node outside the graph; ResourceError when a batch has
  // more nodes than a graph can have. With a store, subgraphs that are in it are read, and those of
  // the first `kept` pairs that are not are added.
  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  [[nodiscard]] SubgraphBatch extract(std::span<const Edge> pairs, std::span<const HopView> views,
                                      std::size_t kept = kAll) const;
  // The same view for all.
  [[nodiscard]] SubgraphBatch extract(std::span<const Edge> pairs, HopView view) const;

  [[nodiscard]] const ExtractionOptions& options() const { return options_; }

 private:
  const CsrGraph* graph_;
  ExtractionOptions options_;
  std::unique_ptr<ScratchPool<detail::SubgraphBuilder>> builders_;
  std::unique_ptr<detail::SubgraphStore> store_;
};

}  // namespace edgewise
