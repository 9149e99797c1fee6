#include "edgewise/ops/aggregate.h"

#include "edgewise/ops/rowwise.h"
#include "edgewise/ops/view_pairs.h"
#include "ops/autograd_support.h"
#include "ops/device_plan.h"
#include "ops/sent_rows.h"
#include "ops/view_checks.h"

namespace edgewise {
namespace {

using detail::Added;
using detail::AutogradContext;
using detail::SentRows;
using detail::sumAtEndsOnHost;
using detail::sumOnHost;
using detail::variable_list;

void checkInput(const MessagePlan& plan, const at::Tensor& x) {
  if (x.dim() != 2 || static_cast<std::size_t>(x.size(0)) != plan.nodeCount()) {
    throw ShapeError(fmt::format("aggregate needs [{}, width], got {} dimensions with {} rows",
                                 plan.nodeCount(), x.dim(), x.dim() > 0 ? x.size(0) : 0));
  }
}

class Aggregate : public torch::autograd::Function<Aggregate> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const std::shared_ptr<const MessagePlan>& plan) {
    detail::keep(context, "plan", plan);
    return onDevice(x) ? plan->onDevice().apply(x.contiguous(), {}, {})
                       : sumOnHost(*plan, SentRows(x));
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    // Through the operation itself, so that the gradient can be differentiated again.
    const auto plan = detail::kept<MessagePlan>(context, "plan");
    return {aggregate(plan->transposed(), gradients[0]), at::Tensor()};
  }
};

// A step of Horner's rule is gain * plan(y) + times * x; the k-th, counted down, has weights[k].
Added hornerStep(const std::vector<double>& weights, std::size_t k, const SentRows& x) {
  return k == 0 ? Added{weights.back(), &x, weights[0]} : Added{1, &x, weights[k] / weights.back()};
}

at::Tensor sumAnywhere(const MessagePlan& plan, const SentRows& y, const Added& added) {
  if (!onDevice(y.rows())) {
    return sumOnHost(plan, y, added);
  }
  const at::Tensor& x = added.plus->rows();
  const double times = added.times / added.gain;
  const at::Tensor sum = plan.onDevice().apply(y.rows(), times == 1 ? x : x * times, {});
  return added.gain == 1 ? sum : sum * added.gain;
}

// A propagation of x by two weights or more, down to its step `last`.
SentRows propagated(const MessagePlan& plan, const SentRows& x, const std::vector<double>& weights,
                    std::size_t last) {
  SentRows y = x;
  for (std::size_t k = weights.size() - 1; k-- > last;) {
    y = SentRows(sumAnywhere(plan, y, hornerStep(weights, k, x)));
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
    return weights.size() == 1 ? x.detach() * weights.back()
                               : propagated(*plan, SentRows(x), weights, 0).rows();
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto plan = detail::kept<MessagePlan>(context, "plan");
    const std::vector<double> weights = context->saved_data["weights"].toDoubleVector();
    return {Propagate::apply(gradients[0], plan->transposed(), weights), at::Tensor(),
            at::Tensor()};
  }
};

// What a propagation to or from ends of pairs is made of. `weights` are two at least and do not end
// in 0.
struct EndPropagation {
  std::shared_ptr<const MessagePlan> plan;
  std::shared_ptr<const PairIndex> pairs;
  std::vector<double> weights;

  [[nodiscard]] std::shared_ptr<const EndPropagation> transposed() const {
    return std::make_shared<const EndPropagation>(
        EndPropagation{plan->transposed(), pairs, weights});
  }
};
using Propagation = std::shared_ptr<const EndPropagation>;

// The propagation of what rows of ends add up to, [nodes, width]; propagateEnds the other way
// round.
at::Tensor spreadPropagation(const at::Tensor& rows, const Propagation& how);

// A propagation whose last step is taken at the ends of pairs alone.
class PropagateEnds : public torch::autograd::Function<PropagateEnds> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const Propagation& how) {
    detail::keep(context, "how", how);
    const MessagePlan& plan = *how->plan;
    const std::vector<double>& weights = how->weights;
    const SentRows input(x);
    const SentRows y = propagated(plan, input, weights, 1);
    if (!onDevice(x)) {
      return sumAtEndsOnHost(plan, y, *how->pairs, hornerStep(weights, 0, input));
    }
    return plan.onDevice().applyAt(y.rows(), how->pairs->ends(x.device()).reshape({-1})) *
               weights.back() +
           gatherEnd(input.rows(), how->pairs, PairEnd::kBoth) * weights[0];
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto how = detail::kept<EndPropagation>(context, "how");
    return {spreadPropagation(gradients[0], how->transposed()), at::Tensor()};
  }
};

class SpreadPropagation : public torch::autograd::Function<SpreadPropagation> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& rows,
                            const Propagation& how) {
    detail::keep(context, "how", how);
    return propagated(*how->plan, SentRows(rows, how->pairs), how->weights, 0).rows();
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto how = detail::kept<EndPropagation>(context, "how");
    return {PropagateEnds::apply(gradients[0], how->transposed()), at::Tensor()};
  }
};

at::Tensor spreadPropagation(const at::Tensor& rows, const Propagation& how) {
  return SpreadPropagation::apply(rows, how);
}

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
    return onDevice(x)
               ? plan->onDevice().applyAt(x.contiguous(), pairs->ends(x.device()).reshape({-1}))
               : sumAtEndsOnHost(*plan, SentRows(x), *pairs);
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
    return onDevice(rows) ? plan->onDevice().applyToEnds(rows.contiguous(), pairs)
                          : sumOnHost(*plan, SentRows(rows, pairs));
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
  detail::requireNodes("aggregateEnds", x, *pairs);
  return AggregateEnds::apply(x, plan, pairs);
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
  detail::requireNodes("propagateEnds", x, *pairs);
  const std::vector<double> used = withoutLastZeros(weights);
  return used.size() > 1
             ? PropagateEnds::apply(
                   x, std::make_shared<const EndPropagation>(EndPropagation{plan, pairs, used}))
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
