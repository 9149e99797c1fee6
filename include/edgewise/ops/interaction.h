// NGCF's layer: what a node hears is added to what it is and multiplied by it.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "edgewise/ops/dropout.h"
#include "edgewise/ops/message_plan.h"
#include "edgewise/ops/pair_index.h"

namespace edgewise {

// Weights [in, out] and biases [out].
struct InteractionWeights {
  at::Tensor sum;
  at::Tensor sum_bias;
  at::Tensor product;
  at::Tensor product_bias;
};

// How the layer ends: what is negative counts `leak` times, then some is dropped.
struct InteractionEnd {
  double leak = 0;
  DropoutMask mask;
};

// With m = aggregate(plan, h), h [nodes, in]:
//   dropout(leaky((m + h) sum + sum_bias + (m * h) product + product_bias))      [nodes, out]
// On a processor in blocks of rows that stay in its caches. Differentiable any number of times, the
// same bits for any number of threads. Throws ShapeError for sizes that do not fit.
[[nodiscard]] at::Tensor interaction(const std::shared_ptr<const MessagePlan>& plan,
                                     const at::Tensor& h, const InteractionWeights& weights,
                                     const InteractionEnd& end);

// Its rows at both ends of every pair, [2 * pairs, out], as aggregateEnds orders them; a node drops
// the same at all its places. On a processor no others are computed.
[[nodiscard]] at::Tensor interactionAtEnds(const std::shared_ptr<const MessagePlan>& plan,
                                           const at::Tensor& h, const InteractionWeights& weights,
                                           const InteractionEnd& end,
                                           const std::shared_ptr<const PairIndex>& pairs);

}  // namespace edgewise
