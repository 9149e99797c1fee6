#include <gtest/gtest.h>

#include <fstream>

#include "edgewise/nn/encoder.h"
#include "support/dense_graphs.h"
#include "support/dense_models.h"
#include "support/tensors.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using nlohmann::json;
using testing::denseAdjacency;
using testing::denseOperator;
using testing::EdgeCase;
using testing::expectFailure;
using testing::expectGolden;
using testing::expectSameBitsForThreads;
using testing::expectSameDerivatives;
using testing::NamedParameters;
using testing::tensorOf;
using testing::Tensors;

// A recommender over `nodes` embeddings.
struct Built {
  Built(const std::string& kind, const EncoderOptions& options, std::size_t nodes) {
    const auto input = std::make_shared<const NodeInput>(
        FeatureMatrix(), nodes, NodeInputOptions{.embedding = options.hidden}, layout);
    encoder = makeEncoder(kind, options, input, layout);
  }
  ParameterLayout layout;
  std::unique_ptr<Encoder> encoder;
};

json goldenRecommenders() {
  return json::parse(std::ifstream(testing::testFile("golden/recommenders.json")));
}

EdgeCase graphOf(const json& golden) {
  const std::uint32_t users = golden["users"];
  EdgeCase graph{.nodes = users + golden["items"].get<std::size_t>(), .edges = {}};
  for (const auto& pair : golden["interactions"]) {
    graph.edges.push_back(makeEdge(pair[0], users + pair[1].get<std::uint32_t>()));
  }
  return graph;
}

void fill(Parameters& parameters, const ParameterLayout& layout, const std::string& name,
          const at::Tensor& values) {
  for (const ParameterLayout::Entry& entry : layout.entries()) {
    if (entry.name == name) {
      parameters.flat().narrow(0, entry.offset, entry.size).copy_(values.reshape({-1}));
      return;
    }
  }
  FAIL() << "no parameter is called " << name;
}

TEST(LightGcn, EqualsTheGoldenLayersAndTheirMean) {
  const json cases = goldenRecommenders();
  ASSERT_FALSE(cases.empty());
  for (const json& golden : cases) {
    const EdgeCase graph = graphOf(golden);
    const auto layers = static_cast<std::int64_t>(golden["lightgcn_layers"].size());
    const Built built("lightgcn",
                      {.layers = layers - 1,
                       .hidden = tensorOf(golden["embedding"]).size(1),
                       .depth_zero = true,
                       .readout = "none"},
                      graph.nodes);
    EXPECT_EQ(built.encoder->firstHops(), 0);
    Parameters parameters = Parameters::initial(built.layout, 0, at::kDouble);
    fill(parameters, built.layout, "input.embedding", tensorOf(golden["embedding"]));
    const auto plan = MessagePlan::make(graph.graph(), built.encoder->norm());
    const LayerOutputs outputs =
        built.encoder->encode(parameters, plan, Noise(), built.encoder->depth());
    ASSERT_EQ(outputs.size(), golden["lightgcn_layers"].size());
    at::Tensor mean = at::zeros_like(outputs[0]);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      expectGolden(outputs[k], tensorOf(golden["lightgcn_layers"][k]));
      mean = mean + outputs[k] / static_cast<double>(layers);
    }
    expectGolden(mean, tensorOf(golden["lightgcn_mean"]));
  }
}

TEST(LightGcn, ReadsOutTheGoldenMean) {
  for (const json& golden : goldenRecommenders()) {
    const EdgeCase graph = graphOf(golden);
    const auto layers = static_cast<std::int64_t>(golden["lightgcn_layers"].size()) - 1;
    const Built built("lightgcn",
                      {.layers = layers, .hidden = tensorOf(golden["embedding"]).size(1)},
                      graph.nodes);
    EXPECT_EQ(built.encoder->depth(), 1U);
    EXPECT_EQ(built.encoder->firstHops(), layers);
    Parameters parameters = Parameters::initial(built.layout, 0, at::kDouble);
    fill(parameters, built.layout, "input.embedding", tensorOf(golden["embedding"]));
    const auto plan = MessagePlan::make(graph.graph(), built.encoder->norm());
    expectGolden(built.encoder->encode(parameters, plan, Noise(), 1)[0],
                 tensorOf(golden["lightgcn_mean"]));
  }
}

