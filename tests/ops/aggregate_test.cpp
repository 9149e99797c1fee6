#include "edgewise/ops/aggregate.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "edgewise/ops/view_pairs.h"
#include "support/dense_graphs.h"
#include "support/random_graphs.h"
#include "support/tensors.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::denseAdjacency;
using testing::denseOperator;
using testing::EdgeCase;
using testing::expectFailure;
using testing::expectGolden;
using testing::expectSameBitsForThreads;
using testing::expectSameDerivatives;
using testing::randomCase;
using testing::randomLeaf;
using testing::sameBits;
using testing::tensorOf;
using testing::Tensors;

constexpr std::array kNorms = {Norm::kSum, Norm::kMean, Norm::kSymmetric, Norm::kSymmetricOpen};
constexpr std::array kDirections = {Direction::kUndirected, Direction::kDirected};

// aggregate() over the plan against the dense matrix: values, first and second derivatives.
void expectSameOperator(const std::shared_ptr<const MessagePlan>& plan, const at::Tensor& matrix,
                        std::int64_t width) {
  const Tensors x = {randomLeaf({matrix.size(0), width}, 7)};
  expectSameDerivatives([&](const Tensors& in) { return Tensors{aggregate(plan, in[0])}; },
                        [&](const Tensors& in) { return Tensors{matrix.matmul(in[0])}; }, x);
}

TEST(Aggregate, ReproducesThreeStackedConvolutionsAndTheirGradients) {
  for (const auto& golden : testing::goldenConvolutions()) {
    const bool gcn = golden["kind"] == "gcn";
    const auto plan = MessagePlan::make(testing::goldenCase(golden).graph(),
                                        gcn ? Norm::kSymmetric : Norm::kMean);
    Tensors leaves = {tensorOf(golden["features"]).set_requires_grad(true)};
    Tensors wanted = {tensorOf(golden["d_features"])};
    const auto weight = [&](const nlohmann::json& layer, const std::string& name) {
      wanted.push_back(tensorOf(layer["d_" + name]));
      leaves.push_back(tensorOf(layer[name]).set_requires_grad(true));
      return leaves.back();
    };
    at::Tensor x = leaves[0];
    at::Tensor total = at::zeros({}, x.options().requires_grad(false));
    for (std::size_t k = 0; k < golden["layers"].size(); ++k) {
      const auto& layer = golden["layers"][k];
      at::Tensor out;
      if (gcn) {
        out = aggregate(plan, at::matmul(x, weight(layer, "weight").t())) + weight(layer, "bias");
      } else {
        out = at::matmul(aggregate(plan, x), weight(layer, "weight_neighbour").t()) +
              weight(layer, "bias") + at::matmul(x, weight(layer, "weight_self").t());
      }
      expectGolden(out, tensorOf(golden["outputs"][k]));
      total = total + (out * tensorOf(golden["cotangents"][k])).sum();
      x = out.relu();
    }
    const Tensors got = gradients(total, leaves);
    for (std::size_t i = 0; i < got.size(); ++i) {
      expectGolden(got[i], wanted[i]);
    }
  }
}

TEST(Aggregate, EqualsADenseProductWithItsDerivatives) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    for (const Norm norm : kNorms) {
      for (const Direction direction : kDirections) {
        const auto nodes = static_cast<std::uint32_t>(1 + seed % 17);
        const EdgeCase edges = randomCase(seed, nodes, seed * 3, direction, seed % 2 == 1);
        expectSameOperator(MessagePlan::make(edges.graph(), norm),
                           denseOperator(denseAdjacency(edges), norm), 5);
      }
    }
  }
}

// Columns are summed in strips of 128, 64, 32, 16 and what is left.
TEST(Aggregate, EqualsAMaskedDenseProductAtEveryWidth) {
  for (const std::int64_t width : {1, 3, 15, 16, 17, 32, 48, 64, 100, 130, 256}) {
    for (const Norm norm : kNorms) {
      for (const Direction direction : kDirections) {
        for (const bool weighted : {false, true}) {
          const EdgeCase edges = randomCase(3, 23, 90, direction, weighted);
          std::vector<Edge> masked(edges.edges.begin(), edges.edges.begin() + 30);
          masked.push_back(masked[4]);            // twice
          masked.push_back(reversed(masked[5]));  // the other way round
          masked.push_back(makeEdge(22, 22));     // perhaps not there
          SCOPED_TRACE(width);
          expectSameOperator(MessagePlan::make(edges.graph(), norm)->without(masked),
                             denseOperator(denseAdjacency(edges, masked), norm), width);
        }
      }
    }
  }
}

