#include "edgewise/ops/layer_norm.h"

#include <c10/core/GradMode.h>

#include "edgewise/ops/rowwise.h"
#include "ops/autograd_support.h"
#include "ops/cpu_layer_norm.h"

namespace edgewise {
namespace {

using detail::AutogradContext;
using detail::sizeOf;
using detail::variable_list;

template <class Real>
detail::LayerNormInput<Real> inputOf(const at::Tensor& x, const at::Tensor& scale, double epsilon) {
  return {x.data_ptr<Real>(), scale.data_ptr<Real>(), sizeOf(x, 0), sizeOf(x, 1),
          static_cast<Real>(epsilon)};
}

variable_list fusedBackward(const at::Tensor& x, const at::Tensor& scale, double epsilon,
                            const at::Tensor& gradient) {
  const at::Tensor input = x.contiguous();
  const at::Tensor by = scale.contiguous();
  const at::Tensor from = gradient.contiguous();
  if (onDevice(input)) {
    const auto [out, mean, inverse] =
        at::native_layer_norm(input, {input.size(1)}, by, {}, epsilon);
    const auto [to_x, to_scale, to_shift] = at::native_layer_norm_backward(
        from, input, {input.size(1)}, mean, inverse, by, at::zeros_like(by), {true, true, true});
    return {to_x, to_scale, to_shift};
  }
  at::Tensor to_x = at::empty_like(input);
  at::Tensor to_scale = at::empty_like(by);
  at::Tensor to_shift = at::empty_like(by);
  detail::dispatchReal("layerNorm", input, [&]<class Real>(Real) {
    detail::normaliseRowsBackward(inputOf<Real>(input, by, epsilon), from.data_ptr<Real>(),
                                  to_x.data_ptr<Real>(), to_scale.data_ptr<Real>(),
                                  to_shift.data_ptr<Real>());
  });
  return {to_x, to_scale, to_shift};
}

// The same out of differentiable pieces, for when the gradient will be differentiated itself.
variable_list backwardInPieces(const at::Tensor& x, const at::Tensor& scale, double epsilon,
                               const at::Tensor& gradient) {
  const std::int64_t rows = x.size(0);
  const std::int64_t width = x.size(1);
  const auto row_mean = [&](const at::Tensor& y) {
    return expandColumns(rowSum(y) / width, width);
  };
  const at::Tensor centred = x - row_mean(x);
  const at::Tensor inverse =
      expandColumns((rowSum(centred * centred) / width + epsilon).pow(-0.5), width);
  const at::Tensor normal = centred * inverse;
  const at::Tensor scaled = gradient * expandRows(scale, rows);
  const at::Tensor to_x =
      inverse * (scaled - row_mean(scaled) - normal * row_mean(scaled * normal));
  return {to_x, columnSum(gradient * normal), columnSum(gradient)};
}

class LayerNorm : public torch::autograd::Function<LayerNorm> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& scale,
                            const at::Tensor& shift, double epsilon) {
    context->save_for_backward({x, scale});
    context->saved_data["epsilon"] = epsilon;
    const at::Tensor input = x.contiguous();
    const at::Tensor by = scale.contiguous();
    const at::Tensor plus = shift.contiguous();
    if (onDevice(input)) {
      return std::get<0>(at::native_layer_norm(input, {input.size(1)}, by, plus, epsilon));
    }
    at::Tensor out = at::empty_like(input);
    detail::dispatchReal("layerNorm", input, [&]<class Real>(Real) {
      detail::normaliseRows(inputOf<Real>(input, by, epsilon), plus.data_ptr<Real>(),
                            out.data_ptr<Real>());
    });
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const double epsilon = context->saved_data["epsilon"].toDouble();
    variable_list result = c10::GradMode::is_enabled()
                               ? backwardInPieces(saved[0], saved[1], epsilon, gradients[0])
                               : fusedBackward(saved[0], saved[1], epsilon, gradients[0]);
    result.emplace_back();
    return result;
  }
};

}  // namespace

at::Tensor layerNorm(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift,
                     double epsilon) {
  detail::requireMatrix("layerNorm", x);
  if (x.size(1) == 0) {
    throw ShapeError("layerNorm needs columns, got a width of 0");
  }
  detail::requireColumnVector("layerNorm's scale", scale, x, x.size(1));
  detail::requireColumnVector("layerNorm's shift", shift, x, x.size(1));
  return LayerNorm::apply(x, scale, shift, epsilon);
}

}  // namespace edgewise