TEST(Ngcf, EqualsTheGoldenLayers) {
  for (const json& golden : goldenRecommenders()) {
    const json& ngcf = golden["ngcf"];
    const EdgeCase graph = graphOf(golden);
    const at::Tensor embedding = tensorOf(golden["embedding"]);
    const std::size_t count = ngcf["w1"].size();
    const Built built("ngcf",
                      {.layers = static_cast<std::int64_t>(count),
                       .hidden = embedding.size(1),
                       .dropout = 0,
                       .depth_zero = true,
                       .readout = "none"},
                      graph.nodes);
    Parameters parameters = Parameters::initial(built.layout, 0, at::kDouble);
    fill(parameters, built.layout, "input.embedding", embedding);
    for (std::size_t k = 0; k < count; ++k) {
      const std::string layer = "encoder." + std::to_string(k);
      fill(parameters, built.layout, layer + ".sum.weight", tensorOf(ngcf["w1"][k]));
      fill(parameters, built.layout, layer + ".sum.bias", tensorOf(ngcf["b1"][k]));
      fill(parameters, built.layout, layer + ".product.weight", tensorOf(ngcf["w2"][k]));
      fill(parameters, built.layout, layer + ".product.bias", tensorOf(ngcf["b2"][k]));
    }
    const auto plan = MessagePlan::make(graph.graph(), built.encoder->norm());
    const LayerOutputs outputs =
        built.encoder->encode(parameters, plan, Noise(), built.encoder->depth());
    // The golden layers may leave the embedding itself out.
    const std::size_t first = outputs.size() - ngcf["layers"].size();
    ASSERT_LE(first, 1U);
    for (std::size_t k = first; k < outputs.size(); ++k) {
      expectGolden(outputs[k], tensorOf(ngcf["layers"][k - first]));
    }
  }
}

// Both against dense operations with first and second derivatives, on a graph with a lonely user.
TEST(Recommenders, EqualDenseComputationsWithTheirDerivatives) {
  const EdgeCase graph{.nodes = 7,
                       .edges = {makeEdge(0, 4), makeEdge(0, 5), makeEdge(1, 4), makeEdge(1, 6)}};
  const at::Tensor adjacency = denseOperator(denseAdjacency(graph), Norm::kSymmetricOpen);
  for (const bool light : {true, false}) {
    const Built built(
        light ? "lightgcn" : "ngcf",
        {.layers = 2, .hidden = 3, .dropout = 0, .normalise_layers = !light, .readout = "none"}, 7);
    const NamedParameters parameters(built.layout, 5);
    const auto plan = MessagePlan::make(graph.graph(), built.encoder->norm());
    const auto dense = [&](const Tensors&) {
      at::Tensor h = parameters["input.embedding"];
      Tensors outputs;
      for (const std::string layer : {"encoder.0", "encoder.1"}) {
        const at::Tensor heard = adjacency.matmul(h);
        if (light) {
          h = heard;
          outputs.push_back(h);
          continue;
        }
        const at::Tensor sum = (heard + h).matmul(parameters[layer + ".sum.weight"]) +
                               parameters[layer + ".sum.bias"] +
                               (heard * h).matmul(parameters[layer + ".product.weight"]) +
                               parameters[layer + ".product.bias"];
        h = at::where(sum > 0, sum, 0.2 * sum);
        outputs.push_back(h / h.norm(2, 1, true));
      }
      return outputs;
    };
    expectSameDerivatives(
        [&](const Tensors&) {
          return built.encoder->encode(parameters.values(), plan, Noise(), 2);
        },
        dense, parameters.leaves());
  }
}

