#include "edgewise/views/link_model.h"

#include <fmt/format.h>

#include "edgewise/ops/view_pairs.h"
#include "edgewise/util/error.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

// Width of the embedding to learn; 0 for none.
std::int64_t embeddingWidth(const ModelOptions& options, const FeatureMatrix& features) {
  if (options.features == "given" || (options.features == "auto" && !features.empty())) {
    if (features.empty()) {
      throw ConfigError("model.features is 'given', but the data has no features",
                        "give --features FILE, or set model.features=embedding");
    }
    return 0;
  }
  return options.embedding;
}

std::string describeInput(const FeatureMatrix& features, std::int64_t embedding) {
  std::string learned = fmt::format("a learned embedding of {}", embedding);
  if (features.empty()) {
    return learned;
  }
  const std::string given = fmt::format("{} features", groupedCount(features.columns()));
  return embedding > 0 ? given + " and " + learned : given;
}

// A batch, and the rows it is decoded from.
struct Decodable {
  LayerOutputs layers;
  PairBatch batch;
};

Decodable decodable(const LayerOutputs& layers, const PairBatch& batch) {
  Decodable result{layers, batch};
  if (nearPairsPay(layers, *batch.pairs)) {
    NearPairs near = nearPairs(layers, batch.pairs);
    result.layers = std::move(near.layers);
    result.batch.pairs = std::move(near.pairs);
  }
  return result;
}

}  // namespace

void ModelOptions::bind(OptionSet& set) {
  encoder.bind(set);
  predictor.bind(set);
  set.add("model.features", features, {"auto", "given", "embedding", "both"},
          "what nodes bring: their features, a learned embedding, or both; auto: features where "
          "there are any");
  set.add("model.embedding", embedding, {1, 4096}, "width of the learned embedding");
  set.add("model.embedding_start", embedding_start, {"glorot", "orthogonal"},
          "how it starts: small random numbers, or columns at right angles to each other");
  set.add("model.normalise_features", normalise_features,
          "divide each node's features by their sum");
  set.add("model.input_dropout", input_dropout, {0.0, 0.99}, "dropout on the nodes' input");
  set.add("model.edge_weights", edge_weights,
          "weight messages by the edges' weights where the data has them");
  selector.bind(set);
}

LinkModel::LinkModel(const std::string& kind, const ModelOptions& options, const NodeSide& nodes)
    : nodes_(nodes.nodes) {
  static const FeatureMatrix no_features;
  const FeatureMatrix& features = options.features == "embedding" ? no_features : nodes.features;
  const std::int64_t embedding = embeddingWidth(options, features);
  input_text_ = describeInput(features, embedding);
  auto input = std::make_shared<const NodeInput>(
      features, nodes.nodes,
      NodeInputOptions{.embedding = embedding,
                       .normalise_rows = options.normalise_features,
                       .dropout = options.input_dropout,
                       .orthogonal = options.embedding_start == "orthogonal"},
      layout_);
  encoder_ = makeEncoder(kind, options.encoder, std::move(input), layout_);
  decoder_ = makeDecoder(options.selector,
                         {.depth = encoder_->depth(),
                          .width = encoder_->width(),
                          .symmetric = !nodes.directed,
                          .dropout = options.encoder.dropout,
                          .predictor = options.predictor},
                         layout_);
  if (options.selector.searches()) {
    selector_ = std::make_unique<ViewSelector>(
        options.selector,
        SelectorContext{.depth = encoder_->depth(),
                        .width = encoder_->width(),
                        .concatenate = options.predictor.concatenates(),
                        .symmetric = !nodes.directed},
        selector_layout_);
  }
}

LayerOutputs LinkModel::encode(const Parameters& parameters,
                               const std::shared_ptr<const MessagePlan>& messages,
                               const Noise& noise) const {
  return encoder_->encode(parameters, messages, noise, decoder_->depth());
}

at::Tensor LinkModel::loss(const Parameters& parameters,
                           const std::shared_ptr<const MessagePlan>& messages,
                           const PairBatch& batch, const Noise& noise) const {
  const Decodable near = decodable(encode(parameters, messages, noise), batch);
  return decoder_->loss(parameters, near.layers, near.batch, noise);
}

at::Tensor LinkModel::searchLoss(const Parameters& parameters, const Parameters& selector,
                                 const LayerOutputs& layers, const PairBatch& batch,
                                 const Noise& noise, const MixtureOptions& mixture) const {
  const Decodable near = decodable(layers, batch);
  const ViewMixture views{
      .shares = selector_->shares(selector, near.layers, near.batch.pairs, mixture),
      .use = mixture.use};
  return decoder_->mixtureLoss(parameters, near.layers, near.batch, views, noise);
}

at::Tensor LinkModel::chosenLoss(const Parameters& parameters, const Parameters& selector,
                                 const std::shared_ptr<const MessagePlan>& messages,
                                 PairBatch batch, const Noise& noise) const {
  const LayerOutputs layers = encode(parameters, messages, noise);
  batch.choice = selector_->choose(selector, layers, batch.pairs);
  const Decodable near = decodable(layers, batch);
  return decoder_->loss(parameters, near.layers, near.batch, noise);
}

}  // namespace edgewise
