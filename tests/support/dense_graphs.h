// Message passing as dense matrices, written down from lists of edges: what sparse kernels and
// models are compared with. Also the golden convolutions.
#pragma once

#include <ATen/ATen.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "edgewise/graph/csr_graph.h"
#include "edgewise/graph/types.h"
#include "edgewise/ops/message_plan.h"
#include "edgewise/util/rng.h"
#include "support/test_support.h"

namespace edgewise::testing {

// A graph as a list, in which loops, repeats and lonely nodes may occur.
struct EdgeCase {
  std::size_t nodes = 0;
  std::vector<Edge> edges = {};
  Direction direction = Direction::kUndirected;
  // Quarters, whose sums are exact in any precision and order; empty: unweighted.
  std::vector<float> weights = {};

  [[nodiscard]] CsrGraph graph() const {
    return CsrGraph::fromEdges(nodes, edges, direction, weights);
  }
};

inline EdgeCase randomCase(std::uint64_t seed, std::uint32_t nodes, std::size_t count,
                           Direction direction = Direction::kUndirected, bool weighted = false) {
  RngStream random(seed, "edge case");
  EdgeCase result{.nodes = nodes, .edges = {}, .direction = direction, .weights = {}};
  for (std::size_t i = 0; i < count; ++i) {
    result.edges.push_back(makeEdge(static_cast<std::uint32_t>(random.below(nodes)),
                                    static_cast<std::uint32_t>(random.below(nodes))));
    if (weighted) {
      result.weights.push_back(0.25F * static_cast<float>(1 + random.below(12)));
    }
  }
  return result;
}

// One entry an edge, 1 or the sum of the weights of its repeats; both ways when undirected. Edges
// of `masked` are left out.
inline at::Tensor denseAdjacency(const EdgeCase& from, std::span<const Edge> masked = {}) {
  const auto nodes = static_cast<std::int64_t>(from.nodes);
  at::Tensor matrix = at::zeros({nodes, nodes}, at::TensorOptions(at::kDouble));
  auto entries = matrix.accessor<double, 2>();
  const bool both_ways = from.direction == Direction::kUndirected;
  for (std::size_t i = 0; i < from.edges.size(); ++i) {
    const auto [u, v] = from.edges[i];
    const auto enter = [&](NodeId row, NodeId column) {
      double& entry = entries[index(row)][index(column)];
      entry = from.weights.empty() ? 1.0 : entry + static_cast<double>(from.weights[i]);
    };
    enter(u, v);
    if (both_ways && u != v) {
      enter(v, u);
    }
  }
  for (const auto& [u, v] : masked) {
    entries[index(u)][index(v)] = 0;
    if (both_ways) {
      entries[index(v)][index(u)] = 0;
    }
  }
  return matrix;
}

inline at::Tensor denseOperator(const at::Tensor& adjacency, Norm norm) {
  const at::Tensor degree = adjacency.sum(1);
  if (norm == Norm::kMean) {
    const at::Tensor scale = at::where(degree > 0, 1 / degree, at::zeros_like(degree));
    return scale.unsqueeze(1) * adjacency;
  }
  if (norm == Norm::kSymmetricOpen) {
    const at::Tensor scale = at::where(degree > 0, degree.rsqrt(), at::zeros_like(degree));
    return scale.unsqueeze(1) * adjacency * scale.unsqueeze(0);
  }
  if (norm == Norm::kSymmetric) {
    const at::Tensor scale = (degree + 1).rsqrt();
    const at::Tensor loops = at::eye(adjacency.size(0), adjacency.options());
    return scale.unsqueeze(1) * (adjacency + loops) * scale.unsqueeze(0);
  }
  return adjacency;
}

// A list of numbers or of rows.
inline at::Tensor tensorOf(const nlohmann::json& rows) {
  const bool matrix = !rows.empty() && rows.front().is_array();
  std::vector<double> values;
  for (const auto& row : rows) {
    for (const auto& value : matrix ? row : nlohmann::json::array({row})) {
      values.push_back(value.get<double>());
    }
  }
  const at::Tensor flat = at::tensor(values, at::TensorOptions(at::kDouble));
  return matrix ? flat.reshape({static_cast<std::int64_t>(rows.size()), -1}) : flat;
}

inline nlohmann::json goldenConvolutions() {
  return nlohmann::json::parse(std::ifstream(testFile("golden/convolutions.json")));
}

// As the golden files ask for: the error's norm against the wanted one's.
inline void expectGolden(const at::Tensor& got, const at::Tensor& want) {
  ASSERT_EQ(got.sizes(), want.sizes());
  const double size = want.norm().item<double>();
  EXPECT_LE((got - want).norm().item<double>(), 1e-9 * size + 1e-300) << "norm " << size;
}

inline EdgeCase goldenCase(const nlohmann::json& golden) {
  EdgeCase result{.nodes = golden["nodes"].get<std::size_t>(),
                  .edges = {},
                  .direction = Direction::kUndirected,
                  .weights = {}};
  for (const auto& edge : golden["edges"]) {
    result.edges.push_back(makeEdge(edge[0], edge[1]));
  }
  return result;
}

}  // namespace edgewise::testing