TEST(Aggregate, MaskingEqualsAGraphWithoutThoseEdgesToTheBit) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    for (const Norm norm : kNorms) {
      for (const Direction direction : kDirections) {
        const EdgeCase whole = randomCase(seed, 20, 60, direction);
        EdgeCase kept = whole;
        std::vector<Edge> masked = {makeEdge(0, 1)};  // may not be there at all
        const auto goes = [&](Edge edge) {
          const Edge key = direction == Direction::kUndirected ? canonical(edge) : edge;
          return key == makeEdge(0, 1) || edgeKey(key) % 3 == 0;
        };
        std::ranges::copy_if(whole.edges, std::back_inserter(masked), goes);
        std::erase_if(kept.edges, goes);
        const at::Tensor x = randomLeaf({20, 4}, seed);
        const at::Tensor got =
            aggregate(MessagePlan::make(whole.graph(), norm)->without(masked), x);
        const at::Tensor want = aggregate(MessagePlan::make(kept.graph(), norm), x);
        EXPECT_TRUE(sameBits(got, want)) << "the same additions in the same order";
        const Tensors leaves = {x};
        EXPECT_TRUE(sameBits(gradients(testing::probe({got}), leaves)[0],
                             gradients(testing::probe({want}), leaves)[0]));
      }
    }
  }
}

TEST(Aggregate, MaskingEverythingOrNothing) {
  for (const Norm norm : kNorms) {
    const EdgeCase edges = randomCase(4, 9, 30);
    const auto plan = MessagePlan::make(edges.graph(), norm);
    expectSameOperator(plan->without({}), denseOperator(denseAdjacency(edges), norm), 3);
    const std::vector<Edge> elsewhere = {makeEdge(9, 0), makeEdge(0, 9), makeEdge(1 << 30, 7)};
    expectSameOperator(plan->without(elsewhere), denseOperator(denseAdjacency(edges), norm), 3);
    expectSameOperator(plan->without(edges.edges),
                       denseOperator(denseAdjacency(edges, edges.edges), norm), 3);
  }
}

