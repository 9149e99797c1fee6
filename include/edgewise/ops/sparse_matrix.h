// A fixed sparse matrix to multiply with, such as node features: bags of words are nearly all
// zeros, and the first layer of a model then costs a small part of the dense product.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "edgewise/data/feature_matrix.h"
#include "edgewise/ops/dropout.h"

namespace edgewise {

namespace detail {
class DeviceSparse;
}

// Rows and, for gradients, the same matrix by columns. Both share their structure with copies that
// differ in values alone.
class SparseMatrix {
 public:
  // `features` must be sparse.
  static std::shared_ptr<const SparseMatrix> make(const FeatureMatrix& features);

  // With dropout on the entries; zeros stay zeros.
  [[nodiscard]] std::shared_ptr<const SparseMatrix> dropped(const DropoutMask& mask) const;
  // The same where only kernels of a device will look at it.
  [[nodiscard]] std::shared_ptr<const SparseMatrix> droppedOnDevice(const DropoutMask& mask) const;
  [[nodiscard]] std::shared_ptr<const SparseMatrix> transposed() const;

  [[nodiscard]] std::size_t rowCount() const { return rows_->offsets.size() - 1; }
  [[nodiscard]] std::size_t columnCount() const { return columns_->offsets.size() - 1; }
  [[nodiscard]] std::size_t entryCount() const { return row_values_->size(); }

  // One side as compressed rows.
  struct Side {
    std::vector<std::uint64_t> offsets;
    std::vector<std::uint32_t> indices;
    // For each entry its place among the row side's; empty on the row side itself.
    std::vector<std::uint32_t> origin;
    // First rows of consecutive blocks of about equal work, with the number of rows at the end.
    std::vector<std::uint32_t> blocks;
  };
  [[nodiscard]] const Side& rows() const { return *rows_; }
  [[nodiscard]] std::span<const float> rowValues() const { return *row_values_; }
  [[nodiscard]] const detail::DeviceSparse& onDevice() const { return *device_; }
  [[nodiscard]] bool isTransposed() const { return transposed_; }

 private:
  SparseMatrix() = default;

  std::shared_ptr<const Side> rows_;
  std::shared_ptr<const Side> columns_;
  std::shared_ptr<const std::vector<float>> row_values_;
  std::shared_ptr<const std::vector<float>> column_values_;
  std::shared_ptr<detail::DeviceSparse> device_;
  bool transposed_ = false;
};

// matrix [rows, columns] * x [columns, width]; differentiable any number of times in x, the same
// bits for any number of threads. Throws ShapeError when the sizes disagree.
[[nodiscard]] at::Tensor sparseMatmul(const std::shared_ptr<const SparseMatrix>& matrix,
                                      const at::Tensor& x);

}  // namespace edgewise
