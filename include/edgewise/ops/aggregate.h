// Message passing as a differentiable torch operation.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <span>

#include "edgewise/ops/message_plan.h"
#include "edgewise/ops/pair_index.h"

namespace edgewise {

// Applies the plan to node representations x [nodes, width] (float or double) and gives
// [nodes, width]. Differentiable any number of times: its gradient is the transposed aggregation.
// Throws ShapeError when x does not have two dimensions or one row a node, ConfigError for another
// type or device.
[[nodiscard]] at::Tensor aggregate(const std::shared_ptr<const MessagePlan>& plan,
                                   const at::Tensor& x);

// The rows of `aggregate` at both ends of every pair, [2 * pairs, width]: row 2 * p of a source, 2
// * p + 1 of a target. No others are summed. Differentiable any number of times.
[[nodiscard]] at::Tensor aggregateEnds(const std::shared_ptr<const MessagePlan>& plan,
                                       const at::Tensor& x,
                                       const std::shared_ptr<const PairIndex>& pairs);

// The sum over k of weights[k] times what k aggregations make of x [nodes, width], in as many
// passes over the messages as the deepest takes and no more memory. Differentiable any number of
// times.
[[nodiscard]] at::Tensor propagate(const std::shared_ptr<const MessagePlan>& plan,
                                   const at::Tensor& x, std::span<const double> weights);

// Its rows at both ends of every pair, [2 * pairs, width], as aggregateEnds orders them.
[[nodiscard]] at::Tensor propagateEnds(const std::shared_ptr<const MessagePlan>& plan,
                                       const at::Tensor& x, std::span<const double> weights,
                                       const std::shared_ptr<const PairIndex>& pairs);

// aggregate(plan, x) + bias [width] on every row, + a matrix [nodes, width] where it is defined.
[[nodiscard]] at::Tensor aggregateOnto(const std::shared_ptr<const MessagePlan>& plan,
                                       const at::Tensor& x, const at::Tensor& bias,
                                       const at::Tensor& plus = {});

// Whether `aggregate` of floats on this device multiplies by the whole matrix, zeros and all, since
// the graph is dense and products may be rounded.
[[nodiscard]] bool aggregatesDensely(const MessagePlan& plan, at::Device device);

// Bytes of a message that `aggregate` of [nodes, width] floats on this device gathers: 4, or 2
// where messages may be rounded and that pays.
[[nodiscard]] int messageBytes(const MessagePlan& plan, std::int64_t width, at::Device device);

}  // namespace edgewise