TEST(Aggregate, GivesTheSameBitsForAnyThreadCount) {
  const EdgeCase edges = randomCase(2, 5000, 60'000, Direction::kDirected, true);
  const auto plan = MessagePlan::make(edges.graph(), Norm::kSymmetric)
                        ->without(std::span(edges.edges).first(5000));
  const auto unmasked = MessagePlan::make(randomCase(6, 5000, 60'000).graph(), Norm::kSymmetric);
  for (const auto& each : {plan, unmasked}) {
    expectSameBitsForThreads([&](const Tensors& in) { return Tensors{aggregate(each, in[0])}; },
                             {randomLeaf({5000, 64}, 1, at::kFloat)});
  }
}

TEST(Aggregate, SumsWideTablesAsNarrowOnes) {
  // Rows of the wide one are asked for ahead; whatever was masked or weighed, also across the ends
  // of rows and of the whole table.
  for (const bool weighted : {false, true}) {
    const EdgeCase edges = randomCase(3, 5000, 30'000, Direction::kUndirected, weighted);
    for (const Norm norm : kNorms) {
      const auto whole = MessagePlan::make(edges.graph(), norm);
      for (const auto& plan : {whole, whole->without(std::span(edges.edges).first(3000))}) {
        const at::Tensor x = testing::randomTensor({5000, 64}, 4).to(at::kFloat);
        const at::Tensor wide = aggregate(plan, x);
        for (std::int64_t first = 0; first < 64; first += 16) {
          const at::Tensor narrow = aggregate(plan, x.narrow(1, first, 16));
          EXPECT_TRUE(sameBits(wide.narrow(1, first, 16).contiguous(), narrow));
        }
      }
    }
  }
}

// Pairs among which some nodes are often an end and most never.
std::shared_ptr<const PairIndex> someEnds(std::size_t nodes) {
  std::vector<Edge> pairs = testing::randomPairs(nodes, nodes / 8, 6);
  for (std::uint32_t i = 0; i < 5; ++i) {
    pairs.push_back(makeEdge(0, i * i % static_cast<std::uint32_t>(nodes)));
  }
  return PairIndex::make(pairs, nodes);
}

at::Tensor rowsAtEnds(const at::Tensor& x, const PairIndex& pairs) {
  return x.index_select(0, pairs.ends(at::kCPU).reshape({-1}).to(at::kLong));
}

// The sum over k of weights[k] times k products with the matrix.
at::Tensor densePropagation(const at::Tensor& matrix, const at::Tensor& x,
                            const std::vector<double>& weights) {
  at::Tensor y = x;
  at::Tensor sum = weights[0] * x;
  for (std::size_t k = 1; k < weights.size(); ++k) {
    y = matrix.matmul(y);
    sum = sum + weights[k] * y;
  }
  return sum;
}

const std::vector<std::vector<double>> kLayerWeights = {
    {0.5}, {0.5, 0.25}, {0.1, -0.7, 0.4}, {0, 0, 0.6, 0.2}, {0.3, 0.2, 0}};

TEST(AggregateEnds, AreTheDenseRowsWithTheirDerivatives) {
  for (const Norm norm : kNorms) {
    for (const Direction direction : kDirections) {
      for (const bool weighted : {false, true}) {
        const EdgeCase edges = randomCase(3, 23, 90, direction, weighted);
        const std::span<const Edge> masked = std::span(edges.edges).first(30);
        const auto plan = MessagePlan::make(edges.graph(), norm)->without(masked);
        const at::Tensor matrix = denseOperator(denseAdjacency(edges, masked), norm);
        const auto pairs = someEnds(23);
        const Tensors x = {randomLeaf({23, 19}, 7)};
        expectSameDerivatives(
            [&](const Tensors& in) { return Tensors{aggregateEnds(plan, in[0], pairs)}; },
            [&](const Tensors& in) { return Tensors{rowsAtEnds(matrix.matmul(in[0]), *pairs)}; },
            x);
        for (const std::vector<double>& weights : kLayerWeights) {
          SCOPED_TRACE(weights.size());
          expectSameDerivatives(
              [&](const Tensors& in) {
                return Tensors{propagateEnds(plan, in[0], weights, pairs)};
              },
              [&](const Tensors& in) {
                return Tensors{rowsAtEnds(densePropagation(matrix, in[0], weights), *pairs)};
              },
              x);
        }
      }
    }
  }
}

TEST(AggregateEnds, HaveTheBitsOfTheWhole) {
  // Wide enough for rows to be asked for ahead. A way back from few nodes leaves out what is 0.
  const EdgeCase edges = randomCase(6, 5000, 60'000);
  const auto whole = MessagePlan::make(edges.graph(), Norm::kSymmetric);
  const auto pairs = someEnds(5000);
  const std::vector<double> weights = {0.25, 0.25, 0.25, 0.25};
  for (const auto& plan : {whole, whole->without(std::span(edges.edges).first(5000))}) {
    const Tensors x = {randomLeaf({5000, 80}, 1, at::kFloat)};
    const auto expectSame = [&](const at::Tensor& ends, const at::Tensor& all) {
      const at::Tensor rows = gatherEnd(all, pairs, PairEnd::kBoth);
      EXPECT_TRUE(sameBits(ends, rows));
      EXPECT_TRUE(sameBits(gradients(testing::probe({ends}), x)[0],
                           gradients(testing::probe({rows}), x)[0]));
    };
    expectSame(aggregateEnds(plan, x[0], pairs), aggregate(plan, x[0]));
    expectSame(propagateEnds(plan, x[0], weights, pairs), propagate(plan, x[0], weights));
    expectSameBitsForThreads(
        [&](const Tensors& in) {
          return Tensors{aggregateEnds(plan, in[0], pairs),
                         propagateEnds(plan, in[0], weights, pairs)};
        },
        x);
  }
}

TEST(AggregateEnds, RefusesPairsOfOtherNodes) {
  const auto plan = MessagePlan::make(randomCase(5, 12, 40).graph(), Norm::kSymmetric);
  const at::Tensor x = randomLeaf({12, 3}, 1);
  const auto pairs = someEnds(20);
  const std::vector<double> weights = {0.5, 0.5};
  expectFailure<ShapeError>([&] { (void)aggregateEnds(plan, x, pairs); }, "aggregateEnds");
  expectFailure<ShapeError>([&] { (void)propagateEnds(plan, x, weights, pairs); }, "propagateEnds");
}

TEST(AggregateEnds, OfNoPairsAreNoRows) {
  const auto plan = MessagePlan::make(randomCase(5, 12, 40).graph(), Norm::kSymmetric);
  const auto none = PairIndex::make({}, 12);
  const Tensors x = {randomLeaf({12, 3}, 1)};
  const at::Tensor rows = aggregateEnds(plan, x[0], none);
  EXPECT_EQ(rows.sizes(), (std::vector<std::int64_t>{0, 3}));
  EXPECT_EQ(gradients(rows.sum(), x)[0].abs().sum().item<double>(), 0);
}

TEST(Aggregate, TakesAnyLayoutInMemory) {
  const EdgeCase edges = randomCase(5, 12, 40);
  const auto plan = MessagePlan::make(edges.graph(), Norm::kMean);
  const at::Tensor matrix = denseOperator(denseAdjacency(edges), Norm::kMean);
  expectSameDerivatives([&](const Tensors& in) { return Tensors{aggregate(plan, in[0].t())}; },
                        [&](const Tensors& in) { return Tensors{matrix.matmul(in[0].t())}; },
                        {randomLeaf({5, 12}, 1)});
}

TEST(Aggregate, RefusesWhatDoesNotFit) {
  const auto plan = MessagePlan::make(CsrGraph::fromEdges(3, {}), Norm::kSum);
  const auto zeros = [](at::IntArrayRef shape, at::ScalarType type = at::kFloat) {
    return at::zeros(shape, at::TensorOptions(type));
  };
  expectFailure<ShapeError>([&] { (void)aggregate(plan, zeros({4, 2})); }, "[3, width]");
  expectFailure<ShapeError>([&] { (void)aggregate(plan, zeros({3})); }, "1 dimensions");
  expectFailure<ConfigError>([&] { (void)aggregate(plan, zeros({3, 2}, at::kInt)); },
                             "float or double");
  EXPECT_EQ(aggregate(plan, zeros({3, 0})).size(1), 0);
  const auto nobody = MessagePlan::make(CsrGraph(), Norm::kSymmetric);
  EXPECT_EQ(aggregate(nobody, zeros({0, 4})).sizes(), (std::vector<std::int64_t>{0, 4}));
}

}  // namespace
}  // namespace edgewise
