#include "edgewise/ops/interaction.h"

#include <gtest/gtest.h>

#include "edgewise/ops/aggregate.h"
#include "edgewise/ops/product.h"
#include "edgewise/ops/view_pairs.h"
#include "support/dense_graphs.h"
#include "support/tensors.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::denseAdjacency;
using testing::denseOperator;
using testing::EdgeCase;
using testing::expectFailure;
using testing::expectSameBitsForThreads;
using testing::expectSameDerivatives;
using testing::randomCase;
using testing::randomLeaf;
using testing::randomTensor;
using testing::sameBits;
using testing::Tensors;

constexpr double kLeak = 0.2;

InteractionWeights weightsOf(const Tensors& in) { return {in[1], in[2], in[3], in[4]}; }

// A layer of so many nodes, its weights and biases.
Tensors randomInputs(std::int64_t nodes, std::int64_t in, std::int64_t out,
                     at::ScalarType type = at::kDouble) {
  return {randomLeaf({nodes, in}, 1, type), randomLeaf({in, out}, 2, type),
          randomLeaf({out}, 3, type), randomLeaf({in, out}, 4, type), randomLeaf({out}, 5, type)};
}

DropoutMask maskOf(double rate) { return {rate, CounterRng(7, "interaction"), std::uint64_t{2}}; }

// What the mask multiplies each element by.
at::Tensor dense(const DropoutMask& mask, std::int64_t nodes, std::int64_t width) {
  std::vector<std::uint8_t> keep(static_cast<std::size_t>(nodes * width));
  mask.draw(0, keep);
  at::Tensor factors = at::empty({nodes, width}, at::TensorOptions(at::kDouble));
  for (std::size_t i = 0; i < keep.size(); ++i) {
    factors.data_ptr<double>()[i] = keep[i] != 0 ? mask.scale() : 0;
  }
  return factors;
}

// The layer out of dense matrices.
at::Tensor denseLayer(const at::Tensor& matrix, const at::Tensor& factors, const Tensors& in) {
  const at::Tensor heard = matrix.matmul(in[0]);
  const at::Tensor inside =
      (heard + in[0]).matmul(in[1]) + in[2] + (heard * in[0]).matmul(in[3]) + in[4];
  return at::where(inside > 0, inside, kLeak * inside) * factors;
}

// Users and items with few, many and no neighbours; pairs in which some are often an end.
struct Shop {
  explicit Shop(std::uint32_t nodes = 17)
      : edges(randomCase(3, nodes - 1, std::size_t{3} * nodes)),
        plan((edges.nodes = nodes, MessagePlan::make(edges.graph(), Norm::kSymmetricOpen)
                                       ->without(std::span(edges.edges).first(4)))),
        matrix(denseOperator(denseAdjacency(edges, std::span(edges.edges).first(4)),
                             Norm::kSymmetricOpen)) {
    for (std::uint32_t i = 0; i < 5; ++i) {
      pairs.push_back(makeEdge(0, i * i % nodes));
    }
    pairs.push_back(makeEdge(nodes - 1, 3));
    index = PairIndex::make(pairs, nodes);
  }

  EdgeCase edges;
  std::shared_ptr<const MessagePlan> plan;
  at::Tensor matrix;
  std::vector<Edge> pairs;
  std::shared_ptr<const PairIndex> index;
};

TEST(Interaction, EqualsDenseMatricesWithTheirDerivatives) {
  const Shop shop;
  for (const auto& [in, out] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {5, 5}, {1, 3}, {8, 1}, {3, 16}, {20, 7}}) {
    for (const double rate : {0.0, 0.4}) {
      SCOPED_TRACE(::testing::Message() << in << " to " << out << ", dropout " << rate);
      const InteractionEnd end{kLeak, maskOf(rate)};
      const at::Tensor factors = dense(end.mask, 17, out);
      const Tensors inputs = randomInputs(17, in, out);
      expectSameDerivatives(
          [&](const Tensors& x) {
            return Tensors{interaction(shop.plan, x[0], weightsOf(x), end)};
          },
          [&](const Tensors& x) { return Tensors{denseLayer(shop.matrix, factors, x)}; }, inputs);
      expectSameDerivatives(
          [&](const Tensors& x) {
            return Tensors{interactionAtEnds(shop.plan, x[0], weightsOf(x), end, shop.index)};
          },
          [&](const Tensors& x) {
            const at::Tensor ends = shop.index->ends(at::kCPU).reshape({-1}).to(at::kLong);
            return Tensors{denseLayer(shop.matrix, factors, x).index_select(0, ends)};
          },
          inputs);
    }
  }
}

// So many nodes that they are cut into blocks, and the sums over them into parts.
TEST(Interaction, EqualsItsPiecesOnManyNodes) {
  const Shop shop(5000);
  for (const double rate : {0.0, 0.4}) {
    for (const Norm norm : {Norm::kSymmetricOpen, Norm::kMean}) {
      const InteractionEnd end{kLeak, maskOf(rate)};
      const auto plan = MessagePlan::make(shop.edges.graph(), norm);
      const Tensors inputs = randomInputs(5000, 24, 30);
      const auto pieces = [&](const Tensors& x) {
        const at::Tensor heard = aggregate(plan, x[0]);
        const at::Tensor inside =
            affine(heard + x[0], x[1], x[2]) + affine(heard * x[0], x[3], x[4]);
        return dropout(at::leaky_relu(inside, kLeak), end.mask);
      };
      expectSameDerivatives(
          [&](const Tensors& x) {
            return Tensors{interaction(plan, x[0], weightsOf(x), end),
                           interactionAtEnds(plan, x[0], weightsOf(x), end, shop.index)};
          },
          [&](const Tensors& x) {
            const at::Tensor all = pieces(x);
            return Tensors{all, gatherEnd(all, shop.index, PairEnd::kBoth)};
          },
          inputs);
    }
  }
}

