#include "edgewise/nn/encoder.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "support/dense_graphs.h"
#include "support/dense_models.h"
#include "support/random_features.h"
#include "support/tensors.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::denseAdjacency;
using testing::DenseEncoder;
using testing::denseFeatures;
using testing::EdgeCase;
using testing::expectClose;
using testing::expectFailure;
using testing::expectGolden;
using testing::expectSameBitsForThreads;
using testing::expectSameDerivatives;
using testing::NamedParameters;
using testing::randomCase;
using testing::randomFeatures;
using testing::sameBits;
using testing::tensorOf;
using testing::Tensors;

// An encoder with all it stands on.
struct Built {
  Built(const std::string& kind, const EncoderOptions& options, const FeatureMatrix& features,
        std::size_t nodes, std::int64_t embedding) {
    input = std::make_shared<const NodeInput>(features, nodes,
                                              NodeInputOptions{.embedding = embedding}, layout);
    encoder = makeEncoder(kind, options, input, layout);
  }
  ParameterLayout layout;
  std::shared_ptr<const NodeInput> input;
  std::unique_ptr<Encoder> encoder;
};

std::vector<EdgeCase> awkwardGraphs() {
  EdgeCase lonely{.nodes = 9, .edges = {}};
  for (std::uint32_t i = 1; i < 6; ++i) {
    lonely.edges.push_back(makeEdge(0, i));  // a star; three nodes stay alone
  }
  EdgeCase loops = lonely;
  loops.edges.push_back(makeEdge(0, 0));
  loops.edges.push_back(makeEdge(8, 8));
  EdgeCase repeats = lonely;
  repeats.edges.push_back(makeEdge(1, 0));
  repeats.edges.push_back(makeEdge(0, 1));
  return {lonely,
          loops,
          repeats,
          {.nodes = 1, .edges = {}},
          {.nodes = 1, .edges = {makeEdge(0, 0)}},
          {.nodes = 6, .edges = {}},
          randomCase(1, 12, 25),
          randomCase(2, 12, 25, Direction::kUndirected, true),
          randomCase(3, 12, 25, Direction::kDirected, true)};
}

// Pairs in which some nodes are often an end and others never.
std::shared_ptr<const PairIndex> someEnds(std::size_t nodes) {
  std::vector<Edge> pairs;
  for (std::uint32_t i = 0; i < 5; ++i) {
    pairs.push_back(makeEdge(0, i * i % static_cast<std::uint32_t>(nodes)));
  }
  return PairIndex::make(pairs, nodes);
}

Tensors rowsAtEnds(const Tensors& layers, const PairIndex& pairs) {
  const at::Tensor ends = pairs.ends(at::kCPU).reshape({-1}).to(at::kLong);
  Tensors rows;
  for (const at::Tensor& layer : layers) {
    rows.push_back(layer.index_select(0, ends));
  }
  return rows;
}

// Every layer's output, at all nodes and at ends alone, and the derivatives by every parameter,
// with and without dropout and a masked batch of edges.
void expectSameEncoder(const std::string& kind, const EncoderOptions& options,
                       const EdgeCase& graph, std::int64_t embedding) {
  const FeatureMatrix features =
      embedding == 0 ? randomFeatures(graph.nodes, 7, 1) : FeatureMatrix();
  const Built built(kind, options, features, graph.nodes, embedding);
  const NamedParameters parameters(built.layout, 4);
  const auto whole = MessagePlan::make(graph.graph(), built.encoder->norm());
  const std::span<const Edge> batch = std::span(graph.edges).first(graph.edges.size() / 3);
  for (const bool training : {false, true}) {
    const Noise noise = training ? Noise(1, 2) : Noise();
    const auto messages = training ? whole->without(batch) : whole;
    const DenseEncoder dense{
        kind, options, training ? denseAdjacency(graph, batch) : denseAdjacency(graph),
        embedding == 0 ? denseFeatures(features) : parameters["input.embedding"], noise};
    const auto depth = static_cast<std::size_t>(options.layers);
    expectSameDerivatives(
        [&](const Tensors&) {
          return built.encoder->encode(parameters.values(), messages, noise, depth);
        },
        [&](const Tensors&) { return dense.encode(parameters, depth); }, parameters.leaves());
    const auto pairs = someEnds(graph.nodes);
    expectSameDerivatives(
        [&](const Tensors&) {
          return built.encoder->encodeEnds(parameters.values(), messages, noise, depth, pairs);
        },
        [&](const Tensors&) { return rowsAtEnds(dense.encode(parameters, depth), *pairs); },
        parameters.leaves());
  }
}

