#include "edgewise/ops/view_pairs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/random_graphs.h"
#include "support/tensors.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::expectClose;
using testing::expectFailure;
using testing::expectFiniteDifferences;
using testing::expectSameBitsForThreads;
using testing::expectSameDerivatives;
using testing::randomLeaf;
using testing::randomPairs;
using testing::randomTensor;
using testing::sameBits;
using testing::Tensors;

// Random pairs, then a repeated one, one turned round and one of a node with itself.
std::vector<Edge> awkwardPairs(std::size_t nodes, std::size_t count, std::uint64_t seed) {
  std::vector<Edge> pairs =
      nodes > 1 ? randomPairs(nodes, count, seed) : std::vector<Edge>(count, makeEdge(0, 0));
  pairs.push_back(pairs.front());
  pairs.push_back(reversed(pairs.front()));
  pairs.push_back(makeEdge(0, 0));
  return pairs;
}

at::Tensor endsOf(std::span<const Edge> pairs, PairEnd end) {
  std::vector<std::int64_t> nodes;
  for (const Edge& pair : pairs) {
    nodes.push_back(index(end == PairEnd::kSource ? pair.src : pair.dst));
  }
  return at::tensor(nodes, at::TensorOptions(at::kLong));
}

Tensors plainViews(const Tensors& layers, std::span<const Edge> pairs,
                   std::span<const LayerPair> views) {
  const at::Tensor sources = endsOf(pairs, PairEnd::kSource);
  const at::Tensor targets = endsOf(pairs, PairEnd::kTarget);
  Tensors out;
  for (const auto& [i, j] : views) {
    out.push_back(layers[i].index_select(0, sources) * layers[j].index_select(0, targets));
  }
  return out;
}

Tensors randomLayers(std::size_t count, std::int64_t nodes, std::int64_t width,
                     at::ScalarType type = at::kDouble) {
  Tensors layers;
  for (std::size_t i = 0; i < count; ++i) {
    layers.push_back(randomLeaf({nodes, width}, 50 + i, type));
  }
  return layers;
}

// Every view of `depth` layers whose bit is set.
std::vector<LayerPair> someViews(std::uint32_t depth, std::uint32_t bits) {
  std::vector<LayerPair> views;
  for (std::uint32_t i = 0; i < depth * depth; ++i) {
    if ((bits >> i & 1U) != 0) {
      views.push_back({i / depth, i % depth});
    }
  }
  return views;
}

TEST(PairIndex, PartitionsThePlacesByNodeInOrder) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::size_t nodes = 1 + seed * 3;
    const std::vector<Edge> pairs = awkwardPairs(nodes, 1 + seed * 40, seed);
    const auto made = PairIndex::make(pairs, nodes);
    ASSERT_EQ(made->size(), pairs.size());
    EXPECT_EQ(made->nodeCount(), nodes);
    EXPECT_TRUE(std::ranges::equal(made->pairs(), pairs));
    EXPECT_TRUE(std::ranges::is_sorted(made->nodes(), std::ranges::less_equal()) ||
                made->nodes().size() == 1);
    std::vector<int> seen(2 * pairs.size(), 0);
    for (std::size_t i = 0; i < made->nodes().size(); ++i) {
      const auto places = made->places(i);
      EXPECT_FALSE(places.empty()) << "a node that does not occur";
      EXPECT_EQ(std::ranges::adjacent_find(places, std::ranges::greater_equal()), places.end());
      for (const std::uint32_t place : places) {
        const Edge& pair = pairs.at(place / 2);
        EXPECT_EQ(index(place % 2 == 0 ? pair.src : pair.dst), made->nodes()[i]);
        ++seen.at(place);
      }
    }
    EXPECT_EQ(seen, std::vector<int>(2 * pairs.size(), 1));
    const auto blocks = made->blocks();
    EXPECT_EQ(blocks.front(), 0U);
    EXPECT_EQ(blocks.back(), made->nodes().size());
    EXPECT_EQ(std::ranges::adjacent_find(blocks, std::ranges::greater_equal()), blocks.end());
  }
}

TEST(PairIndex, MayBeEmpty) {
  for (const std::size_t nodes : {0U, 5U}) {
    const auto made = PairIndex::make({}, nodes);
    EXPECT_EQ(made->size(), 0U);
    EXPECT_TRUE(made->nodes().empty());
    EXPECT_EQ(made->blocks().size(), 1U);
  }
}

