#include "edgewise/views/link_model.h"

#include <gtest/gtest.h>

#include <string>

#include "edgewise/ops/view_pairs.h"
#include "edgewise/util/options.h"
#include "support/dense_models.h"
#include "support/random_features.h"
#include "support/random_graphs.h"
#include "support/tensors.h"
#include "support/test_support.h"
#include "views/dense_decoder.h"

namespace edgewise {
namespace {

using testing::denseAdjacency;
using testing::DenseDecoder;
using testing::DenseEncoder;
using testing::denseFeatures;
using testing::EdgeCase;
using testing::expectClose;
using testing::expectFailure;
using testing::expectSameBitsForThreads;
using testing::expectSameDerivatives;
using testing::NamedParameters;
using testing::randomCase;
using testing::randomFeatures;
using testing::randomPairs;
using testing::randomTensor;
using testing::sameBits;
using testing::Tensors;

ModelOptions smallModel(const std::string& selector) {
  ModelOptions options;
  options.encoder = {.layers = 3, .hidden = 6, .dropout = 0.3};
  options.predictor = {.kind = "hadamard", .layers = 2, .hidden = 5};
  options.selector = {.kind = selector, .view_loss = 0.6};
  options.embedding = 4;
  return options;
}

// A graph, a batch of its edges that is masked, and as many pairs that are no edges of the batch.
struct Task {
  Task(std::uint32_t nodes, std::size_t edges, std::size_t batch_size, at::ScalarType type)
      : graph(randomCase(1, nodes, edges, Direction::kUndirected, true)),
        masked(graph.edges.begin(), graph.edges.begin() + static_cast<std::ptrdiff_t>(batch_size)),
        batch(PairBatch::make(masked, randomPairs(nodes, batch_size, 2), nodes, type)) {}

  [[nodiscard]] std::shared_ptr<const MessagePlan> messages(const LinkModel& model) const {
    return MessagePlan::make(graph.graph(), model.encoder().norm())->without(masked);
  }

