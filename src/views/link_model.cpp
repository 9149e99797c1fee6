#include "edgewise/views/link_model.h"

#include <ATen/TensorOperators.h>
#include <fmt/format.h>

#include "edgewise/ops/pair_uses.h"
#include "edgewise/ops/rowwise.h"
#include "edgewise/util/error.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

// Width of the embedding to learn; 0 for none.
std::int64_t embeddingWidth(const std::string& kind, const ModelOptions& options,
                            const FeatureMatrix& features) {
  if (isRecommender(kind)) {
    return options.encoder.hidden;
  }
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

}  // namespace

void ModelOptions::bind(OptionSet& set) {
  encoder.bind(set);
  predictor.bind(set);
  set.add("model.features", features, {"auto", "given", "embedding", "both"},
          "what nodes bring: their features, a learned embedding, or both; auto: features where "
          "there are any");
  set.add("model.embedding", embedding, {1, 4096},
          "width of the learned embedding; lightgcn, ngcf: it is model.hidden");
  set.add("model.embedding_start", embedding_start, {"glorot", "normal", "orthogonal"},
          "how it starts: small random numbers, smaller the more nodes there are; normal ones of "
          "deviation 0.1; or columns at right angles to each other");
  set.add("model.unit_length", unit_length, {"never", "training", "always"},
          "scale nodes' representations to length 1, so that dot products are cosines: while "
          "learning, or when pairs are scored too");
  set.add("model.normalise_features", normalise_features,
          "divide each node's features by their sum");
  set.add("model.input_dropout", input_dropout, {0.0, 0.99}, "dropout on the nodes' input");
  set.add("model.edge_weights", edge_weights,
          "weight messages by the edges' weights where the data has them");
  selector.bind(set);
  loss.bind(set);
}

LinkModel::LinkModel(const std::string& kind, const ModelOptions& options, const NodeSide& nodes)
    : nodes_(nodes.nodes),
      unit_length_(options.unit_length),
      embedding_l2_(options.loss.embedding_l2) {
  static const FeatureMatrix no_features;
  const bool no_look = options.features == "embedding" || isRecommender(kind);
  const FeatureMatrix& features = no_look ? no_features : nodes.features;
  const std::int64_t embedding = embeddingWidth(kind, options, features);
  if (embedding_l2_ > 0 && embedding == 0) {
    throw ConfigError("training.embedding_l2: this model learns no embeddings",
                      "leave it 0, or set model.features=embedding");
  }
  if (unit_length_ == "training" && options.selector.searches()) {
    throw ConfigError(
        "model.unit_length=training: the selector would see other lengths than in the "
        "search when it is applied",
        "set it to always or never");
  }
  input_text_ = describeInput(features, embedding);
  input_ = std::make_shared<const NodeInput>(
      features, nodes.nodes,
      NodeInputOptions{.embedding = embedding,
                       .normalise_rows = options.normalise_features,
                       .dropout = options.input_dropout,
                       .start = options.embedding_start},
      layout_);
  EncoderOptions layers = options.encoder;
  if (options.selector.kind != "none") {
    // Who chooses among views looks at every layer by itself.
    layers.readout = "none";
  }
  encoder_ = makeEncoder(kind, layers, input_, layout_);
  decoder_ = makeDecoder(options.selector,
                         {.depth = encoder_->depth(),
                          .width = encoder_->width(),
                          .symmetric = !nodes.ordered,
                          .dropout = options.encoder.dropout,
                          .predictor = options.predictor,
                          .loss = options.loss,
                          .first_hops = encoder_->firstHops()},
                         layout_);
  if (options.selector.searches()) {
    selector_ = std::make_unique<ViewSelector>(
        options.selector,
        SelectorContext{.depth = encoder_->depth(),
                        .width = encoder_->width(),
                        .concatenate = options.predictor.concatenates(),
                        .symmetric = !nodes.ordered},
        selector_layout_);
  }
}

LayerOutputs LinkModel::encode(const Parameters& parameters,
                               const std::shared_ptr<const MessagePlan>& messages,
                               const Noise& noise) const {
  LayerOutputs layers = encoder_->encode(parameters, messages, noise, decoder_->depth());
  if (unit_length_ == "always" || (unit_length_ == "training" && noise.active())) {
    for (at::Tensor& layer : layers) {
      layer = unitRows(layer);
    }
  }
  return layers;
}

at::Tensor LinkModel::withPenalty(const at::Tensor& loss, const Parameters& parameters,
                                  const PairBatch& batch) const {
  if (embedding_l2_ == 0) {
    return loss;
  }
  const at::Tensor squares =
      usedSquares(input_->embedding(parameters), batch.pairs, batch.positives);
  return loss + squares * (embedding_l2_ / static_cast<double>(batch.positives));
}

at::Tensor LinkModel::decodedLoss(const Parameters& parameters, const LayerOutputs& layers,
                                  const PairBatch& batch, const Noise& noise) const {
  return withPenalty(decoder_->loss(parameters, layers, batch, noise), parameters, batch);
}

at::Tensor LinkModel::loss(const Parameters& parameters,
                           const std::shared_ptr<const MessagePlan>& messages,
                           const PairBatch& batch, const Noise& noise) const {
  return decodedLoss(parameters, encode(parameters, messages, noise), batch, noise);
}

at::Tensor LinkModel::searchLoss(const Parameters& parameters, const Parameters& selector,
                                 const std::shared_ptr<const MessagePlan>& messages,
                                 const PairBatch& batch, const Noise& noise,
                                 const MixtureOptions& mixture) const {
  const LayerOutputs layers = encode(parameters, messages, noise);
  const ViewMixture views{.shares = selector_->shares(selector, layers, batch.pairs, mixture),
                          .use = mixture.use};
  return decoder_->mixtureLoss(parameters, layers, batch, views, noise);
}

at::Tensor LinkModel::chosenLoss(const Parameters& parameters, const Parameters& selector,
                                 const std::shared_ptr<const MessagePlan>& messages,
                                 PairBatch batch, const Noise& noise) const {
  const LayerOutputs layers = encode(parameters, messages, noise);
  batch.choice = selector_->choose(selector, layers, batch.pairs);
  return decodedLoss(parameters, layers, batch, noise);
}

}  // namespace edgewise
