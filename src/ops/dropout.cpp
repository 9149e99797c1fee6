#include "edgewise/ops/dropout.h"

#include "ops/autograd_support.h"
#include "ops/cpu_gate.h"

namespace edgewise {
namespace {

using detail::AutogradContext;
using detail::variable_list;

// out = x where the mask keeps it and, with a reference, reference > 0. Linear in x; its gradient
// is the same gate.
class Gate : public torch::autograd::Function<Gate> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const at::Tensor& reference,
                            const std::shared_ptr<const DropoutMask>& mask) {
    detail::keep(context, "mask", mask);
    if (reference.defined()) {
      context->save_for_backward({reference});
    }
    const at::Tensor input = x.contiguous();
    const at::Tensor against = reference.defined() ? reference.contiguous() : reference;
    at::Tensor out = at::empty_like(input);
    detail::dispatchReal("dropout", input, [&]<class Real>(Real) {
      detail::gateOnCpu(input.data_ptr<Real>(),
                        against.defined() ? against.data_ptr<Real>() : nullptr, *mask,
                        static_cast<std::size_t>(input.numel()), out.data_ptr<Real>());
    });
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    // Detached: the step of a rectifier has no derivative of its own.
    const at::Tensor reference = saved.empty() ? at::Tensor() : saved[0].detach();
    return {Gate::apply(gradients[0], reference, detail::kept<DropoutMask>(context, "mask")),
            at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor dropout(const at::Tensor& x, const DropoutMask& mask) {
  if (mask.keepsAll()) {
    return x;
  }
  return Gate::apply(x, at::Tensor(), std::make_shared<const DropoutMask>(mask));
}

at::Tensor reluDropout(const at::Tensor& x, const DropoutMask& mask) {
  return Gate::apply(x, x.detach(), std::make_shared<const DropoutMask>(mask));
}

}  // namespace edgewise
