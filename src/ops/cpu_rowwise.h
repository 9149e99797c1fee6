// Row and column sums on the CPU, free of torch. All matrices are row-major; all cuts depend on
// sizes alone.
#pragma once

#include <cstddef>

namespace edgewise::detail {

// out [columns] = total of the rows.
template <class Real>
void sumRowsInto(const Real* x, std::size_t rows, std::size_t columns, Real* out);
// out [rows, columns]: the row again and again.
template <class Real>
void repeatRow(const Real* row, std::size_t rows, std::size_t columns, Real* out);
// out [rows].
template <class Real>
void sumEachRow(const Real* x, std::size_t rows, std::size_t columns, Real* out);
// out [rows, columns]: each entry across its row.
template <class Real>
void repeatColumn(const Real* column, std::size_t rows, std::size_t columns, Real* out);
// out [rows]: the logarithm of the sum of a row's exponentials; -infinity without columns.
template <class Real>
void logSumExpOf(const Real* x, std::size_t rows, std::size_t columns, Real* out);
// out [rows, columns]: every row's exponentials as shares of their sum.
template <class Real>
void softmaxOf(const Real* x, std::size_t rows, std::size_t columns, Real* out);
template <class Real>
void logisticOf(const Real* x, std::size_t count, Real* out);
// out [count]: the loss of each logit.
template <class Real>
void crossEntropyOf(const Real* logits, const Real* labels, std::size_t count, Real* out);

}  // namespace edgewise::detail