TEST(Interaction, OfNoPairsAndOfWhatIsNotLearned) {
  const Shop shop;
  const InteractionEnd end{kLeak, maskOf(0.3)};
  const auto none = PairIndex::make({}, 17);
  const Tensors x = randomInputs(17, 5, 6);
  const at::Tensor rows = interactionAtEnds(shop.plan, x[0], weightsOf(x), end, none);
  EXPECT_EQ(rows.sizes(), (std::vector<std::int64_t>{0, 6}));
  for (const at::Tensor& slope : gradients(rows.sum(), x)) {
    EXPECT_EQ(slope.abs().sum().item<double>(), 0);
  }
  // Of all inputs one alone is asked for.
  for (std::size_t one = 0; one < x.size(); ++one) {
    Tensors some;
    for (const at::Tensor& each : x) {
      some.push_back(each.detach());
    }
    some[one].set_requires_grad(true);
    const Tensors asked = {some[one]};
    const at::Tensor got =
        gradients(interaction(shop.plan, some[0], weightsOf(some), end).sum(), asked)[0];
    const at::Tensor want =
        gradients(interaction(shop.plan, x[0], weightsOf(x), end).sum(), x)[one];
    EXPECT_TRUE(sameBits(got, want));
  }
}

TEST(Interaction, DropsOfANodeTheSameAtAllItsPlaces) {
  const Shop shop(900);
  const InteractionEnd end{kLeak, maskOf(0.5)};
  for (const std::int64_t width : {16, 13}) {
    const Tensors x = randomInputs(900, width, width, at::kFloat);
    const at::Tensor all = interaction(shop.plan, x[0], weightsOf(x), end);
    const at::Tensor ends = interactionAtEnds(shop.plan, x[0], weightsOf(x), end, shop.index);
    const at::Tensor rows = gatherEnd(all, shop.index, PairEnd::kBoth);
    EXPECT_TRUE(sameBits((rows == 0).to(at::kByte), (ends == 0).to(at::kByte)));
    const auto share = (all == 0).to(at::kDouble).mean().item<double>();
    EXPECT_NEAR(share, 0.5, 0.03);
  }
}

TEST(Interaction, GivesTheSameBitsForAnyThreadCount) {
  // More rows than one thread's part of the weights' gradients.
  const Shop shop(5000);
  for (const double rate : {0.0, 0.3}) {
    const InteractionEnd end{kLeak, maskOf(rate)};
    expectSameBitsForThreads(
        [&](const Tensors& x) {
          return Tensors{interaction(shop.plan, x[0], weightsOf(x), end),
                         interactionAtEnds(shop.plan, x[0], weightsOf(x), end, shop.index)};
        },
        randomInputs(5000, 48, 40, at::kFloat));
  }
}

TEST(Interaction, TakesAnyLayoutInMemory) {
  const Shop shop;
  Tensors inputs = randomInputs(17, 5, 6);
  inputs[0] = randomLeaf({5, 17}, 1);
  inputs[1] = randomLeaf({6, 5}, 2);
  const at::Tensor factors = at::ones({17, 6}, at::TensorOptions(at::kDouble));
  const auto turned = [](const Tensors& x) {
    return Tensors{x[0].t(), x[1].t(), x[2], x[3], x[4]};
  };
  expectSameDerivatives(
      [&](const Tensors& x) {
        const Tensors y = turned(x);
        return Tensors{interaction(shop.plan, y[0], weightsOf(y), {kLeak, DropoutMask()})};
      },
      [&](const Tensors& x) { return Tensors{denseLayer(shop.matrix, factors, turned(x))}; },
      inputs);
}

TEST(Interaction, RefusesWhatDoesNotFit) {
  const Shop shop;
  const auto fails = [&](std::size_t which, at::IntArrayRef shape, const std::string& problem) {
    Tensors x = randomInputs(17, 5, 6);
    x[which] = randomTensor(shape, 1);
    expectFailure<ShapeError>(
        [&] { (void)interaction(shop.plan, x[0], weightsOf(x), {kLeak, DropoutMask()}); }, problem);
  };
  fails(0, {17, 4}, "rows of 4 with weights [5, 6]");
  fails(0, {16, 5}, "[17, width]");
  fails(1, {5}, "needs a matrix");
  fails(2, {5}, "the sum's bias");
  fails(3, {5, 7}, "weights [5, 7]");
  fails(4, {7}, "the product's bias");
  Tensors whole = randomInputs(17, 5, 6);
  for (at::Tensor& each : whole) {
    each = each.detach().to(at::kInt);
  }
  expectFailure<ConfigError>(
      [&] { (void)interaction(shop.plan, whole[0], weightsOf(whole), {kLeak, DropoutMask()}); },
      "float or double");
}

}  // namespace
}  // namespace edgewise
