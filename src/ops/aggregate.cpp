#include "edgewise/ops/aggregate.h"

#include "edgewise/ops/rowwise.h"
#include "edgewise/ops/view_pairs.h"
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

// One step of Horner's rule: gain * plan(y) + times * x.
struct HornerStep {
  double gain = 1;
  double times = 1;
};

at::Tensor hornerStep(const MessagePlan& plan, const at::Tensor& y, const at::Tensor& x,
                      const HornerStep& step) {
  if (onDevice(y)) {
    const double times = step.times / step.gain;
    const at::Tensor sum = plan.onDevice().apply(y, times == 1 ? x : x * times, {});
    return step.gain == 1 ? sum : sum * step.gain;
  }
  at::Tensor output = at::empty_like(y);
  detail::dispatchReal("propagate", y, [&]<class Real>(Real) {
    detail::aggregateOnCpu<Real>(plan, y.data_ptr<Real>(), output.data_ptr<Real>(),
                                 detail::sizeOf(y, 1),
                                 {.gain = static_cast<Real>(step.gain),
                                  .plus = x.data_ptr<Real>(),
                                  .times = static_cast<Real>(step.times)});
  });
  return output;
}

// What the last step of a propagation aggregates, over the last weight.
at::Tensor allButLastStep(const MessagePlan& plan, const at::Tensor& x,
                          const std::vector<double>& weights) {
  at::Tensor y = x;
  for (std::size_t k = weights.size() - 1; k-- > 1;) {
    y = hornerStep(plan, y, x, {.gain = 1, .times = weights[k] / weights.back()});
  }
  return y;
}

class Propagate : public torch::autograd::Function<Propagate> {
 public:
  // `weights` do not end in 0, unless there is but one.
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const std::shared_ptr<const MessagePlan>& plan,
                            const std::vector<double>& weights) {
    detail::keep(context, "plan", plan);
    context->saved_data["weights"] = weights;
    const at::Tensor input = x.contiguous().detach();
    const double last = weights.back();
    return weights.size() == 1 ? input * last
                               : hornerStep(*plan, allButLastStep(*plan, input, weights), input,
                                            {.gain = last, .times = weights[0]});
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto plan = detail::kept<MessagePlan>(context, "plan");
    const std::vector<double> weights = context->saved_data["weights"].toDoubleVector();
    return {Propagate::apply(gradients[0], plan->transposed(), weights), at::Tensor(),
            at::Tensor()};
  }
};

// A propagation but for its last step, which is taken at the ends of pairs alone.
class PropagateEnds : public torch::autograd::Function<PropagateEnds> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const std::shared_ptr<const MessagePlan>& plan,
                            const std::vector<double>& weights,
                            const std::shared_ptr<const PairIndex>& pairs) {
    detail::keep(context, "plan", plan);
    detail::keep(context, "pairs", pairs);
    context->saved_data["weights"] = weights;
    const at::Tensor input = x.contiguous().detach();
    const at::Tensor y = allButLastStep(*plan, input, weights);
    return plan->onDevice().applyAt(y, pairs->ends(x.device()).reshape({-1})) * weights.back() +
           gatherEnd(input, pairs, PairEnd::kBoth) * weights[0];
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto plan = detail::kept<MessagePlan>(context, "plan");
    const auto pairs = detail::kept<PairIndex>(context, "pairs");
    const std::vector<double> weights = context->saved_data["weights"].toDoubleVector();
    return {propagate(plan->transposed(), sumByNode(gradients[0], pairs), weights), at::Tensor(),
            at::Tensor(), at::Tensor()};
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

at::Tensor spreadEnds(const std::shared_ptr<const MessagePlan>& plan, const at::Tensor& rows,
                      const std::shared_ptr<const PairIndex>& pairs);

class AggregateEnds : public torch::autograd::Function<AggregateEnds> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const std::shared_ptr<const MessagePlan>& plan,
                            const std::shared_ptr<const PairIndex>& pairs) {
    detail::keep(context, "plan", plan);
    detail::keep(context, "pairs", pairs);
    return plan->onDevice().applyAt(x.contiguous(), pairs->ends(x.device()).reshape({-1}));
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto plan = detail::kept<MessagePlan>(context, "plan");
    return {spreadEnds(plan->transposed(), gradients[0], detail::kept<PairIndex>(context, "pairs")),
            at::Tensor(), at::Tensor()};
  }
};

// The aggregation of what rows of ends add up to, [nodes, width]; the other way round.
class SpreadEnds : public torch::autograd::Function<SpreadEnds> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& rows,
                            const std::shared_ptr<const MessagePlan>& plan,
                            const std::shared_ptr<const PairIndex>& pairs) {
    detail::keep(context, "plan", plan);
    detail::keep(context, "pairs", pairs);
    return plan->onDevice().applyToEnds(rows.contiguous(), pairs);
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto plan = detail::kept<MessagePlan>(context, "plan");
    return {
        aggregateEnds(plan->transposed(), gradients[0], detail::kept<PairIndex>(context, "pairs")),
        at::Tensor(), at::Tensor()};
  }
};

at::Tensor spreadEnds(const std::shared_ptr<const MessagePlan>& plan, const at::Tensor& rows,
                      const std::shared_ptr<const PairIndex>& pairs) {
  return SpreadEnds::apply(rows, plan, pairs);
}

std::vector<double> withoutLastZeros(std::span<const double> weights) {
  std::vector<double> used(weights.begin(), weights.end());
  while (used.size() > 1 && used.back() == 0) {
    used.pop_back();
  }
  invariant(!used.empty(), "a propagation has a weight for the start at least");
  return used;
}

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

at::Tensor aggregateEnds(const std::shared_ptr<const MessagePlan>& plan, const at::Tensor& x,
                         const std::shared_ptr<const PairIndex>& pairs) {
  checkInput(*plan, x);
  return onDevice(x) ? AggregateEnds::apply(x, plan, pairs)
                     : gatherEnd(aggregate(plan, x), pairs, PairEnd::kBoth);
}

at::Tensor propagate(const std::shared_ptr<const MessagePlan>& plan, const at::Tensor& x,
                     std::span<const double> weights) {
  checkInput(*plan, x);
  return Propagate::apply(x, plan, withoutLastZeros(weights));
}

at::Tensor propagateEnds(const std::shared_ptr<const MessagePlan>& plan, const at::Tensor& x,
                         std::span<const double> weights,
                         const std::shared_ptr<const PairIndex>& pairs) {
  checkInput(*plan, x);
  const std::vector<double> used = withoutLastZeros(weights);
  return onDevice(x) && used.size() > 1
             ? PropagateEnds::apply(x, plan, used, pairs)
             : gatherEnd(propagate(plan, x, used), pairs, PairEnd::kBoth);
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
