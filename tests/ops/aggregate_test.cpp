#include "edgewise/ops/aggregate.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "edgewise/util/parallel.h"
#include "edgewise/util/rng.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::expectFailure;

at::Tensor tensorOf(const nlohmann::json& rows) {
  if (rows.empty() || !rows.front().is_array()) {
    const auto values = rows.get<std::vector<double>>();
    return torch::tensor(values, torch::kDouble);
  }
  std::vector<double> values;
  for (const auto& row : rows) {
    for (const auto& value : row) {
      values.push_back(value.get<double>());
    }
  }
  const auto height = static_cast<std::int64_t>(rows.size());
  return torch::tensor(values, torch::kDouble).reshape({height, -1});
}

void expectClose(const at::Tensor& got, const at::Tensor& want, double tolerance) {
  ASSERT_EQ(got.sizes(), want.sizes());
  const double error = (got - want).norm().item<double>();
  const double size = want.norm().item<double>();
  EXPECT_LE(error, tolerance * std::max(size, 1e-300) + 1e-300) << "norm " << size;
}

CsrGraph graphOf(const nlohmann::json& golden) {
  std::vector<Edge> edges;
  for (const auto& edge : golden["edges"]) {
    edges.push_back(makeEdge(edge[0], edge[1]));
  }
  return CsrGraph::fromEdges(golden["nodes"].get<std::size_t>(), edges);
}

// A graph with repeats, loops and lonely nodes, by chance.
std::vector<Edge> randomEdges(std::uint64_t seed, std::uint32_t nodes, std::size_t count) {
  RngStream random(seed, "edges");
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < count; ++i) {
    edges.push_back(makeEdge(static_cast<std::uint32_t>(random.below(nodes)),
                             static_cast<std::uint32_t>(random.below(nodes))));
  }
  return edges;
}

// The operator as a dense matrix, written down from the definition.
at::Tensor denseOperator(const CsrGraph& graph, Norm norm) {
  const auto nodes = static_cast<std::int64_t>(graph.nodeCount());
  at::Tensor matrix = torch::zeros({nodes, nodes}, torch::kDouble);
  auto entries = matrix.accessor<double, 2>();
  for (std::int64_t u = 0; u < nodes; ++u) {
    const NodeId node{static_cast<std::uint32_t>(u)};
    for (std::size_t i = 0; i < graph.degree(node); ++i) {
      entries[u][index(graph.neighbours(node)[i])] +=
          graph.weighted() ? static_cast<double>(graph.weights(node)[i]) : 1.0;
    }
  }
  const at::Tensor degree = matrix.sum(1);
  if (norm == Norm::kMean) {
    return matrix * torch::where(degree > 0, 1 / degree, torch::zeros_like(degree)).unsqueeze(1);
  }
  if (norm == Norm::kSymmetric) {
    const at::Tensor scale = (degree + 1).rsqrt();
    return scale.unsqueeze(1) * (matrix + torch::eye(nodes, torch::kDouble)) * scale.unsqueeze(0);
  }
  return matrix;
}

constexpr std::array kNorms = {Norm::kSum, Norm::kMean, Norm::kSymmetric};

TEST(Aggregate, ReproducesThreeStackedConvolutionsAndTheirGradients) {
  const auto goldens =
      nlohmann::json::parse(std::ifstream(testing::testFile("golden/convolutions.json")));
  for (const auto& golden : goldens) {
    const bool gcn = golden["kind"] == "gcn";
    const auto plan = MessagePlan::make(graphOf(golden), gcn ? Norm::kSymmetric : Norm::kMean);
    const at::Tensor features = tensorOf(golden["features"]).requires_grad_();
    std::vector<std::pair<at::Tensor, at::Tensor>> weights;
    const auto weight = [&](const nlohmann::json& layer, const std::string& name) {
      at::Tensor value = tensorOf(layer[name]).requires_grad_();
      weights.emplace_back(value, tensorOf(layer["d_" + name]));
      return value;
    };
    at::Tensor x = features;
    at::Tensor total = torch::zeros({}, torch::kDouble);
    for (std::size_t k = 0; k < golden["layers"].size(); ++k) {
      const auto& layer = golden["layers"][k];
      at::Tensor out;
      if (gcn) {
        out =
            aggregate(plan, torch::matmul(x, weight(layer, "weight").t())) + weight(layer, "bias");
      } else {
        out = torch::matmul(aggregate(plan, x), weight(layer, "weight_neighbour").t()) +
              weight(layer, "bias") + torch::matmul(x, weight(layer, "weight_self").t());
      }
      expectClose(out, tensorOf(golden["outputs"][k]), 1e-9);
      total = total + (out * tensorOf(golden["cotangents"][k])).sum();
      x = out.relu();
    }
    total.backward();
    expectClose(features.grad(), tensorOf(golden["d_features"]), 1e-9);
    for (const auto& [value, gradient] : weights) {
      expectClose(value.grad(), gradient, 1e-9);
    }
  }
}

