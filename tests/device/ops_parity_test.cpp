// Every operation and its gradients on a device against the same on the processor.
#include <gtest/gtest.h>

#include <array>

#include "edgewise/data/feature_matrix.h"
#include "edgewise/ops/aggregate.h"
#include "edgewise/ops/dropout.h"
#include "edgewise/ops/interaction.h"
#include "edgewise/ops/layer_norm.h"
#include "edgewise/ops/node_degrees.h"
#include "edgewise/ops/product.h"
#include "edgewise/ops/rowwise.h"
#include "edgewise/ops/sparse_matrix.h"
#include "edgewise/ops/view_mixture.h"
#include "edgewise/ops/view_scores.h"
#include "ops/cuda/half.h"
#include "support/devices.h"
#include "support/random_graphs.h"
#include "support/view_cases.h"

namespace edgewise {
namespace {

using testing::BothPlaces;
using testing::randomTensor;
using testing::Tensors;

constexpr std::size_t kNodes = 11;

// An operation on leaves of these shapes. It makes what else it needs anew at every call.
struct OpCase {
  std::string name;
  std::vector<std::vector<std::int64_t>> shapes;
  std::function<Tensors(const Tensors&)> run;
};

void PrintTo(const OpCase& one, std::ostream* out) { *out << one.name; }

std::vector<Edge> someEdges() {
  std::vector<Edge> edges = testing::randomPairs(10, 30, 3);
  std::erase_if(edges, [](Edge edge) { return edge.src == edge.dst; });
  return edges;
}

std::vector<float> someWeights(std::size_t count) {
  std::vector<float> weights;
  for (std::size_t i = 0; i < count; ++i) {
    weights.push_back(0.5F + static_cast<float>(i % 5));
  }
  return weights;
}

std::shared_ptr<const MessagePlan> somePlan(Norm norm, bool weighted, Direction direction) {
  const std::vector<Edge> edges = someEdges();
  const std::vector<float> weights = weighted ? someWeights(edges.size()) : std::vector<float>();
  return MessagePlan::make(CsrGraph::fromEdges(kNodes, edges, direction, weights), norm);
}

std::shared_ptr<const PairIndex> index() { return PairIndex::make(testing::somePairs(12), kNodes); }

DropoutMask someMask() { return {0.4, CounterRng(5, "parity"), std::uint64_t{3}}; }

std::shared_ptr<const SparseMatrix> someSparse() {
  std::vector<std::uint64_t> offsets = {0};
  std::vector<std::uint32_t> columns;
  std::vector<float> values;
  for (std::size_t row = 0; row < kNodes; ++row) {
    for (std::uint32_t column = static_cast<std::uint32_t>(row % 3); column < 7; column += 3) {
      columns.push_back(column);
      values.push_back(static_cast<float>(row) - 2.5F * static_cast<float>(column));
    }
    offsets.push_back(columns.size());
  }
  return SparseMatrix::make(FeatureMatrix::sparse(7, offsets, columns, values));
}

std::vector<OpCase> messageCases() {
  std::vector<OpCase> cases;
  const std::vector<std::pair<std::string, Norm>> norms = {{"Sum", Norm::kSum},
                                                           {"Mean", Norm::kMean},
                                                           {"Symmetric", Norm::kSymmetric},
                                                           {"Open", Norm::kSymmetricOpen}};
  for (const auto& [name, norm] : norms) {
    for (const bool weighted : {false, true}) {
      for (const Direction direction : {Direction::kUndirected, Direction::kDirected}) {
        for (const bool masked : {false, true}) {
          const std::string full = "Aggregate" + name + (weighted ? "Weighted" : "") +
                                   (direction == Direction::kDirected ? "Directed" : "") +
                                   (masked ? "Masked" : "");
          cases.push_back({full, {{kNodes, 8}}, [=, norm = norm](const Tensors& x) -> Tensors {
                             auto plan = somePlan(norm, weighted, direction);
                             if (masked) {
                               const std::vector<Edge> edges = someEdges();
                               plan = plan->without(std::span(edges).first(9));
                             }
                             return {aggregate(plan, x[0])};
                           }});
        }
      }
    }
  }
  cases.push_back({"AggregateOntoBias", {{kNodes, 8}, {8}}, [](const Tensors& x) -> Tensors {
                     const auto plan = somePlan(Norm::kSymmetric, false, Direction::kUndirected);
                     return {aggregateOnto(plan, x[0], x[1])};
                   }});
  cases.push_back(
      {"AggregateOntoMatrix", {{kNodes, 5}, {5}, {kNodes, 5}}, [](const Tensors& x) -> Tensors {
         const auto plan = somePlan(Norm::kMean, true, Direction::kUndirected);
         return {aggregateOnto(plan, x[0], x[1], x[2])};
       }});
  const std::vector<std::vector<std::int64_t>> layer = {{kNodes, 5}, {5, 7}, {7}, {5, 7}, {7}};
  cases.push_back({"Interaction", layer, [](const Tensors& x) -> Tensors {
                     const auto plan =
                         somePlan(Norm::kSymmetricOpen, false, Direction::kUndirected);
                     const InteractionWeights weights{x[1], x[2], x[3], x[4]};
                     return {interaction(plan, x[0], weights, {0.2, someMask()}),
                             interactionAtEnds(plan, x[0], weights, {0.2, someMask()}, index())};
                   }});
  return cases;
}

std::vector<OpCase> pairCases() {
  const auto views = testing::viewsOf(3);
  const std::vector<std::vector<std::int64_t>> layers(3, {kNodes, 6});
  const auto and_weights = [&](std::vector<std::int64_t> shape) {
    auto shapes = layers;
    shapes.push_back(std::move(shape));
    return shapes;
  };
  auto with_mlp = and_weights({6, 5});
  with_mlp.insert(with_mlp.end(), {{5}, {5, 1}, {1}});
  const auto first_three = [](const Tensors& x) { return Tensors(x.begin(), x.begin() + 3); };
  return {
      {"ViewPairs", layers, [=](const Tensors& x) { return viewPairs(x, index(), views); }},
      {"ViewPairsOfOneView", layers,
       [=](const Tensors& x) { return viewPairs(x, index(), std::vector<LayerPair>{{1, 2}}); }},
      {"ViewDots", layers, [=](const Tensors& x) { return viewDots(x, index(), views); }},
      {"ViewDotsInPacks", std::vector<std::vector<std::int64_t>>(3, {kNodes, 8}),
       [=](const Tensors& x) { return viewDots(x, index(), views); }},
      {"ViewDotsOfOneView",
       {{kNodes, 8}, {kNodes, 8}},
       [=](const Tensors& x) { return viewDots(x, index(), std::vector<LayerPair>{{1, 0}}); }},
      {"ViewDotsOfWhichSomeCount", std::vector<std::vector<std::int64_t>>(3, {kNodes, 8}),
       [=](const Tensors& x) -> Tensors {
         const Tensors dots = viewDots(x, index(), views);
         return {dots[1], dots[4] * (testing::randomTensor(dots[4].sizes(), 8, x[0].scalar_type())
                                         .to(x[0].device()) > 0)
                                        .to(x[0].scalar_type())};
       }},
      {"GatherSource",
       {{kNodes, 5}},
       [=](const Tensors& x) -> Tensors { return {gatherEnd(x[0], index(), PairEnd::kSource)}; }},
      {"GatherTarget",
       {{kNodes, 4}},
       [=](const Tensors& x) -> Tensors { return {gatherEnd(x[0], index(), PairEnd::kTarget)}; }},
      {"GatherBoth",
       {{kNodes, 4}},
       [=](const Tensors& x) -> Tensors { return {gatherEnd(x[0], index(), PairEnd::kBoth)}; }},
      {"GatherBothOfFewAmongMany",
       {{200, 4}},
       [=](const Tensors& x) -> Tensors {
         const std::vector<Edge> few = {makeEdge(7, 190), makeEdge(190, 3), makeEdge(0, 7)};
         return {gatherEnd(x[0], PairIndex::make(few, 200), PairEnd::kBoth)};
       }},
      {"NearPairs", layers,
       [=](const Tensors& x) -> Tensors {
         Tensors ends;
         for (const at::Tensor& layer : x) {
           ends.push_back(gatherEnd(layer, index(), PairEnd::kBoth));
         }
         return viewPairs(ends, index()->apart(), views);
       }},
      {"ActivatedEnds",
       {{kNodes, 5}},
       [=](const Tensors& x) -> Tensors {
         const ActivatedEnds both = activatedEnds(x[0], someMask(), index());
         return {both.activated, both.ends};
       }},
      {"SumByNode",
       {{30, 4}},
       [=](const Tensors& x) -> Tensors { return {sumByNode(x[0], index())}; }},
      {"ViewSoftmax",
       {{9, 13}},
       [=](const Tensors& x) -> Tensors { return {viewSoftmax(x[0], 0.3)}; }},
      {"MixedPairs", and_weights({9, 15}),
       [=](const Tensors& x) -> Tensors {
         return {mixedPairs(first_three(x), index(), views, x[3])};
       }},
      {"ChosenPairs", layers,
       [=](const Tensors& x) -> Tensors {
         std::vector<LayerPair> choice;
         for (std::size_t i = 0; i < index()->size(); ++i) {
           choice.push_back(views[i * 5 % 9]);
         }
         return {chosenPairs(x, index(), std::make_shared<const std::vector<LayerPair>>(choice))};
       }},
      {"ViewScores", with_mlp,
       [=](const Tensors& x) -> Tensors {
         return {viewScores(first_three(x), index(), views, std::vector<at::Tensor>{x[3], x[5]},
                            std::vector<at::Tensor>{x[4], x[6]})};
       }},
  };
}

std::vector<OpCase> denseCases() {
  const auto one = [](std::string name, std::vector<std::vector<std::int64_t>> shapes,
                      std::function<at::Tensor(const Tensors&)> run) {
    return OpCase{std::move(name), std::move(shapes),
                  [run = std::move(run)](const Tensors& x) -> Tensors { return {run(x)}; }};
  };
  const auto labels = [](const at::Tensor& like) {
    return (randomTensor(like.sizes(), 9, like.scalar_type()) > 0)
        .to(like.scalar_type())
        .to(like.device());
  };
  return {
      one("Product", {{5, 7}, {7, 3}}, [](const Tensors& x) { return product(x[0], x[1]); }),
      one("ProductOfTransposed", {{7, 5}, {7, 3}},
          [](const Tensors& x) { return product(x[0], x[1], Transpose::kFirst); }),
      one("ProductWithTransposed", {{5, 7}, {3, 7}},
          [](const Tensors& x) { return product(x[0], x[1], Transpose::kSecond); }),
      one("ProductOfBothTransposed", {{7, 5}, {3, 7}},
          [](const Tensors& x) { return product(x[0], x[1], Transpose::kBoth); }),
      one("Affine", {{5, 7}, {7, 3}, {3}},
          [](const Tensors& x) { return affine(x[0], x[1], x[2]); }),
      one("LayerNorm", {{5, 8}, {8}, {8}},
          [](const Tensors& x) { return layerNorm(x[0], x[1], x[2]); }),
      one("ColumnSum", {{5, 7}}, [](const Tensors& x) { return columnSum(x[0]); }),
      one("ColumnSumOfManyRows", {{9001, 8}}, [](const Tensors& x) { return columnSum(x[0]); }),
      one("ColumnSumOfManyOddRows", {{9001, 3}}, [](const Tensors& x) { return columnSum(x[0]); }),
      one("RowSum", {{5, 7}}, [](const Tensors& x) { return rowSum(x[0]); }),
      one("ExpandRows", {{7}}, [](const Tensors& x) { return expandRows(x[0], 4); }),
      one("ExpandColumns", {{7}}, [](const Tensors& x) { return expandColumns(x[0], 4); }),
      one("AddBias", {{5, 7}, {7}}, [](const Tensors& x) { return addBias(x[0], x[1]); }),
      one("Logistic", {{5, 7}}, [](const Tensors& x) { return logistic(x[0]); }),
      one("CrossEntropy", {{35}},
          [=](const Tensors& x) { return binaryCrossEntropy(x[0], labels(x[0])); }),
      one("Dropout", {{9, 7}}, [](const Tensors& x) { return dropout(x[0], someMask()); }),
      one("ReluDropout", {{9, 7}}, [](const Tensors& x) { return reluDropout(x[0], someMask()); }),
      one("Relu", {{9, 7}}, [](const Tensors& x) { return reluDropout(x[0], DropoutMask()); }),
      one("SparseProduct", {{7, 4}},
          [](const Tensors& x) { return sparseMatmul(someSparse(), x[0]); }),
      one("SparseProductOfTransposed", {{kNodes, 4}},
          [](const Tensors& x) { return sparseMatmul(someSparse()->transposed(), x[0]); }),
      one("SparseProductDropped", {{7, 4}},
          [](const Tensors& x) { return sparseMatmul(someSparse()->dropped(someMask()), x[0]); }),
  };
}

std::vector<OpCase> allCases() {
  std::vector<OpCase> all = messageCases();
  for (const auto& more : {pairCases(), denseCases()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

class OpParity : public ::testing::TestWithParam<OpCase> {};

void expectParity(const OpCase& op, at::ScalarType type, double tolerance) {
  const BothPlaces both = testing::runOnBoth([&](at::Device device) {
    Tensors inputs;
    for (std::size_t i = 0; i < op.shapes.size(); ++i) {
      inputs.push_back(randomTensor(op.shapes[i], 40 + i, type).to(device).set_requires_grad(true));
    }
    Tensors results = op.run(inputs);
    at::Tensor value = at::zeros({}, inputs[0].options().requires_grad(false));
    for (std::size_t i = 0; i < results.size(); ++i) {
      value =
          value + (results[i] * randomTensor(results[i].sizes(), 60 + i, type).to(device)).sum();
    }
    for (const at::Tensor& slope : gradients(value, inputs)) {
      results.push_back(slope);
    }
    for (at::Tensor& result : results) {
      result = result.detach();
    }
    return results;
  });
  testing::expectClose(both.device, both.processor, tolerance);
}

TEST_P(OpParity, InDoublePrecision) {
  EDGEWISE_NEEDS_DEVICE();
  expectParity(GetParam(), at::kDouble, 1e-9);
}

TEST_P(OpParity, InFloats) {
  EDGEWISE_NEEDS_DEVICE();
  expectParity(GetParam(), at::kFloat, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(All, OpParity, ::testing::ValuesIn(allCases()),
                         [](const auto& each) { return each.param.name; });

// An aggregation with its gradient in both places.
struct AggregateCase {
  std::function<std::shared_ptr<const MessagePlan>()> plan;
  std::int64_t width = 8;
  // Of the entries of x.
  double size = 1;
  at::ScalarType type = at::kFloat;
  ProductPrecision precision = ProductPrecision::kTf32;

  void expectParity(double tolerance) const {
    const BothPlaces both = testing::runOnBoth([&](at::Device device) {
      setProductPrecision(precision);
      const auto messages = plan();
      const auto nodes = static_cast<std::int64_t>(messages->nodeCount());
      const at::Tensor x =
          (size * randomTensor({nodes, width}, 1, type)).to(device).set_requires_grad(true);
      const at::Tensor bias = (size * randomTensor({width}, 4, type)).to(device);
      const at::Tensor y = aggregateOnto(messages, x, bias, 2 * x);
      const at::Tensor weight = randomTensor({nodes, width}, 2, type).to(device);
      Tensors results = gradients((y * weight).sum(), std::vector<at::Tensor>{x});
      results.push_back(y.detach() / size);
      // The same at the ends of some pairs, of which the first nodes are often one.
      std::vector<Edge> pairs = testing::randomPairs(messages->nodeCount(), 40, 5);
      for (std::uint32_t i = 0; i < 6; ++i) {
        pairs.push_back(makeEdge(i % 3, 3 + i));
      }
      const auto index = PairIndex::make(pairs, messages->nodeCount());
      const std::vector<double> weights = {0.5, 0, 0.3, 0.2};
      const at::Tensor ends =
          aggregateEnds(messages, x, index) + propagateEnds(messages, x, weights, index);
      results.push_back(ends.detach() / size);
      results.push_back(
          gradients(
              (ends * randomTensor({2 * static_cast<std::int64_t>(pairs.size()), width}, 3, type)
                          .to(device))
                  .sum(),
              std::vector<at::Tensor>{x})
              .front());
      setProductPrecision(ProductPrecision::kFloat);
      return results;
    });
    testing::expectClose(both.device, both.processor, tolerance);
  }
};

constexpr std::array kNorms = {Norm::kSum, Norm::kMean, Norm::kSymmetric, Norm::kSymmetricOpen};

// A graph so dense that it is multiplied as a matrix where rounding to TF32 is allowed.
TEST(DenseAggregate, AgreesWithTheRows) {
  EDGEWISE_NEEDS_DEVICE();
  for (const Norm norm : kNorms) {
    AggregateCase{.plan = [&] {
      const std::vector<Edge> edges = someEdges();
      return somePlan(norm, true, Direction::kUndirected)->without(std::span(edges).first(5));
    }}.expectParity(3e-3);
  }
}

// So much to gather that messages are sent in 16 bits; some of them tiny, as gradients are.
TEST(HalfAggregate, AgreesToTenBits) {
  EDGEWISE_NEEDS_DEVICE();
  constexpr std::size_t kMany = 2000;
  const std::vector<Edge> edges = testing::randomPairs(kMany, 20'000, 3);
  const std::vector<float> weights = someWeights(edges.size());
  for (const Norm norm : kNorms) {
    for (const double size : {1.0, 1e-9, 1e6}) {
      for (const std::int64_t width : {256, 260, 251}) {
        AggregateCase{.plan =
                          [&] {
                            return MessagePlan::make(
                                CsrGraph::fromEdges(kMany, edges, Direction::kUndirected, weights),
                                norm);
                          },
                      .width = width,
                      .size = size}
            .expectParity(1e-3);
      }
    }
  }
}

// Weights so small that a node's scale is far above 1, and messages must not overflow.
TEST(HalfAggregate, StaysFiniteWhereDegreesAreSmall) {
  EDGEWISE_NEEDS_DEVICE();
  constexpr std::size_t kMany = 2000;
  const std::vector<Edge> edges = testing::randomPairs(kMany, 20'000, 3);
  const std::vector<float> weights(edges.size(), 1e-4F);
  for (const Norm norm : {Norm::kMean, Norm::kSymmetricOpen}) {
    AggregateCase{.plan =
                      [&] {
                        return MessagePlan::make(
                            CsrGraph::fromEdges(kMany, edges, Direction::kUndirected, weights),
                            norm);
                      },
                  .width = 256}
        .expectParity(1e-3);
  }
}

// Nodes with so many neighbours that their rows are cut into segments.
TEST(LongRows, AreSummedLikeOthers) {
  EDGEWISE_NEEDS_DEVICE();
  constexpr std::uint32_t kMany = 3000;
  std::vector<Edge> edges = testing::randomPairs(kMany, 9000, 3);
  for (std::uint32_t node = 2; node < kMany; ++node) {
    edges.push_back(makeEdge(0, node));
    if (node % 5 != 0) {
      edges.push_back(makeEdge(node, 1));
    }
  }
  for (const Norm norm : {Norm::kMean, Norm::kSymmetric}) {
    AggregateCase one{.plan =
                          [&] {
                            return MessagePlan::make(CsrGraph::fromEdges(kMany, edges), norm)
                                ->without(std::span(edges).last(700));
                          },
                      .width = 512};
    one.expectParity(1e-3);
    one.precision = ProductPrecision::kFloat;
    one.expectParity(1e-5);
    one.type = at::kDouble;
    one.expectParity(1e-10);
  }
}

TEST(Half, IsRoundedAsLibtorchDoes) {
  for (const float size : {1.0F, 3e4F, 1e5F, 1e-4F, 1e-5F, 3e-8F, 0.0F}) {
    const at::Tensor x = randomTensor({2000}, 3, at::kFloat) * size;
    const at::Tensor want = x.to(at::kHalf);
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      const cuda::Half half = cuda::toHalf(x[i].item<float>());
      const float expected = want[i].item<float>();
      ASSERT_EQ(cuda::toFloat(half), expected) << x[i].item<float>();
    }
  }
}

// What a device masks by itself is what the host masks.
TEST(DeviceMask, IsNotForTheHostAndNotToBeMaskedAgain) {
  EDGEWISE_NEEDS_DEVICE();
  const auto plan = somePlan(Norm::kMean, false, Direction::kUndirected);
  std::shared_ptr<const MessagePlan> masked;
  {
    const ImitatedDevice imitated;
    const at::Device device = testing::deviceUnderTest();
    const at::Tensor edges = PairIndex::make(someEdges(), kNodes)->ends(device);
    masked = plan->withoutOnDevice(edges);
    EXPECT_TRUE(masked->isMasked());
    EXPECT_ANY_THROW((void)masked->withoutOnDevice(edges));
    EXPECT_ANY_THROW((void)masked->without(someEdges()));
  }
  EXPECT_ANY_THROW((void)aggregate(masked, randomTensor({kNodes, 4}, 1)));
}

TEST(DeviceMask, EqualsTheHosts) {
  EDGEWISE_NEEDS_DEVICE();
  const ImitatedDevice imitated;
  const at::Device device = testing::deviceUnderTest();
  std::vector<Edge> gone = someEdges();
  gone.resize(9);
  gone.push_back(gone.front());
  gone.push_back(reversed(gone[1]));
  gone.push_back(makeEdge(10, 0));
  for (const Norm norm : {Norm::kSum, Norm::kMean, Norm::kSymmetric, Norm::kSymmetricOpen}) {
    for (const bool weighted : {false, true}) {
      const auto plan = somePlan(norm, weighted, Direction::kUndirected);
      const at::Tensor edges = PairIndex::make(gone, kNodes)->ends(device);
      const at::Tensor x = randomTensor({kNodes, 8}, 1).to(device);
      const auto ours = plan->withoutOnDevice(edges);
      const auto theirs = plan->without(gone);
      testing::expectClose(aggregate(ours, x), aggregate(theirs, x), 1e-12);
      testing::expectClose(aggregate(ours->transposed(), x), aggregate(theirs->transposed(), x),
                           1e-12);
      if (norm != Norm::kSum) {
        testing::expectClose(logDegrees(*ours, x.options()),
                             logDegrees(*theirs, at::kDouble).to(device), 1e-12);
      }
    }
  }
}

}  // namespace
}  // namespace edgewise
