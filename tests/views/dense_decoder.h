// Decoders written out with torch's own dense operations, pair by pair from their definitions.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "edgewise/views/decoder.h"
#include "support/dense_models.h"

namespace edgewise::testing {

inline at::Tensor plainCrossEntropy(const at::Tensor& logits, const at::Tensor& labels) {
  return -(labels * at::log_sigmoid(logits) + (1 - labels) * at::log_sigmoid(-logits)).mean();
}

struct DenseDecoder {
  SelectorOptions selector;
  DecoderContext context;
  Noise noise = Noise();

  // Scores of all views in the order of Decoder::views(), one [pairs] each.
  [[nodiscard]] Tensors byView(const NamedParameters& parameters, const Tensors& layers,
                               std::span<const Edge> pairs) const {
    Tensors scores;
    for (const LayerPair& view : views()) {
      // The lower of two views that mirror each other has the predictor of both.
      const bool mirrored = context.symmetric && mean() && view.source > view.target;
      const LayerPair own = mirrored ? LayerPair{view.target, view.source} : view;
      const at::Tensor forth = represent(layers, pairs, own, false);
      const at::Tensor back = represent(layers, pairs, own, true);
      const std::string name =
          mean() ? fmt::format("predictor.{}_{}", own.source + 1, own.target + 1) : "predictor";
      if (!context.symmetric || (own.source == own.target && !concatenates())) {
        scores.push_back(predict(parameters, name, forth));
      } else if (mean()) {
        // Both ways in one pass, with masks of their own.
        const at::Tensor both = predict(parameters, name, at::cat({forth, back}, 0));
        const auto halves = both.chunk(2, 0);
        scores.push_back((halves[0] + halves[1]) / 2);
      } else {
        scores.push_back((predict(parameters, name, forth) + predict(parameters, name, back)) / 2);
      }
    }
    return scores;
  }

  [[nodiscard]] at::Tensor logits(const NamedParameters& parameters, const Tensors& layers,
                                  std::span<const Edge> pairs) const {
    return at::stack(byView(parameters, layers, pairs), 0).mean(0);
  }

  [[nodiscard]] at::Tensor loss(const NamedParameters& parameters, const Tensors& layers,
                                const PairBatch& batch) const {
    const Tensors scores = byView(parameters, layers, batch.pairs->pairs());
    at::Tensor each = at::zeros({}, batch.labels.options());
    for (const at::Tensor& score : scores) {
      each = each + plainCrossEntropy(score, batch.labels) / static_cast<double>(scores.size());
    }
    const at::Tensor together = plainCrossEntropy(at::stack(scores, 0).mean(0), batch.labels);
    return (1 - selector.view_loss) * together + selector.view_loss * each;
  }

 private:
  [[nodiscard]] bool mean() const { return selector.kind == "mean"; }
  [[nodiscard]] bool concatenates() const { return context.predictor.kind == "concat"; }

  [[nodiscard]] std::vector<LayerPair> views() const {
    const auto depth = static_cast<std::uint32_t>(context.depth);
    if (selector.kind == "none") {
      return {{depth - 1, depth - 1}};
    }
    if (!mean()) {
      // "fixed:I,J"
      return {{static_cast<std::uint32_t>(selector.kind[6] - '1'),
               static_cast<std::uint32_t>(selector.kind[8] - '1')}};
    }
    std::vector<LayerPair> all;
    for (std::uint32_t i = 0; i < depth; ++i) {
      for (std::uint32_t j = 0; j < depth; ++j) {
        all.push_back({i, j});
      }
    }
    return all;
  }

  // Row p: the ends of pair p in the view's layers, exchanged when `turned`.
  [[nodiscard]] at::Tensor represent(const Tensors& layers, std::span<const Edge> pairs,
                                     LayerPair view, bool turned) const {
    Tensors rows;
    for (const Edge& pair : pairs) {
      const Edge ends = turned ? reversed(pair) : pair;
      const at::Tensor source = layers[view.source][index(ends.src)];
      const at::Tensor target = layers[view.target][index(ends.dst)];
      rows.push_back(concatenates() ? at::cat({source, target}) : source * target);
    }
    return at::stack(rows, 0);
  }

  [[nodiscard]] at::Tensor predict(const NamedParameters& parameters, const std::string& name,
                                   const at::Tensor& z) const {
    if (context.predictor.kind == "dot") {
      return z.sum(1);
    }
    const DenseMlp mlp{name, static_cast<std::size_t>(context.predictor.layers), context.dropout,
                       noise};
    return mlp.apply(parameters, z).select(1, 0);
  }
};

}  // namespace edgewise::testing
