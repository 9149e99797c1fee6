#include "edgewise/views/decoder.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

#include "support/random_graphs.h"
#include "support/tensors.h"
#include "support/test_support.h"
#include "views/dense_decoder.h"

namespace edgewise {
namespace {

using testing::DenseDecoder;
using testing::expectClose;
using testing::expectSameDerivatives;
using testing::NamedParameters;
using testing::plainCrossEntropy;
using testing::randomLeaf;
using testing::randomPairs;
using testing::randomTensor;
using testing::sameBits;
using testing::Tensors;

constexpr std::size_t kNodes = 8;
constexpr std::int64_t kWidth = 4;
constexpr std::array kPredictors = {"dot", "hadamard", "concat"};

DecoderContext contextOf(const std::string& predictor, bool symmetric, std::size_t depth = 3) {
  return {.depth = depth,
          .width = kWidth,
          .symmetric = symmetric,
          .dropout = 0.4,
          .predictor = {.kind = predictor, .layers = 2, .hidden = 5}};
}

struct Built {
  Built(const SelectorOptions& selector, const DecoderContext& context)
      : decoder(makeDecoder(selector, context, layout)), parameters(layout, 3) {}
  ParameterLayout layout;
  std::unique_ptr<Decoder> decoder;
  NamedParameters parameters;
};

Tensors randomLayers(std::size_t depth) {
  Tensors layers;
  for (std::size_t k = 0; k < depth; ++k) {
    layers.push_back(randomLeaf({static_cast<std::int64_t>(kNodes), kWidth}, 20 + k));
  }
  return layers;
}

std::vector<Edge> somePairs() {
  std::vector<Edge> pairs = randomPairs(kNodes, 9, 1);
  pairs.push_back(makeEdge(2, 2));
  pairs.push_back(reversed(pairs[0]));
  return pairs;
}

PairBatch someBatch() {
  const std::vector<Edge> pairs = somePairs();
  return PairBatch::make(std::span(pairs).first(4), std::span(pairs).subspan(4), kNodes,
                         at::kDouble);
}

std::vector<Edge> turned(std::vector<Edge> pairs) {
  for (Edge& pair : pairs) {
    pair = reversed(pair);
  }
  return pairs;
}

TEST(PairBatch, HasPositivesFirst) {
  const std::vector<Edge> positive = {makeEdge(0, 1), makeEdge(2, 3)};
  const std::vector<Edge> negative = {makeEdge(0, 3)};
  const PairBatch batch = PairBatch::make(positive, negative, 4);
  EXPECT_EQ(batch.labels.scalar_type(), at::kFloat);
  expectClose(batch.labels, at::tensor({1.0F, 1.0F, 0.0F}), 0);
  EXPECT_EQ(batch.pairs->pairs()[1], makeEdge(2, 3));
  EXPECT_EQ(batch.pairs->pairs()[2], makeEdge(0, 3));
  const PairBatch none = PairBatch::make({}, {}, 4, at::kDouble);
  EXPECT_EQ(none.labels.numel(), 0);
  EXPECT_EQ(none.labels.scalar_type(), at::kDouble);
}

// Scores and losses with derivatives by all parameters and layers.
TEST(Decoder, EqualsDenseScoresOfEveryPair) {
  const std::vector<Edge> pairs = somePairs();
  const PairBatch batch = someBatch();
  for (const std::string kind : {"none", "fixed:1,2", "fixed:2,1", "fixed:1,1", "mean"}) {
    for (const std::string predictor : kPredictors) {
      for (const bool symmetric : {true, false}) {
        for (const Noise& noise : {Noise(), Noise(7, 8)}) {
          SCOPED_TRACE(::testing::Message()
                       << kind << ", " << predictor << ", symmetric " << symmetric);
          const SelectorOptions selector{.kind = kind, .view_loss = 0.7};
          const DecoderContext context = contextOf(predictor, symmetric);
          const Built built(selector, context);
          const Tensors layers = randomLayers(3);
          const DenseDecoder quiet{selector, context};
          const DenseDecoder noisy{selector, context, noise};
          Tensors leaves = built.parameters.leaves();
          leaves.insert(leaves.end(), layers.begin(), layers.end());
          expectSameDerivatives(
              [&](const Tensors&) {
                const Parameters& values = built.parameters.values();
                Tensors result = {built.decoder->logits(values, layers, batch.pairs),
                                  built.decoder->loss(values, layers, batch, noise)};
                const Tensors views = built.decoder->logitsByView(values, layers, batch.pairs);
                result.insert(result.end(), views.begin(), views.end());
                return result;
              },
              [&](const Tensors&) {
                Tensors result = {quiet.logits(built.parameters, layers, pairs),
                                  noisy.loss(built.parameters, layers, batch)};
                if (kind == "mean") {
                  const Tensors views = quiet.byView(built.parameters, layers, pairs);
                  result.insert(result.end(), views.begin(), views.end());
                }
                return result;
              },
              leaves);
        }
      }
    }
  }
}

TEST(Decoder, ScoresUndirectedPairsTheSameBothWays) {
  const auto forth = PairIndex::make(somePairs(), kNodes);
  const auto back = PairIndex::make(turned(somePairs()), kNodes);
  for (const std::string kind : {"none", "fixed:1,2", "fixed:3,1", "fixed:2,2", "mean"}) {
    for (const std::string predictor : kPredictors) {
      SCOPED_TRACE(kind + ", " + predictor);
      const Built built({.kind = kind}, contextOf(predictor, true));
      const Tensors layers = randomLayers(3);
      const Parameters& values = built.parameters.values();
      expectClose(built.decoder->logits(values, layers, forth),
                  built.decoder->logits(values, layers, back), 1e-12);
      expectClose(built.decoder->logitsByView(values, layers, forth),
                  built.decoder->logitsByView(values, layers, back), 1e-12);
    }
  }
}

TEST(Decoder, KeepsTheOrderOfDirectedPairs) {
  const auto forth = PairIndex::make(somePairs(), kNodes);
  const auto back = PairIndex::make(turned(somePairs()), kNodes);
  const auto turns = [&](const std::string& kind, const std::string& predictor) {
    const Built built({.kind = kind}, contextOf(predictor, false));
    const Tensors layers = randomLayers(3);
    const Parameters& values = built.parameters.values();
    const at::Tensor difference =
        built.decoder->logits(values, layers, forth) - built.decoder->logits(values, layers, back);
    return difference.abs().max().item<double>();
  };
  for (const std::string kind : {"none", "fixed:1,2", "mean"}) {
    EXPECT_GT(turns(kind, "concat"), 0.01) << kind;
  }
  for (const std::string predictor : {"dot", "hadamard"}) {
    EXPECT_GT(turns("fixed:1,2", predictor), 0.01);
    EXPECT_LT(turns("none", predictor), 1e-12) << "a product of one layer has no order";
  }
}

TEST(Decoder, FixedAtTheDeepestViewIsNone) {
  const PairBatch batch = someBatch();
  for (const std::string predictor : kPredictors) {
    for (const bool symmetric : {true, false}) {
      const Built none({.kind = "none"}, contextOf(predictor, symmetric));
      const Built fixed({.kind = "fixed:3,3"}, contextOf(predictor, symmetric));
      const Tensors layers = randomLayers(3);
      ASSERT_TRUE(sameBits(none.parameters.values().flat(), fixed.parameters.values().flat()));
      EXPECT_TRUE(sameBits(none.decoder->logits(none.parameters.values(), layers, batch.pairs),
                           fixed.decoder->logits(fixed.parameters.values(), layers, batch.pairs)));
      EXPECT_TRUE(
          sameBits(none.decoder->loss(none.parameters.values(), layers, batch, Noise(1, 2)),
                   fixed.decoder->loss(fixed.parameters.values(), layers, batch, Noise(1, 2))));
      EXPECT_EQ(none.decoder->depth(), fixed.decoder->depth());
    }
  }
}

TEST(MeanDecoder, SharesItsLossBetweenEachViewAndTheirMean) {
  const PairBatch batch = someBatch();
  const Tensors layers = randomLayers(3);
  const auto built_with = [&](double share) {
    return Built({.kind = "mean", .view_loss = share}, contextOf("hadamard", true));
  };
  const Built built = built_with(0.5);
  const Parameters& values = built.parameters.values();
  double each = 0;
  const Tensors scores = built.decoder->logitsByView(values, layers, batch.pairs);
  ASSERT_EQ(scores.size(), 9U);
  for (const at::Tensor& score : scores) {
    each += plainCrossEntropy(score, batch.labels).item<double>() / 9;
  }
  const at::Tensor mean = built.decoder->logits(values, layers, batch.pairs);
  expectClose(mean, at::stack(scores, 0).mean(0));
  const double together = plainCrossEntropy(mean, batch.labels).item<double>();
  ASSERT_GT(each, together + 0.001) << "the mean of losses is above the loss of the mean";
  const auto loss = [&](double share) {
    return built_with(share).decoder->loss(values, layers, batch, Noise()).item<double>();
  };
  EXPECT_NEAR(loss(1), each, 1e-12);
  EXPECT_NEAR(loss(0.5), (each + together) / 2, 1e-12);
  EXPECT_NEAR(loss(0), together, 1e-12);
}

TEST(MeanDecoder, SharesPredictorsBetweenViewsThatMirrorEachOther) {
  const auto heads = [](bool symmetric) {
    return Built({.kind = "mean"}, contextOf("hadamard", symmetric)).layout.entries().size() / 4;
  };
  EXPECT_EQ(heads(true), 6U);
  EXPECT_EQ(heads(false), 9U);
  const Built built({.kind = "mean"}, contextOf("hadamard", true));
  const Tensors scores =
      built.decoder->logitsByView(built.parameters.values(), randomLayers(3), someBatch().pairs);
  EXPECT_TRUE(sameBits(scores[1], scores[3]));
  EXPECT_TRUE(sameBits(scores[2], scores[6]));
  EXPECT_TRUE(sameBits(scores[5], scores[7]));
  EXPECT_FALSE(sameBits(scores[1], scores[2]));
}

TEST(Decoder, LooksNoDeeperThanItsViews) {
  const auto depth = [](const std::string& kind) {
    return Built({.kind = kind}, contextOf("dot", true, 4)).decoder->depth();
  };
  EXPECT_EQ(depth("none"), 4U);
  EXPECT_EQ(depth("mean"), 4U);
  EXPECT_EQ(depth("fixed:1,1"), 1U);
  EXPECT_EQ(depth("fixed:1,3"), 3U);
  EXPECT_EQ(depth("fixed:3,2"), 3U);
  EXPECT_EQ(depth("fixed:4,4"), 4U);
  // What is deeper need not be there.
  const PairBatch batch = someBatch();
  for (const std::string predictor : kPredictors) {
    const Built built({.kind = "fixed:1,2"}, contextOf(predictor, true, 4));
    const Parameters& values = built.parameters.values();
    EXPECT_TRUE(sameBits(built.decoder->logits(values, randomLayers(2), batch.pairs),
                         built.decoder->logits(values, randomLayers(4), batch.pairs)));
  }
}

TEST(Decoder, NamesItsViews) {
  const auto views = [](const std::string& kind) {
    const Built built({.kind = kind}, contextOf("dot", true));
    return std::vector<LayerPair>(built.decoder->views().begin(), built.decoder->views().end());
  };
  EXPECT_EQ(views("none"), (std::vector<LayerPair>{{2, 2}}));
  EXPECT_EQ(views("fixed:1,3"), (std::vector<LayerPair>{{0, 2}}));
  EXPECT_EQ(views("mean"),
            (std::vector<LayerPair>{
                {0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {2, 0}, {2, 1}, {2, 2}}));
  EXPECT_EQ(views("mean"), allViews(3));
}

TEST(Decoder, TakesEmptyBatches) {
  const PairBatch none = PairBatch::make({}, {}, kNodes, at::kDouble);
  for (const std::string kind : {"none", "fixed:1,2", "mean"}) {
    for (const std::string predictor : kPredictors) {
      const Built built({.kind = kind}, contextOf(predictor, true));
      const Parameters& values = built.parameters.values();
      EXPECT_EQ(built.decoder->logits(values, randomLayers(3), none.pairs).numel(), 0);
      EXPECT_EQ(built.decoder->loss(values, randomLayers(3), none, Noise()).item<double>(), 0);
    }
  }
}

TEST(FixedView, IsReadFromItsName) {
  EXPECT_EQ(fixedView("none", 1), std::nullopt);
  EXPECT_EQ(fixedView("mean", 1), std::nullopt);
  EXPECT_EQ(fixedView("", 1), std::nullopt);
  EXPECT_EQ(fixedView("fixed:2,3", 1), (LayerPair{1, 2}));
  EXPECT_EQ(fixedView("fixed: 1 , 1 ", 1), (LayerPair{0, 0}));
  EXPECT_EQ(fixedView("fixed:2,3", 2), (LayerPair{0, 1}));
}

TEST(Decoder, RefusesViewsAndSelectorsThatAreNotThere) {
  const auto hint = [](const std::string& kind, const std::string& message) {
    try {
      const Built built({.kind = kind}, contextOf("dot", true));
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(kind), std::string::npos) << error.what();
      EXPECT_EQ(error.exitCode(), ExitCode::kUsage);
      return error.hint();
    }
    ADD_FAILURE() << kind << " was taken";
    return std::string();
  };
  for (const std::string kind :
       {"fixed:0,1", "fixed:1,0", "fixed:", "fixed", "fixed:1", "fixed:1,2,3", "fixed:a,b",
        "fixed:10,1", "fixed:-1,1", "fixed:1.5,1", "fixed:1;2", "fixed=1,2"}) {
    EXPECT_NE(hint(kind, "is not a view").find("fixed:1,2"), std::string::npos) << kind;
  }
  for (const std::string kind : {"fixed:9,9", "fixed:1,4", "fixed:4,1"}) {
    EXPECT_NE(hint(kind, "which has 3 layers").find("model.layers"), std::string::npos);
  }
  EXPECT_NE(hint("median", "no selector").find("none, fixed:I,J, mean"), std::string::npos);
  EXPECT_NE(hint("None", "no selector").find("known"), std::string::npos);
}

}  // namespace
}  // namespace edgewise
