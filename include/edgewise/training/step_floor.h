// The least work a training step can be made of, counted from sizes, and the time this machine
// needs for it. The distance between a measured time and this floor is what can still be gained.
//
// What is counted, for floats of 4 bytes:
//  - flops: those of dense products, 2 * rows * inner * columns. All other arithmetic hides behind
//    the memory it works on.
//  - streamed: bytes read or written in order. A product, an aggregation and a pair's
//    representation read each operand once and write their result once; biases, rectifiers,
//    dropout, products of a pair's ends and the loss ride along with their neighbours, as in fused
//    kernels. Weights are small and stay in caches; the optimizer alone counts them.
//    Of a selector's hidden layers nothing is counted but products: a block of them fits in a
//    cache, and what a gradient computes again could have been kept.
//  - gathered: bytes of rows picked by an index: neighbours' rows, weights' rows of sparse
//    features' entries, ends of pairs. A look-up in a table of edges is one cache line of 64 bytes.
//
//  floor = flops / product rate + streamed / stream rate + gathered / gather rate
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "edgewise/data/dataset.h"
#include "edgewise/ops/message_plan.h"
#include "edgewise/training/batch_stream.h"
#include "edgewise/training/run_options.h"
#include "edgewise/views/bilevel.h"
#include "edgewise/views/link_model.h"

namespace edgewise {

// What a step's work follows from. Numbers of things, as reals: they are only ever multiplied.
struct StepSizes {
  double nodes = 0;
  // Of the adjacency matrix, without those masked in a step.
  double entries = 0;
  // Whether a node's own row is summed too, and how many products of its input a layer needs.
  bool adds_self = false;
  // Whether messages are summed by a product with the whole matrix.
  bool dense_messages = false;
  double message_bytes = 4;
  // Layers whose sums of messages are known before the step.
  double known_layers = 0;
  [[nodiscard]] double summedLayers() const { return layers - known_layers; }
  double products_per_layer = 1;
  // Nodes that the deepest layer is computed at and entries of their rows, where that is not all.
  double end_nodes = 0;
  double end_entries = 0;
  [[nodiscard]] bool atEnds() const { return end_nodes > 0; }
  // Rows of so many layers, the deepest among them.
  [[nodiscard]] double rowsOf(double count) const {
    return atEnds() && count > 0 ? (count - 1) * nodes + end_nodes : count * nodes;
  }
  // Whether layers are those of a recommender: they start from the embedding itself.
  bool recommends = false;

  double features = 0;
  // Other than zero, where features are sparse; 0: they are dense.
  double feature_entries = 0;
  double embedding = 0;
  double layers = 0;
  double hidden = 0;

  double positives = 0;
  double pairs = 0;
  // Layers that pairs are looked at in, rows of them read for one pair, and representations that
  // are scored for it.
  double decoded_layers = 1;
  double rows_read_per_pair = 2;
  double scored_per_pair = 1;
  // Widths of the predictor: input, hidden ..., 1; empty for the dot product.
  std::vector<double> predictor;
  double parameters = 0;

  // Widths of the selector: input, hidden ..., 1; empty where views are not chosen by one.
  std::vector<double> selector;
  double selector_parameters = 0;
  [[nodiscard]] double views() const { return layers * layers; }
  // Pairs whose view is chosen anew at every step of training; positives keep theirs.
  [[nodiscard]] double chosen() const { return pairs - positives; }
};

// Of a step of this model, made of these options, on one batch over these messages (not masked
// yet). Throws ConfigError for a model or selector that cannot be counted.
[[nodiscard]] StepSizes stepSizes(const LinkModel& model, const Dataset& dataset,
                                  const RunOptions& options, const MessagePlan& messages,
                                  const EdgeBatch& batch);

struct StageCounts {
  std::string stage;
  double flops = 0;
  double streamed = 0;
  double gathered = 0;

  StageCounts& operator+=(const StageCounts& other);
};

// One entry a stage of LinkTrainer's step, in order, with the drawing of the batch before them.
[[nodiscard]] std::vector<StageCounts> trainStepCounts(const StepSizes& sizes);

// The sizes of a step as each level of a search sees them.
struct SearchSizes {
  StepSizes lower;
  StepSizes upper;
};
// The same for a SearchTrainer's step. Throws ConfigError for the exact order, which differentiates
// twice and is not counted.
[[nodiscard]] std::vector<StageCounts> searchStepCounts(const SearchSizes& sizes,
                                                        SearchOrder order);
// All of them together, under this name.
[[nodiscard]] StageCounts totalCounts(const std::vector<StageCounts>& stages,
                                      std::string_view name);

// What the machine does in a second.
struct StepRates {
  double flops = 0;
  double streamed = 0;
  double gathered = 0;
};

[[nodiscard]] double floorSeconds(const StageCounts& counts, const StepRates& rates);

}  // namespace edgewise
