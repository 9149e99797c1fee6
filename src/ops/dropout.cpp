#include "edgewise/ops/dropout.h"

#include "ops/autograd_support.h"
#include "ops/cpu_gate.h"

namespace edgewise {
namespace {

using detail::AutogradContext;
using detail::variable_list;

// x where the mask keeps it, scaled. Linear in x; its gradient is the same gate.
class Drop : public torch::autograd::Function<Drop> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const std::shared_ptr<const DropoutMask>& mask) {
    detail::keep(context, "mask", mask);
    const at::Tensor input = x.contiguous();
    at::Tensor out = at::empty_like(input);
    const auto count = static_cast<std::size_t>(input.numel());
    detail::dispatchReal(
        "dropout", input,
        [&]<class Real>(Real) {
          detail::dropOnCpu(input.data_ptr<Real>(), *mask, count, out.data_ptr<Real>());
        },
        [&]<class Real>(Real, cuda::Stream stream) {
          cuda::drop<Real>(stream, input.data_ptr<Real>(), detail::maskOf(*mask), count,
                           out.data_ptr<Real>());
        });
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    return {Drop::apply(gradients[0], detail::kept<DropoutMask>(context, "mask")), at::Tensor()};
  }
};

// scale * x where `open` is positive, else 0. Linear in x; its gradient is the same gate.
class Gate : public torch::autograd::Function<Gate> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& open,
                            double scale) {
    context->save_for_backward({open});
    context->saved_data["scale"] = scale;
    const at::Tensor input = x.contiguous();
    at::Tensor out = at::empty_like(input);
    const auto count = static_cast<std::size_t>(input.numel());
    detail::dispatchReal(
        "dropout", input,
        [&]<class Real>(Real) {
          detail::gateOnCpu(input.data_ptr<Real>(), open.data_ptr<Real>(), static_cast<Real>(scale),
                            count, out.data_ptr<Real>());
        },
        [&]<class Real>(Real, cuda::Stream stream) {
          cuda::gate<Real>(stream, input.data_ptr<Real>(), open.data_ptr<Real>(),
                           static_cast<Real>(scale), count, out.data_ptr<Real>());
        });
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    return {Gate::apply(gradients[0], context->get_saved_variables()[0],
                        context->saved_data["scale"].toDouble()),
            at::Tensor(), at::Tensor()};
  }
};

// What came through tells which gates were open: neither the input nor the mask is kept.
class RectifyAndDrop : public torch::autograd::Function<RectifyAndDrop> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const std::shared_ptr<const DropoutMask>& mask) {
    const at::Tensor input = x.contiguous();
    at::Tensor out = at::empty_like(input);
    const auto count = static_cast<std::size_t>(input.numel());
    detail::dispatchReal(
        "reluDropout", input,
        [&]<class Real>(Real) {
          detail::rectifyAndDropOnCpu(input.data_ptr<Real>(), *mask, count, out.data_ptr<Real>());
        },
        [&]<class Real>(Real, cuda::Stream stream) {
          cuda::rectifyAndDrop<Real>(stream, input.data_ptr<Real>(), detail::maskOf(*mask), count,
                                     out.data_ptr<Real>());
        });
    context->save_for_backward({out});
    context->saved_data["scale"] = mask->scale();
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    // Detached: the step of a rectifier has no derivative of its own.
    return {Gate::apply(gradients[0], context->get_saved_variables()[0].detach(),
                        context->saved_data["scale"].toDouble()),
            at::Tensor()};
  }
};

}  // namespace

at::Tensor dropout(const at::Tensor& x, const DropoutMask& mask) {
  if (mask.keepsAll()) {
    return x;
  }
  return Drop::apply(x, std::make_shared<const DropoutMask>(mask));
}

at::Tensor reluDropout(const at::Tensor& x, const DropoutMask& mask) {
  return RectifyAndDrop::apply(x, std::make_shared<const DropoutMask>(mask));
}

}  // namespace edgewise
