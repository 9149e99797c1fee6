#include "edgewise/views/link_model.h"

#include <utility>

#include "edgewise/ops/view_pairs.h"
#include "views/model_input.h"

namespace edgewise {
namespace {

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
  set.add("model.features", features, {"auto", "given", "embedding", "both", "none"},
          "what nodes bring: their features, a learned embedding, or both; auto: features where "
          "there are any, else an embedding (seal: else none, labels alone)");
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
  detail::ModelInput input = detail::makeModelInput(options, nodes, layout_);
  input_text_ = std::move(input.text);
  encoder_ = makeEncoder(kind, options.encoder, std::move(input.input), layout_);
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