TEST(Encoder, EqualsDenseLayersOnAwkwardGraphs) {
  for (const std::string kind : {"gae", "sage"}) {
    std::int64_t embedding = 0;
    for (const EdgeCase& graph : awkwardGraphs()) {
      SCOPED_TRACE(::testing::Message() << kind << " on " << graph.nodes << " nodes, "
                                        << graph.edges.size() << " edges");
      expectSameEncoder(kind, {.layers = 3, .hidden = 4, .dropout = 0.3}, graph, embedding);
      embedding = 5 - embedding;
    }
  }
}

TEST(Encoder, EqualsDenseLayersWithEveryOption) {
  const EdgeCase graph = randomCase(5, 14, 30, Direction::kUndirected, true);
  for (const std::string kind : {"gae", "sage"}) {
    for (const std::string norm : {"none", "layer"}) {
      for (const bool residual : {false, true}) {
        for (const std::string output : {"before", "after"}) {
          for (const std::int64_t layers : {1, 2, 4}) {
            SCOPED_TRACE(::testing::Message()
                         << kind << " norm " << norm << " residual " << residual << " output "
                         << output << " layers " << layers);
            const EncoderOptions options{.layers = layers,
                                         .hidden = 5,
                                         .dropout = 0.3,
                                         .norm = norm,
                                         .residual = residual,
                                         .layer_output = output};
            expectSameEncoder(kind, options, graph, layers == 2 ? 3 : 0);
          }
        }
      }
    }
  }
}

TEST(Encoder, PropagatesLinearlyWithAShareOfTheEmbedding) {
  const EdgeCase graph = randomCase(5, 14, 30, Direction::kUndirected, true);
  for (const std::string kind : {"gae", "sage"}) {
    for (const std::string activation : {"relu", "none"}) {
      for (const double share : {0.0, 0.25}) {
        for (const std::string output : {"before", "after"}) {
          SCOPED_TRACE(::testing::Message()
                       << kind << ' ' << activation << ' ' << share << ' ' << output);
          const EncoderOptions options{.layers = 3,
                                       .hidden = 4,
                                       .dropout = 0.3,
                                       .layer_output = output,
                                       .activation = activation,
                                       .initial_residual = share};
          expectSameEncoder(kind, options, graph, 4);
        }
      }
    }
  }
  expectFailure<ConfigError>(
      [] {
        const Built built("gae", {.hidden = 4, .initial_residual = 0.1}, FeatureMatrix(), 5, 3);
      },
      "as wide");
}

// Dense features that nothing masks are summed over their neighbours once for each plan.
TEST(Encoder, KnowsTheFirstSumsOfDenseFeatures) {
  const EdgeCase graph = randomCase(7, 12, 30);
  const EdgeCase other = randomCase(8, 12, 30);
  std::vector<float> values;
  for (std::size_t i = 0; i < graph.nodes * 3; ++i) {
    values.push_back(0.5F * static_cast<float>(i % 7) - 1);
  }
  const FeatureMatrix features = FeatureMatrix::dense(graph.nodes, 3, values);
  for (const std::string kind : {"gae", "sage"}) {
    const EncoderOptions options{.layers = 2, .hidden = 4, .dropout = 0};
    const Built built(kind, options, features, graph.nodes, 0);
    const NamedParameters parameters(built.layout, 4);
    for (const EdgeCase* each : {&graph, &other, &graph}) {
      const auto messages = MessagePlan::make(each->graph(), built.encoder->norm());
      const DenseEncoder dense{kind, options, denseAdjacency(*each), denseFeatures(features)};
      for (int again = 0; again < 2; ++again) {
        expectSameDerivatives(
            [&](const Tensors&) {
              return built.encoder->encode(parameters.values(), messages, Noise(), 2);
            },
            [&](const Tensors&) { return dense.encode(parameters, 2); }, parameters.leaves());
      }
    }
  }
}