// What stands for a node is its layers' weighted sum, or all of them side by side, with first and
// second derivatives.
TEST(Recommenders, ReadOutTheirLayers) {
  const EdgeCase graph{.nodes = 7,
                       .edges = {makeEdge(0, 4), makeEdge(0, 5), makeEdge(1, 4), makeEdge(1, 6)}};
  struct Case {
    std::string kind;
    std::string weights;
    std::vector<double> expected;
  };
  const std::vector<Case> cases = {{"lightgcn", "equal", {1. / 3, 1. / 3, 1. / 3}},
                                   {"lightgcn", "0.5, 0.2,0.3", {0.5, 0.2, 0.3}},
                                   {"lightgcn", "0,1,0", {0, 1, 0}},
                                   {"lightgcn", "1,0,0", {1, 0, 0}},
                                   {"ngcf", "equal", {}}};
  for (const Case& each : cases) {
    SCOPED_TRACE(each.kind + " " + each.weights);
    EncoderOptions options{.layers = 2, .hidden = 3, .dropout = 0};
    options.layer_weights = each.weights;
    const Built whole(each.kind, options, 7);
    options.readout = "none";
    options.depth_zero = true;
    const Built apart(each.kind, options, 7);
    const NamedParameters parameters(whole.layout, 5);
    const auto plan = MessagePlan::make(graph.graph(), whole.encoder->norm());
    const bool light = each.kind == "lightgcn";
    EXPECT_EQ(whole.encoder->width(), light ? 3 : 9);
    EXPECT_EQ(whole.encoder->firstHops(), 2);
    expectSameDerivatives(
        [&](const Tensors&) {
          return whole.encoder->encode(parameters.values(), plan, Noise(), 1);
        },
        [&](const Tensors&) {
          const LayerOutputs layers = apart.encoder->encode(parameters.values(), plan, Noise(), 3);
          if (!light) {
            return Tensors{at::cat(layers, 1)};
          }
          return Tensors{each.expected[0] * layers[0] + each.expected[1] * layers[1] +
                         each.expected[2] * layers[2]};
        },
        parameters.leaves());
  }
}

// The deepest layer is computed nowhere else, with the same dropout.
TEST(Recommenders, EncodeEndsAsTheyEncodeAllNodes) {
  const EdgeCase graph = testing::randomCase(4, 19, 50);
  const std::vector<Edge> pairs = {makeEdge(0, 18), makeEdge(0, 4), makeEdge(7, 4),
                                   makeEdge(0, 18)};
  const auto index = PairIndex::make(pairs, graph.nodes);
  for (const std::string kind : {"lightgcn", "ngcf"}) {
    for (const std::string readout : {"auto", "none"}) {
      for (const bool zero : {false, true}) {
        SCOPED_TRACE(kind + " " + readout + (zero ? " from 0" : ""));
        const Built built(kind,
                          {.layers = 3,
                           .hidden = 4,
                           .dropout = 0.3,
                           .depth_zero = zero,
                           .normalise_layers = true,
                           .readout = readout},
                          graph.nodes);
        const NamedParameters parameters(built.layout, 5);
        const auto plan = MessagePlan::make(graph.graph(), built.encoder->norm());
        for (std::size_t depth = 1; depth <= built.encoder->depth(); ++depth) {
          expectSameDerivatives(
              [&](const Tensors&) {
                return built.encoder->encodeEnds(parameters.values(), plan, Noise(1, 2), depth,
                                                 index);
              },
              [&](const Tensors&) {
                return built.encoder->Encoder::encodeEnds(parameters.values(), plan, Noise(1, 2),
                                                          depth, index);
              },
              parameters.leaves());
        }
      }
    }
  }
}

TEST(Recommenders, RefuseWeightsThatDoNotFitTheirLayers) {
  EncoderOptions options{.layers = 2, .hidden = 3};
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"1,2", "2 weights"}, {"0,0,0", "all of them 0"}, {"1,x,2", "'x' is not a number"}};
  for (const auto& [text, problem] : cases) {
    options.layer_weights = text;
    expectFailure<ConfigError>([&] { (void)options.layerWeights(); }, problem);
  }
}

TEST(Recommenders, StartFromEmbeddingsAsWideAsTheirLayers) {
  ParameterLayout layout;
  const auto input = std::make_shared<const NodeInput>(FeatureMatrix(), 7,
                                                       NodeInputOptions{.embedding = 5}, layout);
  for (const char* kind : {"lightgcn", "ngcf"}) {
    expectFailure<ConfigError>(
        [&] { std::ignore = makeEncoder(kind, {.layers = 2, .hidden = 4}, input, layout); },
        "as wide as its layers");
  }
}

}  // namespace
}  // namespace edgewise
