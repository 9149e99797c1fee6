#include "edgewise/ops/sparse_matrix.h"
#include "ops/autograd_support.h"
#include "ops/cpu_sparse.h"
#include "ops/device_sparse.h"

namespace edgewise {
namespace {

using detail::AutogradContext;
using detail::variable_list;

class SparseProduct : public torch::autograd::Function<SparseProduct> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const std::shared_ptr<const SparseMatrix>& matrix) {
    detail::keep(context, "matrix", matrix);
    const at::Tensor input = x.contiguous();
    if (onDevice(input)) {
      return matrix->onDevice().times(input, matrix->isTransposed());
    }
    at::Tensor out = at::empty({static_cast<std::int64_t>(matrix->rowCount()), x.size(1)},
                               x.options().requires_grad(false));
    detail::dispatchReal("sparseMatmul", input, [&]<class Real>(Real) {
      detail::sparseMatmulOnCpu(*matrix, input.data_ptr<Real>(), detail::sizeOf(input, 1),
                                out.data_ptr<Real>());
    });
    return out;
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto matrix = detail::kept<SparseMatrix>(context, "matrix");
    return {sparseMatmul(matrix->transposed(), gradients[0]), at::Tensor()};
  }
};

}  // namespace

at::Tensor sparseMatmul(const std::shared_ptr<const SparseMatrix>& matrix, const at::Tensor& x) {
  detail::requireMatrix("sparseMatmul", x);
  if (detail::sizeOf(x, 0) != matrix->columnCount()) {
    throw ShapeError(fmt::format("cannot multiply a sparse [{}, {}] by [{}, {}]",
                                 matrix->rowCount(), matrix->columnCount(), x.size(0), x.size(1)));
  }
  return SparseProduct::apply(x, matrix);
}

}  // namespace edgewise
