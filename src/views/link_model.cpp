#include "edgewise/views/link_model.h"

#include <ATen/TensorOperators.h>

#include <algorithm>
#include <utility>

#include "edgewise/ops/node_degrees.h"
#include "edgewise/ops/pair_uses.h"
#include "edgewise/ops/rowwise.h"
#include "edgewise/ops/view_pairs.h"
#include "edgewise/util/error.h"
#include "views/model_input.h"

namespace edgewise {
namespace {

// The batch between the nodes that were encoded.
PairBatch among(const EncodedPairs& encoded, PairBatch batch) {
  batch.pairs = encoded.pairs;
  return batch;
}

}  // namespace

void ModelOptions::bind(OptionSet& set) {
  encoder.bind(set);
  predictor.bind(set);
  set.add("model.features", features, {"auto", "given", "embedding", "both", "none"},
          "what nodes bring: their features, a learned embedding, or both; auto: features where "
          "there are any, else an embedding (seal: else none, labels alone)");
  set.add("model.embedding", embedding, {1, 4096},
          "width of the learned embedding; lightgcn, ngcf: it is model.hidden");
  set.add("model.embedding_start", embedding_start, {"glorot", "normal", "orthogonal", "spectral"},
          "how it starts: small random numbers, smaller the more nodes there are; normal ones of "
          "deviation 0.1; columns at right angles to each other; or spectral: the leading "
          "eigenvectors of the training messages, so that nodes with similar surroundings start "
          "alike");
  set.add("model.unit_length", unit_length, {"never", "training", "always"},
          "scale nodes' representations to length 1, so that dot products are cosines: while "
          "learning, or when pairs are scored too");
  set.add("model.normalise_features", normalise_features,
          "divide each node's features by their sum");
  set.add("model.feature_precision", feature_precision, {"single", "half"},
          "half: keep dense features in 16 bits a number, which halves what is held of them; a sum "
          "or product reads them in single precision, for as long as it takes");
  set.add("model.input_dropout", input_dropout, {0.0, 0.99}, "dropout on the nodes' input");
  set.add("model.edge_weights", edge_weights,
          "weight messages by the edges' weights where the data has them");
  selector.bind(set);
  loss.bind(set);
}

LinkModel::LinkModel(const std::string& kind, const ModelOptions& options, const NodeSide& nodes)
    : nodes_(nodes.nodes), unit_length_(options.unit_length), loss_(options.loss) {
  ModelOptions own = options;
  if (isRecommender(kind)) {
    own.features = "embedding";
    own.embedding = options.encoder.hidden;
  }
  detail::ModelInput input = detail::makeModelInput(own, nodes, layout_);
  if (loss_.embedding_l2 > 0 && input.embedding == 0) {
    throw ConfigError("training.embedding_l2: this model learns no embeddings",
                      "leave it 0, or set model.features=embedding");
  }
  if (unit_length_ == "training" && options.selector.searches()) {
    throw ConfigError(
        "model.unit_length=training: the selector would see other lengths than in the "
        "search when it is applied",
        "set it to always or never");
  }
  input_text_ = std::move(input.text);
  input_ = std::move(input.input);
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
  if (loss_.comparesBatch() && (options.predictor.kind != "dot" || decoder_->choosesViews())) {
    throw ConfigError(
        "training.loss=batch compares all positives of a batch, whose scores must be products",
        "set model.predictor=dot and selector none, fixed, jk or mean, or training.loss=softmax");
  }
  if (options.selector.searches()) {
    selector_ = std::make_unique<ViewSelector>(
        options.selector,
        SelectorContext{.depth = encoder_->depth(),
                        .width = encoder_->width(),
                        .concatenate = options.predictor.concatenates(),
                        .symmetric = !nodes.ordered,
                        .within_source = loss_.comparesPairs()},
        selector_layout_);
  }
}

Parameters LinkModel::start(std::uint64_t seed, const MessagePlan& messages, at::Device device,
                            ProgressSink& progress) const {
  Parameters parameters = Parameters::initial(layout_, seed, at::kFloat, device);
  input_->begin(parameters, messages, seed, progress);
  return parameters;
}

LayerOutputs LinkModel::scaled(LayerOutputs layers, const Noise& noise) const {
  if (unit_length_ == "always" || (unit_length_ == "training" && noise.active())) {
    std::ranges::transform(layers, layers.begin(), unitRows);
  }
  return layers;
}

LayerOutputs LinkModel::encode(const Parameters& parameters,
                               const std::shared_ptr<const MessagePlan>& messages,
                               const Noise& noise) const {
  return scaled(encoder_->encode(parameters, messages, noise, decoder_->depth()), noise);
}

at::Tensor LinkModel::degrees(const MessagePlan& messages, const at::TensorOptions& options) const {
  return selector_ && selector_->seesDegrees() ? logDegrees(messages, options) : at::Tensor();
}

EncodedPairs LinkModel::encodePairs(const Parameters& parameters,
                                    const std::shared_ptr<const MessagePlan>& messages,
                                    const std::shared_ptr<const PairIndex>& pairs,
                                    const Noise& noise) const {
  if (!nearPairsPay(*pairs, encoder_->width(), parameters.flat().device())) {
    return {encode(parameters, messages, noise), pairs};
  }
  return {
      scaled(encoder_->encodeEnds(parameters, messages, noise, decoder_->depth(), pairs), noise),
      pairs->apart()};
}

EncodedPairs LinkModel::encodeJudged(const Parameters& parameters,
                                     const std::shared_ptr<const MessagePlan>& messages,
                                     const std::shared_ptr<const PairIndex>& pairs,
                                     const Noise& noise) const {
  EncodedPairs encoded = encodePairs(parameters, messages, pairs, noise);
  encoded.degrees = ofBothEnds(degrees(*messages, parameters.flat().options()), pairs);
  return encoded;
}

at::Tensor LinkModel::withPenalty(const at::Tensor& loss, const Parameters& parameters,
                                  const PairBatch& batch) const {
  if (loss_.embedding_l2 == 0) {
    return loss;
  }
  const at::Tensor squares =
      usedSquares(input_->embedding(parameters), batch.pairs, batch.positives);
  return loss + squares * (loss_.embedding_l2 / static_cast<double>(batch.positives));
}

at::Tensor LinkModel::decodedLoss(const Parameters& parameters, const EncodedPairs& encoded,
                                  const PairBatch& batch, const Noise& noise) const {
  const at::Tensor loss =
      loss_.comparesBatch()
          ? lossOfPositives(parameters, encoded, static_cast<std::int64_t>(batch.positives))
          : decoder_->loss(parameters, encoded.layers, among(encoded, batch), noise);
  return withPenalty(loss, parameters, batch);
}

at::Tensor LinkModel::lossOfPositives(const Parameters& parameters, const EncodedPairs& encoded,
                                      std::int64_t positives) const {
  const std::optional<ScoreFactors> factors = decoder_->factors(parameters, encoded.layers);
  invariant(factors.has_value(), "scores are products");
  return batchLoss(
      gatherEnd(factors->sources, encoded.pairs, PairEnd::kSource).narrow(0, 0, positives),
      gatherEnd(factors->targets, encoded.pairs, PairEnd::kTarget).narrow(0, 0, positives),
      loss_.temperature);
}

at::Tensor LinkModel::loss(const Parameters& parameters,
                           const std::shared_ptr<const MessagePlan>& messages,
                           const PairBatch& batch, const Noise& noise) const {
  return decodedLoss(parameters, encodePairs(parameters, messages, batch.pairs, noise), batch,
                     noise);
}

at::Tensor LinkModel::searchLoss(const Parameters& parameters, const Parameters& selector,
                                 const EncodedPairs& encoded, const PairBatch& batch,
                                 const Noise& noise, const MixtureOptions& mixture) const {
  return decoder_->mixtureLoss(parameters, encoded.layers, among(encoded, batch),
                               selector_->mix(selector, encoded, mixture), noise);
}

at::Tensor LinkModel::chosenLoss(const Parameters& parameters, const Parameters& selector,
                                 const std::shared_ptr<const MessagePlan>& messages,
                                 PairBatch batch, const Noise& noise) const {
  const EncodedPairs encoded = encodeJudged(parameters, messages, batch.pairs, noise);
  batch.choice = selector_->choose(selector, encoded);
  return decodedLoss(parameters, encoded, batch, noise);
}

}  // namespace edgewise
