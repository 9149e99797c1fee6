// Dense products whose bits do not depend on the number of threads. A threaded BLAS cuts its work
// by the threads it has, and sums come out in another order; here the cuts depend on the sizes
// alone and each piece is one call to BLAS on one thread.
#pragma once

#include <cstddef>

namespace edgewise::detail {

// A row-major matrix of `rows` x `columns`, read as it is or transposed.
template <class Real>
struct MatrixView {
  const Real* data = nullptr;
  std::size_t rows = 0;
  std::size_t columns = 0;
  bool transposed = false;

  // As seen by the product.
  [[nodiscard]] std::size_t height() const { return transposed ? columns : rows; }
  [[nodiscard]] std::size_t width() const { return transposed ? rows : columns; }
};

// out [a.height(), b.width()], row-major = a * b, or out + a * b when `accumulate`.
template <class Real>
void multiply(const MatrixView<Real>& a, const MatrixView<Real>& b, Real* out, bool accumulate);

// One call to BLAS on the calling thread: rows [first, first + count) of a * b into out.
template <class Real>
void multiplyRows(const MatrixView<Real>& a, const MatrixView<Real>& b, std::size_t first,
                  std::size_t count, Real* out, bool accumulate);

extern template void multiply<float>(const MatrixView<float>&, const MatrixView<float>&, float*,
                                     bool);
extern template void multiply<double>(const MatrixView<double>&, const MatrixView<double>&, double*,
                                      bool);
extern template void multiplyRows<float>(const MatrixView<float>&, const MatrixView<float>&,
                                         std::size_t, std::size_t, float*, bool);
extern template void multiplyRows<double>(const MatrixView<double>&, const MatrixView<double>&,
                                          std::size_t, std::size_t, double*, bool);

}  // namespace edgewise::detail