// PyG's layers are of several widths: the narrow ones stand in wide ones whose further columns are
// zero. Their features stand in the embedding, which has double precision and a gradient.
TEST(Encoder, ReproducesGoldenConvolutions) {
  constexpr std::int64_t kHidden = 4;
  for (const auto& golden : testing::goldenConvolutions()) {
    const bool gcn = golden["kind"] == "gcn";
    const EdgeCase graph = testing::goldenCase(golden);
    const at::Tensor features = tensorOf(golden["features"]);
    const Built built(gcn ? "gae" : "sage", {.layers = 3, .hidden = kHidden}, FeatureMatrix(),
                      graph.nodes, features.size(1));
    const NamedParameters parameters(built.layout, 1);
    parameters.values().flat().zero_();
    Tensors leaves;
    Tensors wanted;
    // Puts a golden tensor (weights: out x in) into a parameter's corner; its gradient is wanted
    // there.
    const auto place = [&](const std::string& name, const nlohmann::json& from,
                           const nlohmann::json& gradient, bool weight) {
      const auto turned = [&](const nlohmann::json& json) {
        return weight ? tensorOf(json).t() : tensorOf(json);
      };
      at::Tensor corner = parameters[name].detach();
      const at::Tensor values = turned(from);
      for (std::int64_t d = 0; d < values.dim(); ++d) {
        corner = corner.narrow(d, 0, values.size(d));
      }
      corner.copy_(values);
      leaves.push_back(parameters[name]);
      wanted.push_back(turned(gradient));
    };
    place("input.embedding", golden["features"], golden["d_features"], false);
    for (std::size_t k = 0; k < 3; ++k) {
      const auto& layer = golden["layers"][k];
      const std::string name = "encoder." + std::to_string(k);
      if (gcn) {
        place(name + ".weight", layer["weight"], layer["d_weight"], true);
      } else {
        place(name + ".neighbours.weight", layer["weight_neighbour"], layer["d_weight_neighbour"],
              true);
        place(name + ".self.weight", layer["weight_self"], layer["d_weight_self"], true);
      }
      place(name + ".bias", layer["bias"], layer["d_bias"], false);
    }
    const LayerOutputs outputs = built.encoder->encode(
        parameters.values(), MessagePlan::make(graph.graph(), built.encoder->norm()), Noise(), 3);
    at::Tensor total = at::zeros({}, features.options());
    for (std::size_t k = 0; k < 3; ++k) {
      const at::Tensor want = tensorOf(golden["outputs"][k]);
      const at::Tensor got = outputs[k].narrow(1, 0, want.size(1));
      expectGolden(got, want);
      total = total + (got * tensorOf(golden["cotangents"][k])).sum();
    }
    const Tensors got = gradients(total, leaves);
    for (std::size_t i = 0; i < got.size(); ++i) {
      at::Tensor corner = got[i];
      for (std::int64_t d = 0; d < wanted[i].dim(); ++d) {
        corner = corner.narrow(d, 0, wanted[i].size(d));
      }
      expectGolden(corner, wanted[i]);
    }
  }
}

TEST(Encoder, StopsWhereAskedTo) {
  const EdgeCase graph = randomCase(6, 10, 20);
  const Built built("gae", {.layers = 4, .hidden = 3}, randomFeatures(10, 6, 1), 10, 0);
  const NamedParameters parameters(built.layout, 1);
  const auto plan = MessagePlan::make(graph.graph(), built.encoder->norm());
  const auto encode = [&](std::size_t depth) {
    return built.encoder->encode(parameters.values(), plan, Noise(1, 1), depth);
  };
  const LayerOutputs all = encode(4);
  EXPECT_EQ(built.encoder->depth(), 4U);
  EXPECT_EQ(built.encoder->width(), 3);
  for (std::size_t depth = 1; depth <= 4; ++depth) {
    const LayerOutputs some = encode(depth);
    ASSERT_EQ(some.size(), depth);
    for (std::size_t k = 0; k < depth; ++k) {
      EXPECT_TRUE(sameBits(some[k], all[k]));
    }
  }
  EXPECT_THROW((void)encode(0), std::logic_error);
  EXPECT_THROW((void)encode(5), std::logic_error);
}

TEST(Encoder, LeavesOutTheLayersBeforeTheFirstDepth) {
  const EdgeCase graph = randomCase(6, 10, 20);
  for (const std::string kind : {"gae", "sage"}) {
    const Built whole(kind, {.layers = 4, .hidden = 3}, randomFeatures(10, 6, 1), 10, 0);
    const Built later(kind, {.layers = 4, .hidden = 3, .first_depth = 3}, randomFeatures(10, 6, 1),
                      10, 0);
    const NamedParameters parameters(whole.layout, 1);
    const auto plan = MessagePlan::make(graph.graph(), whole.encoder->norm());
    EXPECT_EQ(later.encoder->depth(), 2U);
    EXPECT_EQ(later.encoder->firstHops(), 3);
    EXPECT_EQ(later.layout.totalSize(), whole.layout.totalSize());
    const LayerOutputs all = whole.encoder->encode(parameters.values(), plan, Noise(1, 1), 4);
    const LayerOutputs some = later.encoder->encode(parameters.values(), plan, Noise(1, 1), 2);
    ASSERT_EQ(some.size(), 2U);
    EXPECT_TRUE(sameBits(some[0], all[2]));
    EXPECT_TRUE(sameBits(some[1], all[3]));
    const auto pairs = PairIndex::make(std::vector<Edge>{makeEdge(1, 2), makeEdge(7, 0)}, 10);
    const LayerOutputs ends =
        later.encoder->encodeEnds(parameters.values(), plan, Noise(1, 1), 2, pairs);
    ASSERT_EQ(ends.size(), 2U);
    EXPECT_TRUE(at::allclose(ends[0][3], all[2][0]));
    EXPECT_TRUE(at::allclose(ends[1][2], all[3][7]));
  }
  expectFailure<ConfigError>(
      [] { const Built built("gae", {.layers = 2, .first_depth = 3}, FeatureMatrix(), 5, 4); },
      "model.first_depth=3");
}

