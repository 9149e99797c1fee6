// Enclosing subgraphs straight from their definition, by matrices and shortest paths between all
// pairs: slow, and nothing in common with how they are extracted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "edgewise/graph/csr_graph.h"
#include "edgewise/sampling/enclosing_subgraph.h"

namespace edgewise::testing {

using Ids = std::set<std::uint32_t>;
using IdPairs = std::set<std::pair<std::uint32_t, std::uint32_t>>;

// One subgraph by the ids of the whole graph; edges with the smaller id first.
struct PlainSubgraph {
  Ids nodes;
  IdPairs edges;
  std::map<std::uint32_t, std::vector<std::uint32_t>> labels;
  friend bool operator==(const PlainSubgraph&, const PlainSubgraph&) = default;
};

// What a batch says about one of its pairs.
inline PlainSubgraph plainSubgraph(const SubgraphBatch& batch, std::size_t pair) {
  PlainSubgraph plain;
  const std::size_t first = batch.node_offsets[pair];
  for (std::size_t k = first; k < batch.node_offsets[pair + 1]; ++k) {
    const std::uint32_t id = index(batch.nodes[k]);
    plain.nodes.insert(id);
    const auto labels = batch.labels.begin() + static_cast<std::ptrdiff_t>(k * batch.label_width);
    plain.labels[id].assign(labels, labels + static_cast<std::ptrdiff_t>(batch.label_width));
    for (const NodeId neighbour : batch.graph.neighbours(NodeId{static_cast<std::uint32_t>(k)})) {
      plain.edges.insert(std::minmax(id, index(batch.nodes.at(index(neighbour)))));
    }
  }
  return plain;
}

class SubgraphOracle {
 public:
  SubgraphOracle(const CsrGraph& graph, Edge pair)
      : size_(graph.nodeCount()), u_(index(pair.src)), v_(index(pair.dst)) {
    for (std::uint32_t a = 0; a < size_; ++a) {
      for (std::uint32_t b = 0; b < size_; ++b) {
        const bool target = std::minmax(a, b) == std::minmax(u_, v_);
        if (!target && graph.hasEdge(NodeId{a}, NodeId{b})) {
          edges_.insert(std::minmax(a, b));
        }
      }
    }
  }

  [[nodiscard]] PlainSubgraph subgraph(HopView view, const LabelOptions& options) const {
    PlainSubgraph plain;
    const Matrix whole = distances(allNodes(), edges_);
    for (const std::uint32_t node : allNodes()) {
      if (whole[u_][node] <= view.source || whole[v_][node] <= view.target) {
        plain.nodes.insert(node);
      }
    }
    for (const auto& [a, b] : edges_) {
      if (plain.nodes.contains(a) && plain.nodes.contains(b)) {
        plain.edges.insert({a, b});
      }
    }
    label(plain, options);
    return plain;
  }

 private:
  using Matrix = std::vector<std::vector<std::size_t>>;
  static constexpr std::size_t kFar = 1'000'000;

  [[nodiscard]] Ids allNodes() const {
    Ids all;
    for (std::uint32_t node = 0; node < size_; ++node) {
      all.insert(node);
    }
    return all;
  }

  // Floyd and Warshall, among `nodes` alone.
  [[nodiscard]] Matrix distances(const Ids& nodes, const IdPairs& edges) const {
    Matrix far(size_, std::vector<std::size_t>(size_, kFar));
    for (const auto& [a, b] : edges) {
      if (nodes.contains(a) && nodes.contains(b)) {
        far[a][b] = far[b][a] = 1;
      }
    }
    for (const std::uint32_t node : nodes) {
      far[node][node] = 0;
    }
    for (const std::uint32_t middle : nodes) {
      for (const std::uint32_t a : nodes) {
        for (const std::uint32_t b : nodes) {
          far[a][b] = std::min(far[a][b], far[a][middle] + far[middle][b]);
        }
      }
    }
    return far;
  }

  // The labels 1 for the ends, then 2, 3, ... in the order of d_u + d_v and then of the smaller
  // one: the table that the formula of double-radius labels is a short way to write.
  static std::uint32_t doubleRadius(std::size_t to_u, std::size_t to_v) {
    std::uint32_t label = 1;
    for (std::size_t sum = 2; sum <= to_u + to_v; ++sum) {
      for (std::size_t smaller = 1; 2 * smaller <= sum; ++smaller) {
        ++label;
        if (sum == to_u + to_v && smaller == std::min(to_u, to_v)) {
          return label;
        }
      }
    }
    return label;
  }

  void label(PlainSubgraph& plain, const LabelOptions& options) const {
    const Matrix full = distances(plain.nodes, plain.edges);
    Ids without_v = plain.nodes;
    Ids without_u = plain.nodes;
    without_v.erase(v_);
    without_u.erase(u_);
    const Matrix to_u = distances(without_v, plain.edges);
    const Matrix to_v = distances(without_u, plain.edges);
    const auto capped = [&](std::size_t distance) {
      return distance >= kFar ? options.max_distance + 1
                              : static_cast<std::uint32_t>(
                                    std::min<std::size_t>(distance, options.max_distance));
    };
    for (const std::uint32_t node : plain.nodes) {
      const bool end = node == u_ || node == v_;
      if (options.labelling == NodeLabelling::kZeroOne || end) {
        plain.labels[node] = {end ? 1U : 0U};
      } else {
        const bool linked = to_u[u_][node] < kFar && to_v[v_][node] < kFar;
        plain.labels[node] = {
            linked ? std::min(doubleRadius(to_u[u_][node], to_v[v_][node]), options.max_label) : 0};
      }
      if (options.labelling == NodeLabelling::kDistances) {
        plain.labels[node] = {capped(full[u_][node]), capped(full[v_][node])};
      }
    }
  }

  std::size_t size_;
  std::uint32_t u_;
  std::uint32_t v_;
  IdPairs edges_;
};

}  // namespace edgewise::testing
