#include "edgewise/ops/leading_vectors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>
#include <vector>

#include "edgewise/graph/csr_graph.h"
#include "edgewise/ops/aggregate.h"
#include "support/dense_graphs.h"
#include "support/tensors.h"

namespace edgewise {
namespace {

using testing::EdgeCase;
using testing::expectClose;
using testing::randomCase;

std::shared_ptr<const MessagePlan> planOf(const EdgeCase& graph, Norm norm = Norm::kSymmetricOpen) {
  return MessagePlan::make(graph.graph(), norm);
}

// Three groups of nodes whose edges stay inside but for one in twenty.
EdgeCase groups(std::uint32_t nodes, std::size_t edges) {
  RngStream random(5, "groups");
  EdgeCase graph{.nodes = nodes};
  for (std::size_t i = 0; i < edges; ++i) {
    const auto a = static_cast<std::uint32_t>(random.below(nodes));
    auto b = static_cast<std::uint32_t>(random.below(nodes));
    if (random.below(20) != 0) {
      b = b - b % 3 + a % 3;
    }
    if (b < nodes && a != b) {
      graph.edges.push_back(makeEdge(a, b));
    }
  }
  return graph;
}

TEST(LeadingVectors, OfAStarFollowItsDegrees) {
  // A centre with three leaves: eigenvalues 1, 0, 0, -1; the first vector goes by sqrt(degree).
  const EdgeCase star{.nodes = 4, .edges = {makeEdge(0, 1), makeEdge(0, 2), makeEdge(0, 3)}};
  const LeadingVectors leading = leadingVectors(planOf(star), 4, 1);
  expectClose(leading.values, at::tensor({1.0, 0.0, 0.0, -1.0}, at::kDouble), 1e-12);
  const at::Tensor first = leading.vectors.select(1, 0);
  expectClose(first / first[0],
              at::tensor({1.0, 1 / std::sqrt(3), 1 / std::sqrt(3), 1 / std::sqrt(3)}, at::kDouble),
              1e-12);
}

TEST(LeadingVectors, AreThoseOfTheDenseMatrix) {
  const EdgeCase graph = groups(400, 3000);
  for (const Norm norm : {Norm::kSymmetricOpen, Norm::kSymmetric}) {
    const auto plan = planOf(graph, norm);
    const at::Tensor dense = aggregate(plan, at::eye(400, at::kDouble));
    const auto all = std::get<0>(at::linalg_eigh(dense)).flip(0);
    const LeadingVectors leading = leadingVectors(plan, 12, 1);
    expectClose(leading.values, all.narrow(0, 0, 12), 1e-3);
    // The groups stand out; what lies within the bulk is only near.
    expectClose(leading.values.narrow(0, 0, 3), all.narrow(0, 0, 3), 1e-10);
    const at::Tensor first = leading.vectors.narrow(1, 0, 3);
    expectClose(dense.matmul(first), first * leading.values.narrow(0, 0, 3), 1e-9);
    expectClose(leading.vectors.t().matmul(leading.vectors), at::eye(12, at::kDouble), 1e-10);
  }
}

TEST(LeadingVectors, TellGroupsApart) {
  const EdgeCase graph = groups(600, 6000);
  const at::Tensor rows = leadingVectors(planOf(graph), 3, 2).vectors;
  const at::Tensor unit = rows / rows.norm(2, 1, true);
  const at::Tensor alike = unit.matmul(unit.t());
  for (std::int64_t node = 3; node < 30; ++node) {
    const double own = alike[node][node % 3].item<double>();
    EXPECT_GT(own, alike[node][(node + 1) % 3].item<double>() + 0.5) << node;
    EXPECT_GT(own, alike[node][(node + 2) % 3].item<double>() + 0.5) << node;
  }
}

TEST(LeadingVectors, LeaveLonelyNodesOut) {
  EdgeCase graph = groups(90, 600);
  graph.nodes = 95;
  const LeadingVectors leading = leadingVectors(planOf(graph), 5, 1);
  EXPECT_LT(leading.vectors.narrow(0, 90, 5).abs().max().item<double>(), 1e-7);
  EXPECT_NEAR(leading.values[0].item<double>(), 1, 1e-10);
}

TEST(LeadingVectors, OfAGraphWithFewNodesAreAllThereAre) {
  const EdgeCase graph{.nodes = 3, .edges = {makeEdge(0, 1), makeEdge(1, 2)}};
  const LeadingVectors leading = leadingVectors(planOf(graph), 64, 1);
  EXPECT_EQ(leading.vectors.sizes(), at::IntArrayRef({3, 3}));
  expectClose(leading.values, at::tensor({1.0, 0.0, -1.0}, at::kDouble), 1e-12);
  const LeadingVectors none = leadingVectors(planOf({.nodes = 40}), 8, 1);
  EXPECT_EQ(none.vectors.sizes(), at::IntArrayRef({40, 8}));
  EXPECT_EQ(none.values.abs().max().item<double>(), 0);
}

// Most of a random graph's eigenvalues lie close together: whatever basis of them comes out has to
// be one, and nearly invariant.
TEST(LeadingVectors, AreABasisWhereNothingStandsOut) {
  const auto plan = planOf(randomCase(3, 500, 4000));
  const LeadingVectors leading = leadingVectors(plan, 40, 7);
  expectClose(leading.vectors.t().matmul(leading.vectors), at::eye(40, at::kDouble), 1e-10);
  const at::Tensor residual = aggregate(plan, leading.vectors) - leading.vectors * leading.values;
  EXPECT_LT(residual.norm(2, 0).max().item<double>(), 0.1);
}

TEST(LeadingVectors, HaveTheSameBitsForAnyNumberOfThreads) {
  const auto plan = planOf(groups(1500, 9000));
  testing::expectSameBitsForThreads([&] {
    const LeadingVectors leading = leadingVectors(plan, 24, 1);
    return testing::Tensors{leading.vectors, leading.values};
  });
}

}  // namespace
}  // namespace edgewise
