#include "edgewise/ops/node_degrees.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "edgewise/graph/csr_graph.h"

namespace edgewise {
namespace {

// A path 0 - 1 - 2 - 3 with 1 - 3 besides, and node 4 by itself.
std::vector<Edge> someEdges() {
  return {makeEdge(0, 1), makeEdge(1, 2), makeEdge(2, 3), makeEdge(1, 3)};
}

TEST(LogDegrees, CountWhomANodeHearsUnderEveryNorm) {
  for (const Norm norm : {Norm::kMean, Norm::kSymmetric, Norm::kSymmetricOpen}) {
    const auto plan = MessagePlan::make(CsrGraph::fromEdges(5, someEdges()), norm);
    const at::Tensor logs = logDegrees(*plan, at::kDouble);
    const std::vector<double> degrees = {1, 3, 2, 2, 0};
    const auto masked = plan->without(std::vector<Edge>{makeEdge(3, 1), makeEdge(0, 1)});
    const at::Tensor fewer = logDegrees(*masked, at::kDouble);
    const std::vector<double> left = {0, 1, 2, 1, 0};
    for (std::int64_t node = 0; node < 5; ++node) {
      const auto at = static_cast<std::size_t>(node);
      EXPECT_NEAR(logs[node].item<double>(), std::log1p(degrees[at]), 1e-12) << node;
      EXPECT_NEAR(fewer[node].item<double>(), std::log1p(left[at]), 1e-12) << node;
    }
  }
}

TEST(LogDegrees, AddUpTheWeightsOfMessages) {
  const std::vector<Edge> edges = {makeEdge(0, 1), makeEdge(1, 2)};
  const std::vector<float> weights = {2, 0.5F};
  const auto plan = MessagePlan::make(
      CsrGraph::fromEdges(3, edges, Direction::kUndirected, weights), Norm::kSymmetricOpen);
  const at::Tensor logs = logDegrees(*plan, at::kDouble);
  EXPECT_NEAR(logs[0].item<double>(), std::log1p(2), 1e-12);
  EXPECT_NEAR(logs[1].item<double>(), std::log1p(2.5), 1e-12);
  EXPECT_NEAR(logs[2].item<double>(), std::log1p(0.5), 1e-12);
}

TEST(LogDegrees, ComeInThePrecisionThatIsAskedFor) {
  const auto plan = MessagePlan::make(CsrGraph::fromEdges(5, someEdges()), Norm::kMean);
  EXPECT_EQ(logDegrees(*plan, at::kFloat).scalar_type(), at::kFloat);
  EXPECT_ANY_THROW((void)logDegrees(
      *MessagePlan::make(CsrGraph::fromEdges(5, someEdges()), Norm::kSum), at::kFloat));
  EXPECT_ANY_THROW((void)logDegrees(*plan->transposed(), at::kFloat));
}

}  // namespace
}  // namespace edgewise
