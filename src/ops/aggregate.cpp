#include "edgewise/ops/aggregate.h"

#include "ops/autograd_support.h"
#include "ops/cpu_aggregate.h"
#include "ops/device_plan.h"

namespace edgewise {
namespace {

using detail::AutogradContext;
using detail::variable_list;

void checkInput(const MessagePlan& plan, const at::Tensor& x) {
  if (x.dim() != 2 || static_cast<std::size_t>(x.size(0)) != plan.nodeCount()) {
    throw ShapeError(fmt::format("aggregate needs [{}, width], got {} dimensions with {} rows",
                                 plan.nodeCount(), x.dim(), x.dim() > 0 ? x.size(0) : 0));
  }
}

at::Tensor applyPlan(const MessagePlan& plan, const at::Tensor& x) {
  const at::Tensor input = x.contiguous();
  if (onDevice(input) && plan.onDevice().prefersDense(input.scalar_type())) {
    return plan.onDevice().denseProduct(input);
  }
  at::Tensor output = at::empty_like(input);
  detail::dispatchReal(
      "aggregate", input,
      [&]<class Real>(Real) {
        detail::aggregateOnCpu(plan, input.data_ptr<Real>(), output.data_ptr<Real>(),
                               detail::sizeOf(input, 1));
      },
      [&]<class Real>(Real, cuda::Stream stream) {
        const detail::DevicePlan& there = plan.onDevice();
        cuda::aggregate<Real>(stream, there.rows(input.device()), there.scales<Real>(input.device()),
                              input.data_ptr<Real>(), detail::sizeOf(input, 1),
                              output.data_ptr<Real>());
      });
  return output;
}

class Aggregate : public torch::autograd::Function<Aggregate> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const std::shared_ptr<const MessagePlan>& plan) {
    detail::keep(context, "plan", plan);
    return applyPlan(*plan, x);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    // Through the operation itself, so that the gradient can be differentiated again.
    const auto plan = detail::kept<MessagePlan>(context, "plan");
    return {aggregate(plan->transposed(), gradients[0]), at::Tensor()};
  }
};

}  // namespace

bool aggregatesDensely(const MessagePlan& plan, at::Device device) {
  return onDevice(device) && plan.onDevice().prefersDense(at::kFloat);
}

at::Tensor aggregate(const std::shared_ptr<const MessagePlan>& plan, const at::Tensor& x) {
  checkInput(*plan, x);
  return Aggregate::apply(x, plan);
}

}  // namespace edgewise
