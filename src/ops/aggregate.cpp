#include "edgewise/ops/aggregate.h"

#include "edgewise/ops/rowwise.h"
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
  if (onDevice(input)) {
    return plan.onDevice().apply(input, {}, {});
  }
  at::Tensor output = at::empty_like(input);
  detail::dispatchReal("aggregate", input, [&]<class Real>(Real) {
    detail::aggregateOnCpu(plan, input.data_ptr<Real>(), output.data_ptr<Real>(),
                           detail::sizeOf(input, 1));
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

// In one pass over memory on a device. `inputs`: x, the bias, and the matrix where there is one.
class AggregateOnto : public torch::autograd::Function<AggregateOnto> {
 public:
  static at::Tensor forward(AutogradContext* context, at::TensorList inputs,
                            const std::shared_ptr<const MessagePlan>& plan) {
    detail::keep(context, "plan", plan);
    context->saved_data["inputs"] = static_cast<std::int64_t>(inputs.size());
    const variable_list all = detail::contiguous(inputs);
    return plan->onDevice().apply(all[0], all.size() > 2 ? all[2] : at::Tensor(), all[1]);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto plan = detail::kept<MessagePlan>(context, "plan");
    variable_list result = {aggregate(plan->transposed(), gradients[0]), columnSum(gradients[0])};
    if (context->saved_data["inputs"].toInt() > 2) {
      result.push_back(gradients[0]);
    }
    result.emplace_back();
    return result;
  }
};

}  // namespace

bool aggregatesDensely(const MessagePlan& plan, at::Device device) {
  return onDevice(device) && plan.onDevice().prefersDense(at::kFloat);
}

int messageBytes(const MessagePlan& plan, std::int64_t width, at::Device device) {
  return onDevice(device) && plan.onDevice().prefersHalf(at::kFloat, width) ? 2 : 4;
}

at::Tensor aggregate(const std::shared_ptr<const MessagePlan>& plan, const at::Tensor& x) {
  checkInput(*plan, x);
  return Aggregate::apply(x, plan);
}

at::Tensor aggregateOnto(const std::shared_ptr<const MessagePlan>& plan, const at::Tensor& x,
                         const at::Tensor& bias, const at::Tensor& plus) {
  checkInput(*plan, x);
  detail::requireColumnVector("a bias", bias, x, x.size(1));
  if (!onDevice(x)) {
    const at::Tensor sum = aggregate(plan, x);
    return addBias(plus.defined() ? sum + plus : sum, bias);
  }
  variable_list inputs = {x, bias};
  if (plus.defined()) {
    inputs.push_back(plus);
  }
  return AggregateOnto::apply(at::TensorList(inputs), plan);
}

}  // namespace edgewise