TEST(PairIndex, RefusesNodesThatAreNotThere) {
  const std::vector<Edge> pairs = {makeEdge(0, 1), makeEdge(2, 3)};
  expectFailure<ShapeError>([&] { (void)PairIndex::make(pairs, 3); }, "pair (2, 3)");
  const std::vector<Edge> turned = {makeEdge(7, 0)};
  expectFailure<ShapeError>([&] { (void)PairIndex::make(turned, 7); }, "7 nodes");
  expectFailure<ShapeError>([&] { (void)PairIndex::make(turned, 0); }, "0 nodes");
}

// All 15 subsets of the views of two layers, and some of three: with i = j, i != j, and layers that
// no view looks at.
TEST(ViewPairs, EqualsGatheredProductsWithTheirDerivatives) {
  for (const std::uint32_t depth : {1U, 2U, 3U}) {
    const std::uint32_t most = depth == 3 ? 512 : 1U << depth * depth;
    for (std::uint32_t bits = 1; bits < most; bits += depth == 3 ? 37 : 1) {
      const std::vector<LayerPair> views = someViews(depth, bits);
      const std::vector<Edge> pairs = awkwardPairs(6, 9, bits);
      const auto index = PairIndex::make(pairs, 6);
      SCOPED_TRACE(bits);
      expectSameDerivatives([&](const Tensors& in) { return viewPairs(in, index, views); },
                            [&](const Tensors& in) { return plainViews(in, pairs, views); },
                            randomLayers(depth, 6, 4));
    }
  }
}

TEST(ViewPairs, EqualsGatheredProductsInSeveralBlocks) {
  const std::vector<LayerPair> views = someViews(2, 0b1111);
  for (const std::size_t nodes : {1U, 2U, 700U}) {
    const std::vector<Edge> pairs = awkwardPairs(nodes, 900, nodes);
    const auto index = PairIndex::make(pairs, nodes);
    expectSameDerivatives([&](const Tensors& in) { return viewPairs(in, index, views); },
                          [&](const Tensors& in) { return plainViews(in, pairs, views); },
                          randomLayers(2, static_cast<std::int64_t>(nodes), 3));
  }
}

TEST(ViewPairs, AgreesWithFiniteDifferences) {
  const auto index = PairIndex::make(awkwardPairs(5, 8, 1), 5);
  const std::vector<LayerPair> views = someViews(2, 0b1110);
  expectFiniteDifferences([&](const Tensors& in) { return viewPairs(in, index, views); },
                          randomLayers(2, 5, 3));
}

// A loss that leaves some views out must not pay attention to them, nor lose the others.
TEST(ViewPairs, LeavesOutViewsThatTheLossDoesNotUse) {
  const std::vector<Edge> pairs = awkwardPairs(6, 9, 2);
  const auto index = PairIndex::make(pairs, 6);
  const std::vector<LayerPair> views = someViews(3, 0b111111111);
  for (const std::vector<std::size_t>& used :
       {std::vector<std::size_t>{0}, {1}, {5}, {2, 6}, {0, 4, 8}, {1, 2, 3, 5}}) {
    const auto choose = [&](const Tensors& all) {
      Tensors chosen;
      for (const std::size_t i : used) {
        chosen.push_back(all[i]);
      }
      return chosen;
    };
    expectSameDerivatives([&](const Tensors& in) { return choose(viewPairs(in, index, views)); },
                          [&](const Tensors& in) { return choose(plainViews(in, pairs, views)); },
                          randomLayers(3, 6, 4));
  }
}

// Layers that are not to be differentiated stand beside others that are.
TEST(ViewPairs, TakesLayersThatWantNoGradient) {
  const std::vector<Edge> pairs = awkwardPairs(6, 9, 3);
  const auto index = PairIndex::make(pairs, 6);
  const std::vector<LayerPair> views = someViews(2, 0b1111);
  const at::Tensor fixed = randomTensor({6, 4}, 1);
  expectSameDerivatives(
      [&](const Tensors& in) { return viewPairs(Tensors{fixed, in[0]}, index, views); },
      [&](const Tensors& in) { return plainViews({fixed, in[0]}, pairs, views); },
      {randomLeaf({6, 4}, 2)});
  // One tensor as two layers.
  expectSameDerivatives(
      [&](const Tensors& in) { return viewPairs(Tensors{in[0], in[0]}, index, views); },
      [&](const Tensors& in) { return plainViews({in[0], in[0]}, pairs, views); },
      {randomLeaf({6, 4}, 2)});
}

