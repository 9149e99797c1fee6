// The product of a sparse and a dense matrix on the CPU, free of torch.
#pragma once

#include <cstddef>

#include "edgewise/ops/sparse_matrix.h"

namespace edgewise::detail {

// out [matrix.rowCount(), width] = matrix * x [matrix.columnCount(), width].
template <class Real>
void sparseMatmulOnCpu(const SparseMatrix& matrix, const Real* x, std::size_t width, Real* out);

}  // namespace edgewise::detail
