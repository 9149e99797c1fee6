#include "edgewise/ops/dropout.h"

#include "edgewise/ops/view_pairs.h"
#include "ops/autograd_support.h"
#include "ops/cpu_gate.h"
#include "ops/device_pairs.h"

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

// On a device. What came through is kept as bits, and both gradients meet in one matrix.
class ActivateAndGather : public torch::autograd::Function<ActivateAndGather> {
 public:
  static variable_list forward(AutogradContext* context, const at::Tensor& x,
                               const std::shared_ptr<const DropoutMask>& mask,
                               const std::shared_ptr<const PairIndex>& pairs) {
    const at::Tensor input = x.contiguous().detach();
    at::Tensor out = at::empty_like(input);
    const at::Tensor gates = at::empty({(input.numel() + 3) / 4}, input.options().dtype(at::kByte));
    detail::byType("activatedEnds", input, [&]<class Real>(Real) {
      if constexpr (detail::kDeviceKernels) {
        cuda::rectifyAndDrop<Real>(detail::streamOf(input), input.data_ptr<Real>(),
                                   detail::maskOf(*mask), static_cast<std::size_t>(input.numel()),
                                   out.data_ptr<Real>(), gates.data_ptr<std::uint8_t>());
      }
    });
    context->save_for_backward({out, gates});
    context->saved_data["scale"] = mask->scale();
    detail::keep(context, "pairs", pairs);
    context->set_materialize_grads(false);
    return {out, gatherEnd(input, pairs, PairEnd::kBoth)};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const auto pairs = detail::kept<PairIndex>(context, "pairs");
    const double scale = context->saved_data["scale"].toDouble();
    const at::Tensor& through = gradients[0];
    const at::Tensor& ends = gradients[1];
    variable_list result(3);
    if (!through.defined() || !ends.defined() || c10::GradMode::is_enabled()) {
      const at::Tensor gated =
          through.defined() ? Gate::apply(through, saved[0].detach(), scale) : at::Tensor();
      const at::Tensor sums = ends.defined() ? sumByNode(ends, pairs) : at::Tensor();
      result[0] = !gated.defined() ? sums : !sums.defined() ? gated : gated + sums;
      return result;
    }
    result[0] = gatedPlusEnds(through.contiguous(), ends.contiguous(), saved[1], scale, *pairs);
    return result;
  }

 private:
  static at::Tensor gatedPlusEnds(const at::Tensor& through, const at::Tensor& ends,
                                  const at::Tensor& gates, double scale, const PairIndex& pairs) {
    at::Tensor out = at::empty_like(through);
    detail::byType("activatedEnds", through, [&]<class Real>(Real) {
      if constexpr (detail::kDeviceKernels) {
        const cuda::Stream stream = detail::streamOf(through);
        cuda::gateByBits<Real>(stream, through.data_ptr<Real>(), gates.data_ptr<std::uint8_t>(),
                               static_cast<Real>(scale), static_cast<std::size_t>(out.numel()),
                               out.data_ptr<Real>());
        cuda::scatterEnd<Real>(stream, detail::devicePairs(pairs, through.device()),
                               cuda::kBothEnds, ends.data_ptr<Real>(), detail::sizeOf(ends, 1),
                               /*onto=*/true, out.data_ptr<Real>());
      }
    });
    return out;
  }
};

}  // namespace

ActivatedEnds activatedEnds(const at::Tensor& x, const DropoutMask& mask,
                            const std::shared_ptr<const PairIndex>& pairs) {
  if (!onDevice(x)) {
    return {reluDropout(x, mask), gatherEnd(x, pairs, PairEnd::kBoth)};
  }
  const variable_list both =
      ActivateAndGather::apply(x, std::make_shared<const DropoutMask>(mask), pairs);
  return {both[0], both[1]};
}

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