TEST(ViewPairs, MayBeRepeatedOrEmpty) {
  const std::vector<Edge> pairs = awkwardPairs(6, 9, 4);
  const auto index = PairIndex::make(pairs, 6);
  const std::vector<LayerPair> twice = {{0, 1}, {0, 1}, {1, 0}};
  expectSameDerivatives([&](const Tensors& in) { return viewPairs(in, index, twice); },
                        [&](const Tensors& in) { return plainViews(in, pairs, twice); },
                        randomLayers(2, 6, 4));
  const auto none = PairIndex::make({}, 6);
  expectSameDerivatives([&](const Tensors& in) { return viewPairs(in, none, twice); },
                        [&](const Tensors& in) { return plainViews(in, {}, twice); },
                        randomLayers(2, 6, 4));
  EXPECT_EQ(viewPairs(randomLayers(2, 6, 0), index, twice)[2].sizes(),
            (std::vector<std::int64_t>{12, 0}));
}

TEST(ViewPairs, TakesAnyLayoutInMemory) {
  const std::vector<Edge> pairs = awkwardPairs(6, 9, 6);
  const std::vector<LayerPair> both = someViews(2, 0b0111);
  const auto turn = [](const Tensors& in) { return Tensors{in[0].t(), in[1].t()}; };
  expectSameDerivatives(
      [&](const Tensors& in) { return viewPairs(turn(in), PairIndex::make(pairs, 6), both); },
      [&](const Tensors& in) { return plainViews(turn(in), pairs, both); }, randomLayers(2, 4, 6));
  expectSameDerivatives(
      [&](const Tensors& in) {
        return Tensors{gatherEnd(in[0].t(), PairIndex::make(pairs, 6), PairEnd::kTarget)};
      },
      [&](const Tensors& in) {
        return Tensors{in[0].t().index_select(0, endsOf(pairs, PairEnd::kTarget))};
      },
      randomLayers(1, 4, 6));
  const auto index = PairIndex::make(awkwardPairs(6, 9, 5), 6);
  const std::vector<LayerPair> views = someViews(2, 0b0110);
  const Tensors turned = {randomTensor({4, 6}, 1).t(), randomTensor({4, 6}, 2).t()};
  const Tensors straight = {turned[0].contiguous(), turned[1].contiguous()};
  EXPECT_TRUE(sameBits(viewPairs(turned, index, views)[0], viewPairs(straight, index, views)[0]));
  const Tensors leaves = randomLayers(2, 6, 4);
  const auto total = [](const Tensors& views_of) { return views_of[0].sum() + views_of[1].sum(); };
  expectClose(gradients(total(viewPairs(leaves, index, views)), leaves),
              gradients(total(plainViews(leaves, index->pairs(), views)), leaves));
}

TEST(ViewPairs, RefusesWhatDoesNotFit) {
  const auto index = PairIndex::make(awkwardPairs(6, 9, 5), 6);
  const Tensors layers = randomLayers(2, 6, 4);
  const std::vector<LayerPair> one = {{0, 1}};
  const std::vector<LayerPair> deep = {{0, 1}, {1, 2}};
  const auto refuse = [&](const Tensors& in, std::span<const LayerPair> views, const char* text) {
    expectFailure<ShapeError>([&] { (void)viewPairs(in, index, views); }, text);
  };
  refuse(layers, {}, "a layer and a view");
  refuse({}, one, "a layer and a view");
  refuse(layers, deep, "view (2, 3) of 2 layers");
  refuse({layers[0], randomTensor({6, 5}, 1)}, one, "4 (Double) and 5 (Double) wide");
  refuse({layers[0], randomTensor({7, 4}, 1)}, one, "6 nodes against 7 rows");
  refuse({layers[0], randomTensor({6}, 1)}, one, "1 dimensions");
  refuse({layers[0], randomTensor({6, 4}, 1, at::kFloat)}, one, "Float");
  expectFailure<ConfigError>(
      [&] { (void)viewPairs(Tensors{layers[0].to(at::kLong)}, index, std::vector<LayerPair>(1)); },
      "float or double");
  expectFailure<ShapeError>(
      [&] { (void)gatherEnd(randomTensor({5, 2}, 1), index, PairEnd::kSource); }, "5 rows");
}