  EdgeCase graph;
  std::vector<Edge> masked;
  PairBatch batch;
};

// The loss of training with its first and second derivatives by every parameter.
TEST(LinkModel, EqualsDenseEncoderAndDecoder) {
  const Task task(14, 40, 8, at::kDouble);
  const FeatureMatrix features = randomFeatures(14, 9, 3);
  const Noise noise(5, 6);
  for (const std::string kind : {"gae", "sage"}) {
    for (const std::string selector : {"none", "fixed:1,2", "mean"}) {
      for (const std::string predictor : {"dot", "hadamard", "concat"}) {
        for (const bool extras : {false, true}) {
          SCOPED_TRACE(kind + ", " + selector + ", " + predictor);
          ModelOptions options = smallModel(selector);
          options.predictor.kind = predictor;
          if (extras) {
            options.encoder.norm = "layer";
            options.encoder.residual = true;
            options.encoder.layer_output = "after";
            options.features = "embedding";
          }
          const LinkModel model(kind, options, {features, 14, false});
          const NamedParameters parameters(model.layout(), 7);
          const DenseEncoder encoder{
              kind, options.encoder, denseAdjacency(task.graph, task.masked),
              extras ? parameters["input.embedding"] : denseFeatures(features), noise};
          const DenseDecoder decoder{options.selector,
                                     {.depth = 3,
                                      .width = 6,
                                      .symmetric = true,
                                      .dropout = 0.3,
                                      .predictor = options.predictor},
                                     noise};
          const auto messages = task.messages(model);
          expectSameDerivatives(
              [&](const Tensors&) {
                return Tensors{model.loss(parameters.values(), messages, task.batch, noise)};
              },
              [&](const Tensors&) {
                return Tensors{decoder.loss(parameters, encoder.encode(parameters, 3), task.batch)};
              },
              parameters.leaves());
        }
      }
    }
  }
}

// What does not trust autograd: the loss and its gradient at points on both sides.
TEST(LinkModel, AgreesWithFiniteDifferences) {
  constexpr double kStep = 1e-6;
  const Task task(14, 40, 8, at::kDouble);
  const FeatureMatrix features = randomFeatures(14, 9, 3);
  for (const std::string kind : {"gae", "sage"}) {
    ModelOptions options = smallModel("mean");
    options.encoder.norm = "layer";
    options.features = "both";
    const LinkModel model(kind, options, {features, 14, false});
    const NamedParameters parameters(model.layout(), 8);
    const Tensors leaves = parameters.leaves();
    const auto messages = task.messages(model);
    const auto loss_of = [&](const Parameters& at) {
      return model.loss(at, messages, task.batch, Noise(1, 2));
    };
    const at::Tensor direction = randomTensor({parameters.values().size()}, 9);
    const auto along = [&](const Tensors& gradient) {
      Tensors flat;
      for (const at::Tensor& tensor : gradient) {
        flat.push_back(tensor.reshape({-1}));
      }
      return (at::cat(flat) * direction).sum();
    };
    struct Point {
      double loss = 0;
      double slope = 0;
    };
    const auto look = [&](double step) {
      const Parameters moved = parameters.values().clone();
      moved.flat().add_(direction, step);
      const at::Tensor loss = loss_of(moved);
      return Point{loss.item<double>(), along(gradients(loss, moved.tensors())).item<double>()};
    };
    const Tensors first = gradients(loss_of(parameters.values()), leaves, GradientUse::kAgain);
    const at::Tensor slope = along(first);
    const double bend = along(gradients(slope, leaves)).item<double>();
    const Point ahead = look(kStep);
    const Point behind = look(-kStep);
    EXPECT_NEAR(slope.item<double>(), (ahead.loss - behind.loss) / (2 * kStep), 1e-6);
    EXPECT_NEAR(bend, (ahead.slope - behind.slope) / (2 * kStep), 1e-5 * std::max(1.0, bend));
  }
}

TEST(LinkModel, EncodesAsDeepAsItsDecoderLooks) {
  const EdgeCase graph = randomCase(2, 10, 20);
  const FeatureMatrix features = randomFeatures(10, 5, 1);
  for (const auto& [selector, depth] : {std::pair<std::string, std::size_t>{"none", 3},
                                        {"fixed:1,1", 1},
                                        {"fixed:2,1", 2},
                                        {"mean", 3}}) {
    const LinkModel model("sage", smallModel(selector), {features, 10, false});
    const Parameters parameters = Parameters::initial(model.layout(), 1);
    const auto plan = MessagePlan::make(graph.graph(), model.encoder().norm());
    EXPECT_EQ(model.encode(parameters, plan, Noise()).size(), depth) << selector;
    EXPECT_EQ(model.nodeCount(), 10U);
  }
}

TEST(LinkModel, SaysWhatNodesBring) {
  const FeatureMatrix features = randomFeatures(10, 5, 1);
  const FeatureMatrix none;
  const auto text = [&](const std::string& choice, const FeatureMatrix& given) {
    ModelOptions options = smallModel("none");
    options.features = choice;
    return LinkModel("gae", options, {given, 10, false}).inputText();
  };
  EXPECT_EQ(text("auto", features), "5 features");
  EXPECT_EQ(text("given", features), "5 features");
  EXPECT_EQ(text("embedding", features), "a learned embedding of 4");
  EXPECT_EQ(text("both", features), "5 features and a learned embedding of 4");
  EXPECT_EQ(text("auto", none), "a learned embedding of 4");
  EXPECT_EQ(text("both", none), "a learned embedding of 4");
  expectFailure<ConfigError>([&] { (void)text("given", none); }, "no features");
}

TEST(LinkModel, KeepsDirectionsWhenPairsHaveThem) {
  const EdgeCase graph = randomCase(2, 10, 20, Direction::kDirected);
  const FeatureMatrix features = randomFeatures(10, 5, 1);
  ModelOptions options = smallModel("none");
  options.predictor.kind = "concat";
  const std::vector<Edge> pairs = randomPairs(10, 12, 1);
  std::vector<Edge> back;
  for (const Edge& pair : pairs) {
    back.push_back(reversed(pair));
  }
  for (const bool directed : {false, true}) {
    const LinkModel model("gae", options, {features, 10, directed});
    const NamedParameters parameters(model.layout(), 1);
    const LayerOutputs layers = model.encode(
        parameters.values(), MessagePlan::make(graph.graph(), model.encoder().norm()), Noise());
    const auto score = [&](const std::vector<Edge>& of) {
      return model.decoder().logits(parameters.values(), layers, PairIndex::make(of, 10));
    };
    const double difference = (score(pairs) - score(back)).abs().max().item<double>();
    EXPECT_EQ(difference > 1e-12, directed) << difference;
  }
}

TEST(LinkModel, RefusesOptionsThatDoNotGoTogether) {
  const FeatureMatrix features = randomFeatures(10, 5, 1);
  const auto make = [&](const std::string& kind, const std::string& selector) {
    return LinkModel(kind, smallModel(selector), {features, 10, false});
  };
  expectFailure<ConfigError>([&] { (void)make("gae", "fixed:4,4"); }, "3 layers");
  expectFailure<ConfigError>([&] { (void)make("gae", "best"); }, "'best'");
  expectFailure<ConfigError>([&] { (void)make("transformer", "none"); }, "'transformer'");
  ModelOptions compares = smallModel("none");
  compares.loss.kind = "batch";
  compares.predictor.kind = "hadamard";
  expectFailure<ConfigError>([&] { (void)LinkModel("gae", compares, {features, 10, false}); },
                             "must be products");
  OptionSet set;
  ModelOptions options;
  options.bind(set);
  expectFailure<ConfigError>([&] { set.set("model.layers", "6", "here"); }, "model.layers");
  expectFailure<ConfigError>([&] { set.set("model.predictor", "sum", "here"); }, "model.predictor");
  expectFailure<ConfigError>([&] { set.set("selector.view_loss", "1.5", "here"); },
                             "selector.view_loss");
}

// Large enough that every loop is cut into blocks.
TEST(LinkModel, GivesTheSameBitsForAnyThreadCount) {
  const Task task(1200, 8000, 1500, at::kFloat);
  const FeatureMatrix features = randomFeatures(1200, 120, 3);
  for (const std::string kind : {"gae", "sage"}) {
    for (const std::string selector : {"none", "fixed:1,2", "mean"}) {
      SCOPED_TRACE(kind + ", " + selector);
      ModelOptions options = smallModel(selector);
      options.encoder = {
          .layers = 2, .hidden = 24, .dropout = 0.4, .norm = "layer", .residual = true};
      options.predictor = {.kind = selector == "none" ? "concat" : "hadamard", .layers = 2};
      options.features = "both";
      options.input_dropout = 0.2;
      const LinkModel model(kind, options, {features, 1200, false});
      const NamedParameters parameters(model.layout(), 1, at::kFloat);
      const auto messages = task.messages(model);
      expectSameBitsForThreads(
          [&](const Tensors&) {
            return Tensors{model.loss(parameters.values(), messages, task.batch, Noise(1, 2))};
          },
          parameters.leaves());
    }
  }
}

// A graph so much larger than its batch that layers are looked at where pairs end alone.
TEST(LinkModel, LooksAtPairsNearTheirEndsAsAmongAllNodes) {
  constexpr std::uint32_t kMany = std::uint32_t{1} << 19;
  const Task task(kMany, 4000, 100, at::kFloat);
  for (const std::string kind : {"gae", "sage", "lightgcn", "ngcf"}) {
    for (const std::string loss : {"bce", "softmax", "batch"}) {
      SCOPED_TRACE(kind + " " + loss);
      ModelOptions options = smallModel("none");
      options.encoder.hidden = 8;
      options.predictor = {.kind = "dot"};
      options.loss.kind = loss;
      options.loss.embedding_l2 = 0.01;
      const LinkModel model(kind, options, {.features = FeatureMatrix(), .nodes = kMany});
      const Parameters parameters = Parameters::initial(model.layout(), 3);
      const auto messages = task.messages(model);
      const Noise noise(1, 2);
      const EncodedPairs near = model.encodePairs(parameters, messages, task.batch.pairs, noise);
      ASSERT_EQ(near.pairs->nodeCount(), 2 * task.batch.pairs->size()) << "not near";
      const LayerOutputs all = model.encode(parameters, messages, noise);
      ASSERT_EQ(near.layers.size(), all.size());
      for (std::size_t k = 0; k < all.size(); ++k) {
        expectClose(near.layers[k], gatherEnd(all[k], task.batch.pairs, PairEnd::kBoth), 1e-5);
      }
      const at::Tensor got = model.loss(parameters, messages, task.batch, noise);
      const at::Tensor want =
          model.decodedLoss(parameters, {all, task.batch.pairs}, task.batch, noise);
      expectClose(got, want, 1e-5);
      expectClose(gradients(got, parameters.tensors()), gradients(want, parameters.tensors()),
                  1e-5);
    }
  }
}

}  // namespace
}  // namespace edgewise
