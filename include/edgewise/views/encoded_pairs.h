// Pairs of nodes that have heard their messages: what decoders and selectors look at.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "edgewise/nn/encoder.h"
#include "edgewise/ops/pair_index.h"

namespace edgewise {

// Layers for pairs to look at: of all nodes, or of copies of the pairs' ends, between which `pairs`
// then are.
struct EncodedPairs {
  LayerOutputs layers;
  std::shared_ptr<const PairIndex> pairs;
  // [pairs, 2]: how many neighbours the ends hear, as log(1 + number); undefined where nobody asks.
  at::Tensor degrees = {};
};

// [pairs, 2]: what is known of nodes [nodes], of both ends; undefined where nothing is.
[[nodiscard]] at::Tensor ofBothEnds(const at::Tensor& nodes,
                                    const std::shared_ptr<const PairIndex>& pairs);

}  // namespace edgewise