Tensors plainDots(const Tensors& layers, std::span<const Edge> pairs,
                  std::span<const LayerPair> views) {
  Tensors dots;
  for (const at::Tensor& products : plainViews(layers, pairs, views)) {
    dots.push_back(products.sum(1));
  }
  return dots;
}

// All views of two to four layers have kernels of their own, and widths are cut in strips.
TEST(ViewDots, OfAllViewsEqualSummedProductsWithTheirDerivatives) {
  for (const std::uint32_t depth : {2U, 3U, 4U, 5U}) {
    for (const std::int64_t width : {3, 16, 64, 133}) {
      SCOPED_TRACE(::testing::Message() << depth << " layers, " << width << " wide");
      const std::vector<LayerPair> views = someViews(depth, (1U << (depth * depth)) - 1);
      const std::vector<Edge> pairs = awkwardPairs(6, 9, depth);
      const auto index = PairIndex::make(pairs, 6);
      expectSameDerivatives([&](const Tensors& in) { return viewDots(in, index, views); },
                            [&](const Tensors& in) { return plainDots(in, pairs, views); },
                            randomLayers(depth, 6, width));
    }
  }
  const std::vector<LayerPair> views = someViews(4, 0xffff);
  const auto many = PairIndex::make(awkwardPairs(700, 900, 7), 700);
  expectSameBitsForThreads([&](const Tensors& in) { return viewDots(in, many, views); },
                           randomLayers(4, 700, 85, at::kFloat));
}

TEST(ViewDots, EqualSummedProductsWithTheirDerivatives) {
  for (const std::int64_t width : {0, 1, 4, 16, 37}) {
    for (const std::uint32_t bits : {0b1U, 0b10U, 0b110110U, 0b111111111U}) {
      SCOPED_TRACE(::testing::Message() << width << " wide, views " << bits);
      const std::vector<LayerPair> views = someViews(3, bits);
      const std::vector<Edge> pairs = awkwardPairs(6, 9, bits);
      const auto index = PairIndex::make(pairs, 6);
      expectSameDerivatives([&](const Tensors& in) { return viewDots(in, index, views); },
                            [&](const Tensors& in) { return plainDots(in, pairs, views); },
                            randomLayers(3, 6, width));
    }
  }
}

TEST(ViewDots, AgreeWithFiniteDifferencesInSeveralBlocks) {
  const std::vector<LayerPair> views = someViews(2, 0b1110);
  const auto few = PairIndex::make(awkwardPairs(5, 8, 1), 5);
  expectFiniteDifferences([&](const Tensors& in) { return viewDots(in, few, views); },
                          randomLayers(2, 5, 3));
  const std::vector<Edge> pairs = awkwardPairs(700, 900, 700);
  const auto many = PairIndex::make(pairs, 700);
  expectSameDerivatives([&](const Tensors& in) { return viewDots(in, many, views); },
                        [&](const Tensors& in) { return plainDots(in, pairs, views); },
                        randomLayers(2, 700, 3));
  expectSameBitsForThreads([&](const Tensors& in) { return viewDots(in, many, views); },
                           randomLayers(2, 700, 33, at::kFloat));
}

TEST(ViewDots, LeaveOutViewsAndLayersThatNothingIsAskedOf) {
  const std::vector<Edge> pairs = awkwardPairs(6, 9, 2);
  const auto index = PairIndex::make(pairs, 6);
  const std::vector<LayerPair> views = someViews(3, 0b111111111);
  const auto some = [](const Tensors& all) { return Tensors{all[1], all[8]}; };
  expectSameDerivatives([&](const Tensors& in) { return some(viewDots(in, index, views)); },
                        [&](const Tensors& in) { return some(plainDots(in, pairs, views)); },
                        randomLayers(3, 6, 4));
  const std::vector<LayerPair> of_two = someViews(2, 0b1111);
  const at::Tensor fixed = randomTensor({6, 4}, 1);
  expectSameDerivatives(
      [&](const Tensors& in) { return viewDots(Tensors{fixed, in[0]}, index, of_two); },
      [&](const Tensors& in) { return plainDots({fixed, in[0]}, pairs, of_two); },
      {randomLeaf({6, 4}, 2)});
  expectFailure<ShapeError>([&] { (void)viewDots(Tensors{}, index, of_two); },
                            "a layer and a view");
}

