#include "edgewise/ops/tangent.h"

#include "ops/autograd_support.h"
#include "ops/cpu_tangent.h"

namespace edgewise {
namespace {

using detail::AutogradContext;
using detail::variable_list;

class Tangent : public torch::autograd::Function<Tangent> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x) {
    const at::Tensor input = x.contiguous();
    at::Tensor out;
    if (onDevice(input)) {
      out = at::tanh(input);
    } else {
      out = at::empty_like(input);
      detail::byType("hyperbolicTangent", input, [&]<class Real>(Real) {
        detail::tangentOf(input.data_ptr<Real>(), static_cast<std::size_t>(input.numel()),
                          out.data_ptr<Real>());
      });
    }
    context->save_for_backward({x, out});
    return out;
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    // What was computed is a constant here; only a gradient of the gradient needs it again.
    const at::Tensor value = c10::GradMode::is_enabled() ? hyperbolicTangent(saved[0]) : saved[1];
    return {gradients[0] * (1 - value * value)};
  }
};

}  // namespace

at::Tensor hyperbolicTangent(const at::Tensor& x) { return Tangent::apply(x); }

}  // namespace edgewise
