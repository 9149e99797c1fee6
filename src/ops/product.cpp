#include "edgewise/ops/product.h"

#include "edgewise/ops/rowwise.h"
#include "edgewise/util/parallel.h"
#include "ops/autograd_support.h"
#include "ops/cpu_gemm.h"
#include "ops/cpu_rowwise.h"

namespace edgewise {
namespace {

using detail::AutogradContext;
using detail::MatrixView;
using detail::variable_list;

bool firstTransposed(Transpose transpose) {
  return transpose == Transpose::kFirst || transpose == Transpose::kBoth;
}

bool secondTransposed(Transpose transpose) {
  return transpose == Transpose::kSecond || transpose == Transpose::kBoth;
}

Transpose transposeOf(bool first, bool second) {
  if (first) {
    return second ? Transpose::kBoth : Transpose::kFirst;
  }
  return second ? Transpose::kSecond : Transpose::kNeither;
}

template <class Real>
MatrixView<Real> viewOf(const at::Tensor& x, bool transposed) {
  return {x.data_ptr<Real>(), detail::sizeOf(x, 0), detail::sizeOf(x, 1), transposed};
}

void checkProduct(const at::Tensor& a, const at::Tensor& b, Transpose transpose) {
  detail::requireMatrix("a product", a);
  detail::requireMatrix("a product", b);
  const auto inner_a = a.size(firstTransposed(transpose) ? 0 : 1);
  const auto inner_b = b.size(secondTransposed(transpose) ? 1 : 0);
  const bool same_kind = a.scalar_type() == b.scalar_type() || a.scalar_type() == at::kHalf;
  if (inner_a != inner_b || !same_kind) {
    throw ShapeError(fmt::format("cannot multiply [{}, {}] ({}) by [{}, {}] ({}): {} against {}",
                                 a.size(0), a.size(1), c10::toString(a.scalar_type()), b.size(0),
                                 b.size(1), c10::toString(b.scalar_type()), inner_a, inner_b));
  }
}

at::Tensor multiplied(const at::Tensor& given, const at::Tensor& b, Transpose transpose,
                      const at::Tensor& bias) {
  const at::Tensor a = given.to(b.scalar_type());
  if (onDevice(a)) {
    const at::Tensor left = firstTransposed(transpose) ? a.t() : a;
    const at::Tensor right = secondTransposed(transpose) ? b.t() : b;
    return bias.defined() ? at::addmm(bias, left, right) : at::mm(left, right);
  }
  const at::Tensor left = a.contiguous();
  const at::Tensor right = b.contiguous();
  at::Tensor out = at::empty({left.size(firstTransposed(transpose) ? 1 : 0),
                              right.size(secondTransposed(transpose) ? 0 : 1)},
                             left.options().requires_grad(false));
  detail::dispatchReal("a product", left, [&]<class Real>(Real) {
    auto* to = out.data_ptr<Real>();
    if (bias.defined()) {
      detail::repeatRow(bias.contiguous().data_ptr<Real>(), detail::sizeOf(out, 0),
                        detail::sizeOf(out, 1), to);
    }
    detail::multiply(viewOf<Real>(left, firstTransposed(transpose)),
                     viewOf<Real>(right, secondTransposed(transpose)), to, bias.defined());
  });
  return out;
}

class Product : public torch::autograd::Function<Product> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& a, const at::Tensor& b,
                            std::int64_t transpose) {
    context->save_for_backward({a, b});
    context->saved_data["transpose"] = transpose;
    return multiplied(a, b, static_cast<Transpose>(transpose), {});
  }

  // Products again, so that the gradient can be differentiated.
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const auto transpose = static_cast<Transpose>(context->saved_data["transpose"].toInt());
    const bool first = firstTransposed(transpose);
    const bool second = secondTransposed(transpose);
    at::Tensor to_a;
    at::Tensor to_b;
    if (context->needs_input_grad(0)) {
      to_a = first ? product(saved[1], gradients[0], transposeOf(second, true))
                   : product(gradients[0], saved[1], transposeOf(false, !second));
    }
    if (context->needs_input_grad(1)) {
      // Only the first of two may be of half precision.
      to_b = second ? product(gradients[0], saved[0].to(gradients[0].scalar_type()),
                              transposeOf(true, first))
                    : product(saved[0], gradients[0], transposeOf(!first, false));
    }
    return {to_a, to_b, at::Tensor()};
  }
};

class Affine : public torch::autograd::Function<Affine> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            const at::Tensor& bias) {
    context->save_for_backward({x, weight});
    return multiplied(x, weight, Transpose::kNeither, bias);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    at::Tensor to_x;
    at::Tensor to_weight;
    at::Tensor to_bias;
    if (context->needs_input_grad(0)) {
      to_x = product(gradients[0], saved[1], Transpose::kSecond);
    }
    if (context->needs_input_grad(1)) {
      to_weight = product(saved[0], gradients[0], Transpose::kFirst);
    }
    if (context->needs_input_grad(2)) {
      to_bias = columnSum(gradients[0]);
    }
    return {to_x, to_weight, to_bias};
  }
};

}  // namespace

at::Tensor product(const at::Tensor& a, const at::Tensor& b, Transpose transpose) {
  checkProduct(a, b, transpose);
  return Product::apply(a, b, static_cast<std::int64_t>(transpose));
}

at::Tensor affine(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  checkProduct(x, weight, Transpose::kNeither);
  if (!bias.defined()) {
    return product(x, weight);
  }
  detail::requireColumnVector("a bias", bias, x, weight.size(1));
  return Affine::apply(x, weight, bias);
}

}  // namespace edgewise