TEST(Aggregate, EqualsADenseProductForwardAndBackward) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    for (const Norm norm : kNorms) {
      for (const Direction direction : {Direction::kUndirected, Direction::kDirected}) {
        const auto nodes = static_cast<std::uint32_t>(1 + seed % 17);
        const std::vector<Edge> edges = randomEdges(seed, nodes, seed * 3);
        std::vector<float> weights;
        if (seed % 2 == 1) {
          for (std::size_t i = 0; i < edges.size(); ++i) {
            weights.push_back(0.5F + static_cast<float>(i % 5));
          }
        }
        const CsrGraph graph = CsrGraph::fromEdges(nodes, edges, direction, weights);
        torch::manual_seed(seed);
        const at::Tensor x = torch::randn({nodes, 5}, torch::kDouble).requires_grad_();
        const at::Tensor cotangent = torch::randn({nodes, 5}, torch::kDouble);
        const at::Tensor out = aggregate(MessagePlan::make(graph, norm), x);
        const at::Tensor matrix = denseOperator(graph, norm);
        expectClose(out, matrix.matmul(x), 1e-12);
        const at::Tensor gradient = torch::autograd::grad({out}, {x}, {cotangent})[0];
        expectClose(gradient, matrix.t().matmul(cotangent), 1e-12);
      }
    }
  }
}

TEST(Aggregate, MaskingEqualsAGraphWithoutThoseEdges) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    for (const Norm norm : kNorms) {
      for (const Direction direction : {Direction::kUndirected, Direction::kDirected}) {
        const std::vector<Edge> edges = randomEdges(seed, 20, 60);
        std::vector<Edge> kept;
        std::vector<Edge> masked = {makeEdge(0, 1)};  // may not be there at all
        for (const Edge& edge : edges) {
          const Edge key = direction == Direction::kUndirected ? canonical(edge) : edge;
          (edgeKey(key) % 3 == 0 ? masked : kept).push_back(edge);
        }
        std::erase_if(kept, [&](Edge edge) {
          return edge == masked[0] ||
                 (direction == Direction::kUndirected && reversed(edge) == masked[0]);
        });
        torch::manual_seed(seed);
        const at::Tensor x = torch::randn({20, 4}, torch::kDouble).requires_grad_();
        const at::Tensor cotangent = torch::randn({20, 4}, torch::kDouble);
        const auto whole = MessagePlan::make(CsrGraph::fromEdges(20, edges, direction), norm);
        const auto rebuilt = MessagePlan::make(CsrGraph::fromEdges(20, kept, direction), norm);
        const at::Tensor got = aggregate(whole->without(masked), x);
        const at::Tensor want = aggregate(rebuilt, x);
        EXPECT_TRUE(got.equal(want)) << "the same additions in the same order";
        EXPECT_TRUE(torch::autograd::grad({got}, {x}, {cotangent})[0].equal(
            torch::autograd::grad({want}, {x}, {cotangent})[0]));
      }
    }
  }
}

TEST(Aggregate, CanBeDifferentiatedTwice) {
  const auto plan =
      MessagePlan::make(CsrGraph::fromEdges(6, randomEdges(1, 6, 10)), Norm::kSymmetric);
  const at::Tensor matrix = denseOperator(plan->rows(), Norm::kSymmetric);
  torch::manual_seed(0);
  const at::Tensor x = torch::randn({6, 3}, torch::kDouble).requires_grad_();
  const at::Tensor v = torch::randn({6, 3}, torch::kDouble);
  const auto hessian_product = [&](const auto& apply) {
    const at::Tensor loss = apply(apply(x).pow(2)).pow(2).sum();
    const at::Tensor gradient = torch::autograd::grad({loss}, {x}, {}, true, true)[0];
    return torch::autograd::grad({(gradient * v).sum()}, {x})[0];
  };
  expectClose(hessian_product([&](const at::Tensor& y) { return aggregate(plan, y); }),
              hessian_product([&](const at::Tensor& y) { return matrix.matmul(y); }), 1e-12);
}

TEST(Aggregate, GivesTheSameBitsForAnyThreadCount) {
  const auto plan =
      MessagePlan::make(CsrGraph::fromEdges(5000, randomEdges(2, 5000, 60'000)), Norm::kSymmetric);
  torch::manual_seed(0);
  const at::Tensor x = torch::randn({5000, 32});
  setThreadCount(1);
  const at::Tensor serial = aggregate(plan, x);
  for (const int threads : {2, 3}) {
    setThreadCount(threads);
    EXPECT_TRUE(serial.equal(aggregate(plan, x)));
  }
  setThreadCount(0);
}

TEST(Aggregate, RefusesWhatDoesNotFit) {
  const auto plan = MessagePlan::make(CsrGraph::fromEdges(3, {}), Norm::kSum);
  expectFailure<ShapeError>([&] { (void)aggregate(plan, torch::zeros({4, 2})); }, "[3, width]");
  expectFailure<ShapeError>([&] { (void)aggregate(plan, torch::zeros({3})); }, "1 dimensions");
  expectFailure<ConfigError>([&] { (void)aggregate(plan, torch::zeros({3, 2}, torch::kInt)); },
                             "float or double");
  EXPECT_EQ(aggregate(plan, torch::zeros({3, 0})).size(1), 0);
}

}  // namespace
}  // namespace edgewise