TEST(Encoder, NamesItsParameters) {
  const auto names = [](const std::string& kind) {
    const Built built(kind, {.layers = 2, .hidden = 3, .norm = "layer"}, FeatureMatrix(), 5, 4);
    std::vector<std::string> result;
    for (const ParameterLayout::Entry& entry : built.layout.entries()) {
      result.push_back(entry.name);
    }
    return result;
  };
  // Checkpoints go by these.
  EXPECT_EQ(names("gae"), (std::vector<std::string>{
                              "input.embedding", "encoder.0.weight", "encoder.0.bias",
                              "encoder.0.norm.scale", "encoder.0.norm.shift", "encoder.1.weight",
                              "encoder.1.bias", "encoder.1.norm.scale", "encoder.1.norm.shift"}));
  EXPECT_EQ(names("sage"),
            (std::vector<std::string>{
                "input.embedding", "encoder.0.neighbours.weight", "encoder.0.self.weight",
                "encoder.0.bias", "encoder.0.norm.scale", "encoder.0.norm.shift",
                "encoder.1.neighbours.weight", "encoder.1.self.weight", "encoder.1.bias",
                "encoder.1.norm.scale", "encoder.1.norm.shift"}));
}

TEST(Encoder, StartsAsPyGsConvolutions) {
  const Built gcn("gae", {.layers = 2, .hidden = 20}, randomFeatures(5, 30, 1), 5, 0);
  const Parameters values = Parameters::initial(gcn.layout, 1, at::kDouble);
  EXPECT_NEAR(values.tensors()[0].abs().max().item<double>(), std::sqrt(6.0 / 50), 0.01);
  EXPECT_NEAR(values.tensors()[2].abs().max().item<double>(), std::sqrt(6.0 / 40), 0.01);
  EXPECT_EQ(values.tensors()[1].abs().max().item<double>(), 0);
  const Built sage("sage", {.layers = 1, .hidden = 20}, randomFeatures(5, 30, 1), 5, 0);
  const Parameters other = Parameters::initial(sage.layout, 1, at::kDouble);
  for (const at::Tensor& tensor : other.tensors()) {
    EXPECT_LE(tensor.abs().max().item<double>(), 1 / std::sqrt(30.0));
    EXPECT_GT(tensor.abs().max().item<double>(), 0.8 / std::sqrt(30.0));
  }
}

TEST(Encoder, RefusesWhatItCannotDo) {
  expectFailure<ConfigError>([] { const Built built("gin", {}, FeatureMatrix(), 5, 4); }, "'gin'");
  const Built built("sage", {}, FeatureMatrix(), 5, 4);
  const Parameters parameters = Parameters::initial(built.layout, 1);
  expectFailure<ShapeError>(
      [&] {
        (void)built.encoder->encode(
            parameters, MessagePlan::make(CsrGraph::fromEdges(6, {}), Norm::kMean), Noise(), 1);
      },
      "6 nodes for a model of 5");
}

TEST(Encoder, GivesTheSameBitsForAnyThreadCount) {
  const EdgeCase graph = randomCase(7, 1500, 9000, Direction::kUndirected, true);
  for (const std::string kind : {"gae", "sage"}) {
    const EncoderOptions options{
        .layers = 2, .hidden = 24, .dropout = 0.4, .norm = "layer", .residual = true};
    const Built built(kind, options, randomFeatures(1500, 200, 2), 1500, 0);
    const NamedParameters parameters(built.layout, 3, at::kFloat);
    const auto plan = MessagePlan::make(graph.graph(), built.encoder->norm())
                          ->without(std::span(graph.edges).first(1000));
    expectSameBitsForThreads(
        [&](const Tensors&) {
          return built.encoder->encode(parameters.values(), plan, Noise(5, 6), 2);
        },
        parameters.leaves());
  }
}

}  // namespace
}  // namespace edgewise
