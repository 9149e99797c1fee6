// How many neighbours each node hears by a plan of messages, on the host or on a device.
#pragma once

#include <ATen/core/Tensor.h>

#include "edgewise/ops/message_plan.h"

namespace edgewise {

// [nodes]: log(1 + neighbours), or of their weights' sum where messages are weighted; a plan
// without some edges counts without them. `options` say where and in which precision. The plan's
// norm must know degrees: any but kSum, nor the transposed plan of kMean.
[[nodiscard]] at::Tensor logDegrees(const MessagePlan& plan, const at::TensorOptions& options);

}  // namespace edgewise
