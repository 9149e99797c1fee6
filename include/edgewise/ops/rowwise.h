// Sums over rows or columns and their counterparts, in a fixed order: torch's own sums differ in
// the last bits between thread counts. Each is the gradient of another, so all can be
// differentiated any number of times. All throw ShapeError for sizes that do not fit.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace edgewise {

// [rows, columns] -> [columns]: the total of all rows.
[[nodiscard]] at::Tensor columnSum(const at::Tensor& x);
// [columns] -> [rows, columns]: every row the same.
[[nodiscard]] at::Tensor expandRows(const at::Tensor& row, std::int64_t rows);
// [rows, columns] -> [rows].
[[nodiscard]] at::Tensor rowSum(const at::Tensor& x);
// [rows] -> [rows, columns]: every column the same.
[[nodiscard]] at::Tensor expandColumns(const at::Tensor& column, std::int64_t columns);
// x [rows, columns] + bias [columns] on every row.
[[nodiscard]] at::Tensor addBias(const at::Tensor& x, const at::Tensor& bias);
// [rows, columns] -> the same: each row's exponentials as shares of their sum.
[[nodiscard]] at::Tensor rowSoftmax(const at::Tensor& x);
// [rows, columns] -> [rows]: the logarithm of the sum of each row's exponentials.
[[nodiscard]] at::Tensor rowLogSumExp(const at::Tensor& x);
// [rows, columns] -> the same: each row scaled to length 1; rows of zeros stay.
[[nodiscard]] at::Tensor unitRows(const at::Tensor& x);
// Any shape -> one number [].
[[nodiscard]] at::Tensor totalSum(const at::Tensor& x);

// 1 / (1 + exp(-x)) of any shape, the same bits however it is cut.
[[nodiscard]] at::Tensor logistic(const at::Tensor& x);
// The mean over all entries of the binary cross-entropy of logits x against labels in [0, 1] (same
// shape, not differentiated) -> []. Empty input gives 0.
[[nodiscard]] at::Tensor binaryCrossEntropy(const at::Tensor& logits, const at::Tensor& labels);

}  // namespace edgewise
