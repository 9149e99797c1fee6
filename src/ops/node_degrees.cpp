#include "edgewise/ops/node_degrees.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include "edgewise/ops/device.h"
#include "edgewise/util/error.h"
#include "ops/device_copy.h"
#include "ops/device_plan.h"

namespace edgewise {
namespace {

at::Tensor rowScaleOf(const MessagePlan& plan, at::Device device) {
  if (onDevice(device)) {
    return plan.onDevice().rowScale(device);
  }
  invariant(plan.onHost(), "only a device knows what this plan masks");
  return detail::copyTo(device, plan.rowScale(), at::kDouble);
}

}  // namespace

at::Tensor logDegrees(const MessagePlan& plan, const at::TensorOptions& options) {
  invariant(plan.norm() != Norm::kSum, "sums of messages know no degrees");
  // Where nobody is heard the scale is 0, or with the node itself 1.
  const at::Tensor scale = rowScaleOf(plan, options.device());
  invariant(scale.defined() && static_cast<std::size_t>(scale.numel()) == plan.nodeCount(),
            "a plan without row scales knows no degrees");
  const at::Tensor heard = at::where(scale > 0, 1 / scale, at::zeros_like(scale));
  const at::Tensor degrees = plan.norm() == Norm::kMean ? heard : heard * heard;
  const at::Tensor logs = plan.includesSelf() ? at::log(degrees) : at::log1p(degrees);
  return logs.to(options.requires_grad(false));
}

}  // namespace edgewise
