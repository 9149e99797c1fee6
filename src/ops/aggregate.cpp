#include "edgewise/ops/aggregate.h"

#include <ATen/Functions.h>
#include <ATen/core/ivalue.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/custom_function.h>

#include "edgewise/util/error.h"
#include "ops/cpu_aggregate.h"

namespace edgewise {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Carries a plan through autograd's context, which holds torch's own values alone.
struct PlanHolder : torch::CustomClassHolder {
  explicit PlanHolder(std::shared_ptr<const MessagePlan> held) : plan(std::move(held)) {}
  std::shared_ptr<const MessagePlan> plan;
};

void checkInput(const MessagePlan& plan, const at::Tensor& x) {
  if (x.dim() != 2 || static_cast<std::size_t>(x.size(0)) != plan.nodeCount()) {
    throw ShapeError(fmt::format("aggregate needs [{}, width], got {} dimensions with {} rows",
                                 plan.nodeCount(), x.dim(), x.dim() > 0 ? x.size(0) : 0));
  }
  if (!x.device().is_cpu() || (x.scalar_type() != at::kFloat && x.scalar_type() != at::kDouble)) {
    throw ConfigError(fmt::format("aggregate works on float or double on the CPU, got {} on {}",
                                  c10::toString(x.scalar_type()), x.device().str()));
  }
}

at::Tensor applyPlan(const MessagePlan& plan, const at::Tensor& x) {
  const at::Tensor input = x.contiguous();
  at::Tensor output = at::empty_like(input);
  const auto width = static_cast<std::size_t>(input.size(1));
  if (input.scalar_type() == at::kFloat) {
    detail::aggregateOnCpu(plan, input.data_ptr<float>(), output.data_ptr<float>(), width);
  } else {
    detail::aggregateOnCpu(plan, input.data_ptr<double>(), output.data_ptr<double>(), width);
  }
  return output;
}

class Aggregate : public torch::autograd::Function<Aggregate> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const c10::intrusive_ptr<PlanHolder>& holder) {
    context->saved_data["plan"] = c10::IValue::make_capsule(holder);
    return applyPlan(*holder->plan, x);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto holder =
        c10::static_intrusive_pointer_cast<PlanHolder>(context->saved_data["plan"].toCapsule());
    // Through the operation itself, so that the gradient can be differentiated again.
    return {aggregate(holder->plan->transposed(), gradients[0]), at::Tensor()};
  }
};

}  // namespace

at::Tensor aggregate(const std::shared_ptr<const MessagePlan>& plan, const at::Tensor& x) {
  checkInput(*plan, x);
  return Aggregate::apply(x, c10::make_intrusive<PlanHolder>(plan));
}

}  // namespace edgewise
