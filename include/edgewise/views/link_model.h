// A whole model: encoder and decoder over one layout of parameters.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "edgewise/nn/encoder.h"
#include "edgewise/nn/node_input.h"
#include "edgewise/nn/parameters.h"
#include "edgewise/nn/predictor.h"
#include "edgewise/ops/message_plan.h"
#include "edgewise/ops/pair_index.h"
#include "edgewise/util/options.h"
#include "edgewise/util/progress.h"
#include "edgewise/views/decoder.h"
#include "edgewise/views/encoded_pairs.h"
#include "edgewise/views/pair_batch.h"
#include "edgewise/views/view_selector.h"

namespace edgewise {

struct ModelOptions {
  EncoderOptions encoder;
  PredictorOptions predictor;
  SelectorOptions selector;
  LossOptions loss;
  std::string features = "auto";
  std::int64_t embedding = 64;
  std::string embedding_start = "glorot";
  std::string feature_precision = "single";
  std::string unit_length = "never";
  bool normalise_features = false;
  double input_dropout = 0;
  bool edge_weights = true;
  void bind(OptionSet& set);
};

// What the nodes are like.
struct NodeSide {
  const FeatureMatrix& features;
  std::size_t nodes = 0;
  // Whether a pair's ends play roles of their own: edges are directed, or go from users to items.
  bool ordered = false;
};

class LinkModel {
 public:
  // `kind` names the encoder. Throws ConfigError for options that do not go together.
  LinkModel(const std::string& kind, const ModelOptions& options, const NodeSide& nodes);

  [[nodiscard]] const ParameterLayout& layout() const { return layout_; }
  [[nodiscard]] const Encoder& encoder() const { return *encoder_; }
  [[nodiscard]] const Decoder& decoder() const { return *decoder_; }
  // Null unless views are chosen by a selector; its parameters have a layout of their own.
  [[nodiscard]] const ViewSelector* selector() const { return selector_.get(); }
  [[nodiscard]] const ParameterLayout& selectorLayout() const { return selector_layout_; }
  [[nodiscard]] std::size_t nodeCount() const { return nodes_; }
  // What nodes bring, in words: "1433 features", "a learned embedding of 64".
  [[nodiscard]] const std::string& inputText() const { return input_text_; }

  // The weights that training over these messages begins with.
  [[nodiscard]] Parameters start(std::uint64_t seed, const MessagePlan& messages,
                                 at::Device device = at::kCPU,
                                 ProgressSink& progress = silentProgress()) const;

  // Encodes as deep as the decoder looks.
  [[nodiscard]] LayerOutputs encode(const Parameters& parameters,
                                    const std::shared_ptr<const MessagePlan>& messages,
                                    const Noise& noise) const;
  // The same for these pairs alone, with less work where that is possible.
  [[nodiscard]] EncodedPairs encodePairs(const Parameters& parameters,
                                         const std::shared_ptr<const MessagePlan>& messages,
                                         const std::shared_ptr<const PairIndex>& pairs,
                                         const Noise& noise) const;
  // The same with all that the selector judges pairs by.
  [[nodiscard]] EncodedPairs encodeJudged(const Parameters& parameters,
                                          const std::shared_ptr<const MessagePlan>& messages,
                                          const std::shared_ptr<const PairIndex>& pairs,
                                          const Noise& noise) const;
  // [nodes]: log(1 + neighbours that a node hears), where the selector looks at it; else undefined.
  [[nodiscard]] at::Tensor degrees(const MessagePlan& messages,
                                   const at::TensorOptions& options) const;
  // What training minimises, []: the decoder's loss and the penalty.
  [[nodiscard]] at::Tensor loss(const Parameters& parameters,
                                const std::shared_ptr<const MessagePlan>& messages,
                                const PairBatch& batch, const Noise& noise) const;
  // The same from what `encodePairs` gave for the batch's.
  [[nodiscard]] at::Tensor decodedLoss(const Parameters& parameters, const EncodedPairs& encoded,
                                       const PairBatch& batch, const Noise& noise) const;
  // `loss` [] and the L2 penalty on the embeddings that the batch uses, where one is asked for.
  [[nodiscard]] at::Tensor withPenalty(const at::Tensor& loss, const Parameters& parameters,
                                       const PairBatch& batch) const;

  // The loss of the search out of what `encodeJudged` gave, without penalty: every pair by the
  // mixture of its views that the selector makes.
  [[nodiscard]] at::Tensor searchLoss(const Parameters& parameters, const Parameters& selector,
                                      const EncodedPairs& encoded, const PairBatch& batch,
                                      const Noise& noise, const MixtureOptions& mixture) const;
  // The loss by the views the selector would choose now.
  [[nodiscard]] at::Tensor chosenLoss(const Parameters& parameters, const Parameters& selector,
                                      const std::shared_ptr<const MessagePlan>& messages,
                                      PairBatch batch, const Noise& noise) const;

 private:
  // Rows of length 1 where they are asked for.
  [[nodiscard]] LayerOutputs scaled(LayerOutputs layers, const Noise& noise) const;
  // Each among all others; of encoded pairs the first so many.
  [[nodiscard]] at::Tensor lossOfPositives(const Parameters& parameters,
                                           const EncodedPairs& encoded,
                                           std::int64_t positives) const;

  std::size_t nodes_;
  std::string unit_length_;
  LossOptions loss_;
  std::shared_ptr<const NodeInput> input_;
  ParameterLayout layout_;
  ParameterLayout selector_layout_;
  std::unique_ptr<ViewSelector> selector_;
  std::string input_text_;
  std::unique_ptr<Encoder> encoder_;
  std::unique_ptr<Decoder> decoder_;
};

}  // namespace edgewise