TEST(GatherEnd, EqualsSelectedRowsWithTheirDerivatives) {
  for (const std::size_t nodes : {1U, 2U, 40U, 600U}) {
    const std::vector<Edge> pairs = awkwardPairs(nodes, 3 * nodes, nodes);
    const auto index = PairIndex::make(pairs, nodes);
    for (const PairEnd end : {PairEnd::kSource, PairEnd::kTarget}) {
      const at::Tensor rows = endsOf(pairs, end);
      const auto ours = [&](const Tensors& in) { return Tensors{gatherEnd(in[0], index, end)}; };
      const Tensors x = {randomLeaf({static_cast<std::int64_t>(nodes), 3}, 1)};
      expectSameDerivatives(
          ours, [&](const Tensors& in) { return Tensors{in[0].index_select(0, rows)}; }, x);
      expectFiniteDifferences(ours, x);
    }
  }
  const auto none = PairIndex::make({}, 4);
  EXPECT_EQ(gatherEnd(randomTensor({4, 3}, 1), none, PairEnd::kTarget).size(0), 0);
}

TEST(GatherEnd, GivesBothEndsInTurn) {
  const std::vector<Edge> pairs = awkwardPairs(40, 90, 4);
  const auto index = PairIndex::make(pairs, 40);
  const auto ours = [&](const Tensors& in) {
    return Tensors{gatherEnd(in[0], index, PairEnd::kBoth)};
  };
  const at::Tensor rows =
      at::stack({endsOf(pairs, PairEnd::kSource), endsOf(pairs, PairEnd::kTarget)}, 1).view({-1});
  const Tensors x = {randomLeaf({40, 3}, 1)};
  expectSameDerivatives(
      ours, [&](const Tensors& in) { return Tensors{in[0].index_select(0, rows)}; }, x);
  expectFiniteDifferences(ours, x);
}

TEST(NearPairs, AreTheSamePairs) {
  const std::vector<Edge> pairs = awkwardPairs(40, 90, 4);
  const auto index = PairIndex::make(pairs, 40);
  const std::vector<LayerPair> views = someViews(3, 0b101101110);
  const auto ours = [&](const Tensors& in) {
    Tensors ends;
    for (const at::Tensor& layer : in) {
      ends.push_back(gatherEnd(layer, index, PairEnd::kBoth));
    }
    return viewPairs(ends, index->apart(), views);
  };
  expectSameDerivatives(
      ours, [&](const Tensors& in) { return plainViews(in, pairs, views); },
      randomLayers(3, 40, 4));
  EXPECT_EQ(index->apart(), index->apart());
  EXPECT_EQ(index->apart()->nodeCount(), 2 * pairs.size());
}

TEST(NearPairs, PayWhereFewOfManyNodesAreEnds) {
  const auto index = PairIndex::make(testing::randomPairs(100, 20, 1), 100);
  EXPECT_TRUE(nearPairsPay(*index, 1 << 20, at::kCPU));
  EXPECT_FALSE(nearPairsPay(*index, 64, at::kCPU)) << "a small matrix is no burden";
  const auto many = PairIndex::make(testing::randomPairs(100, 25, 1), 100);
  EXPECT_FALSE(nearPairsPay(*many, 1 << 20, at::kCPU)) << "half of all rows may be ends";
}

TEST(ViewPairs, GivesTheSameBitsForAnyThreadCount) {
  const auto index = PairIndex::make(awkwardPairs(900, 6000, 1), 900);
  const std::vector<LayerPair> views = someViews(2, 0b1111);
  expectSameBitsForThreads([&](const Tensors& in) { return viewPairs(in, index, views); },
                           randomLayers(2, 900, 33, at::kFloat));
  expectSameBitsForThreads(
      [&](const Tensors& in) {
        return Tensors{gatherEnd(in[0], index, PairEnd::kSource),
                       gatherEnd(in[0], index, PairEnd::kTarget)};
      },
      randomLayers(1, 900, 33, at::kFloat));
}

}  // namespace
}  // namespace edgewise
