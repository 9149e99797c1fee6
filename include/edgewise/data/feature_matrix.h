// Node features, one row a node: dense row-major floats or compressed sparse rows, as the source
// had them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace edgewise {

class FeatureMatrix {
 public:
  // No features: 0 x 0.
  FeatureMatrix() = default;
  // `values` holds rows x columns floats, row by row.
  static FeatureMatrix dense(std::size_t rows, std::size_t columns, std::vector<float> values);
  // `offsets` has rows + 1 entries, ascending from 0 to columns.size(). Within a row columns must
  // be below `column_count`; they are sorted here, repeats added up, explicit zeros kept out.
  // Throws ShapeError otherwise.
  static FeatureMatrix sparse(std::size_t column_count, std::vector<std::uint64_t> offsets,
                              std::vector<std::uint32_t> columns, std::vector<float> values);

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] bool empty() const { return rows_ == 0 || columns_ == 0; }
  [[nodiscard]] bool isSparse() const { return !offsets_.empty(); }
  // Stored entries that are not zero.
  [[nodiscard]] std::size_t nonzeroCount() const;

  // Dense: rows x columns values. Sparse: the values beside columnIndices().
  [[nodiscard]] std::span<const float> values() const { return values_; }
  // Sparse only.
  [[nodiscard]] std::span<const std::uint64_t> rowOffsets() const { return offsets_; }
  [[nodiscard]] std::span<const std::uint32_t> columnIndices() const { return column_indices_; }

  // One value, whatever the form (slow; for tests and display).
  [[nodiscard]] float at(std::size_t row, std::size_t column) const;

 private:
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
  std::vector<float> values_;
  std::vector<std::uint64_t> offsets_;
  std::vector<std::uint32_t> column_indices_;
};

}  // namespace edgewise
