// A sparse matrix on a GPU. Where there is memory for it, it is multiplied as a dense one: a GPU
// reads zeros faster than it follows indices.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <mutex>
#include <vector>

#include "edgewise/ops/sparse_matrix.h"
#include "ops/device_kernels.h"

namespace edgewise::detail {

// Both sides of the matrix there, uploaded when first asked for; shared by all that differ in
// values alone.
class SparseArrays {
 public:
  SparseArrays(std::shared_ptr<const SparseMatrix::Side> rows,
               std::shared_ptr<const SparseMatrix::Side> columns,
               std::shared_ptr<const std::vector<float>> row_values)
      : rows_(std::move(rows)), columns_(std::move(columns)), host_values_(std::move(row_values)) {}

  void upload(at::Device device);
  [[nodiscard]] std::size_t rowCount() const { return rows_->offsets.size() - 1; }
  [[nodiscard]] std::size_t columnCount() const { return columns_->offsets.size() - 1; }

  struct OneSide {
    at::Tensor offsets;
    at::Tensor indices;
  };
  OneSide by_row;
  OneSide by_column;
  at::Tensor values;
  // Of each entry in the dense matrix, and of each entry by column among those by row.
  at::Tensor places;
  at::Tensor origin;

 private:
  std::mutex mutex_;
  std::shared_ptr<const SparseMatrix::Side> rows_;
  std::shared_ptr<const SparseMatrix::Side> columns_;
  std::shared_ptr<const std::vector<float>> host_values_;
};

class DeviceSparse {
 public:
  explicit DeviceSparse(std::shared_ptr<SparseArrays> arrays, DropoutMask mask = DropoutMask())
      : arrays_(std::move(arrays)), mask_(mask) {}

  [[nodiscard]] std::shared_ptr<DeviceSparse> dropped(const DropoutMask& mask) const {
    return std::make_shared<DeviceSparse>(arrays_, mask);
  }
  // The matrix, or its transpose, times x.
  [[nodiscard]] at::Tensor times(const at::Tensor& x, bool transposed) const;

 private:
  [[nodiscard]] at::Tensor dense(const at::Tensor& like) const;
  [[nodiscard]] at::Tensor throughRows(const at::Tensor& x, bool transposed) const;

  std::shared_ptr<SparseArrays> arrays_;
  DropoutMask mask_;
  mutable std::mutex mutex_;
  mutable at::Tensor dense_;
};

}  // namespace edgewise::detail
