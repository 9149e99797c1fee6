// Decoders: from all layers' outputs to the score of a pair, each by its own rule for which views
// of the pair to look at. The trainer knows this interface alone.
//
//   none       the deepest view (K, K): the backbone as it was published
//   fixed:i,j  one view for all pairs
//   mean       every view has a predictor of its own; scores are averaged
//   jk         one learned mixture of all views, the same for all pairs
//   rs         a random view for each pair, fixed by a hash of seed and pair
//   ps2        the view that a learned selector picks for the pair
//   oracle     the view that is known to serve, where data were generated so
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "edgewise/nn/encoder.h"
#include "edgewise/nn/noise.h"
#include "edgewise/nn/parameters.h"
#include "edgewise/nn/predictor.h"
#include "edgewise/ops/pair_index.h"
#include "edgewise/ops/view_pairs.h"
#include "edgewise/util/options.h"
#include "edgewise/views/pair_batch.h"
#include "edgewise/views/pair_loss.h"
#include "edgewise/views/selector_options.h"
#include "edgewise/views/view_choice.h"

namespace edgewise {

// A view of a pair and what it counts for in a sum.
struct WeighedView {
  LayerPair view;
  double weight = 1;
};

// A part of a score: `weight` times a predictor on the weighed sum of the pair's products under
// these views.
struct ScoreTerm {
  double weight = 1;
  TileMlp predictor;
  std::vector<WeighedView> views;
};

// Scores that are products: that of (u, v) is sources[u] * targets[v], both [nodes, any width].
struct ScoreFactors {
  at::Tensor sources;
  at::Tensor targets;
};

class Decoder {
 public:
  Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  Decoder(Decoder&&) = delete;
  Decoder& operator=(Decoder&&) = delete;
  virtual ~Decoder() = default;

  // What training minimises, []: the mean over the batch. Where choosesViews() and there are no
  // choices, all views count the same. What choices add to scores is left out: it is learned on
  // edges held out, and the model's weights would learn to undo it.
  [[nodiscard]] virtual at::Tensor loss(const Parameters& parameters, const LayerOutputs& layers,
                                        const PairBatch& batch, const Noise& noise) const = 0;
  // [pairs], no noise. `choice` is there when choosesViews().
  [[nodiscard]] virtual at::Tensor logits(const Parameters& parameters, const LayerOutputs& layers,
                                          const std::shared_ptr<const PairIndex>& pairs,
                                          const ViewChoice& choice) const = 0;
  [[nodiscard]] at::Tensor logits(const Parameters& parameters, const LayerOutputs& layers,
                                  const std::shared_ptr<const PairIndex>& pairs) const {
    return logits(parameters, layers, pairs, nullptr);
  }
  // The same for all pairs of nodes at once, where scores are products of the ends; else nothing.
  [[nodiscard]] virtual std::optional<ScoreFactors> factors(const Parameters& parameters,
                                                            const LayerOutputs& layers) const;
  // Whether each pair comes with views that were chosen for it.
  [[nodiscard]] virtual bool choosesViews() const { return false; }
  // The scores of single views, one [pairs] each, where views are scored apart; else empty.
  [[nodiscard]] virtual std::vector<at::Tensor> logitsByView(
      const Parameters& parameters, const LayerOutputs& layers,
      const std::shared_ptr<const PairIndex>& pairs) const;
  // What a search minimises, []: like loss(), with every view counted by its share. Only where
  // choosesViews().
  [[nodiscard]] virtual at::Tensor mixtureLoss(const Parameters& parameters,
                                               const LayerOutputs& layers, const PairBatch& batch,
                                               const ViewMixture& views, const Noise& noise) const;
  // [views]: scores whose softmax is each view's share where all pairs mix views alike; else
  // undefined.
  [[nodiscard]] virtual at::Tensor mixtureScores(const Parameters& parameters) const;
  // The score of every pair as a sum of terms, for scoring whole tiles of pairs; empty where it
  // is none: where views are chosen by pair, or ends stand side by side.
  [[nodiscard]] virtual std::vector<ScoreTerm> scoreTerms(const Parameters& parameters) const;
  // How many of the encoder's layers are looked at.
  [[nodiscard]] virtual std::size_t depth() const = 0;
  // Views that can be chosen or mixed, in the order of logitsByView.
  [[nodiscard]] virtual std::span<const LayerPair> views() const = 0;
};

// What a decoder is built on.
struct DecoderContext {
  std::size_t depth = 0;
  std::int64_t width = 0;
  // Undirected pairs score the same both ways.
  bool symmetric = true;
  double dropout = 0;
  PredictorOptions predictor = {};
  LossOptions loss = {};
  // How far the first layer looks.
  int first_hops = 1;
};

// Throws ConfigError for an unknown name or a view deeper than the encoder.
[[nodiscard]] std::unique_ptr<Decoder> makeDecoder(const SelectorOptions& options,
                                                   const DecoderContext& context,
                                                   ParameterLayout& layout);

// "fixed:2,3" -> (1, 2), counted from 0 where the first layer looks `first_hops` = 1 far; nothing
// when `kind` is not a fixed view. Throws ConfigError when it is one badly written, or nearer
// than the first layer.
[[nodiscard]] std::optional<LayerPair> fixedView(const std::string& kind, int first_hops);

// All views (i, j) of `depth` layers, i running slowest.
[[nodiscard]] std::vector<LayerPair> allViews(std::size_t depth);

}  // namespace edgewise
