#include "edgewise/data/feature_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "edgewise/util/error.h"

namespace edgewise {
namespace {

void checkOffsets(std::span<const std::uint64_t> offsets, std::size_t entries) {
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != entries ||
      !std::ranges::is_sorted(offsets)) {
    throw ShapeError(fmt::format("sparse feature offsets do not rise from 0 to {}", entries),
                     "the file's indptr array is damaged");
  }
}

}  // namespace

FeatureMatrix FeatureMatrix::dense(std::size_t rows, std::size_t columns,
                                   std::vector<float> values) {
  if (columns != 0 && (values.size() % columns != 0 || values.size() / columns != rows)) {
    throw ShapeError(
        fmt::format("{} feature values do not make {} x {}", values.size(), rows, columns));
  }
  FeatureMatrix matrix;
  matrix.rows_ = rows;
  matrix.columns_ = columns;
  matrix.values_ = std::move(values);
  return matrix;
}

FeatureMatrix FeatureMatrix::sparse(std::size_t column_count, std::vector<std::uint64_t> offsets,
                                    std::vector<std::uint32_t> columns, std::vector<float> values) {
  if (columns.size() != values.size()) {
    throw ShapeError(
        fmt::format("{} sparse column indices for {} values", columns.size(), values.size()));
  }
  checkOffsets(offsets, columns.size());
  FeatureMatrix matrix;
  matrix.rows_ = offsets.size() - 1;
  matrix.columns_ = column_count;
  matrix.offsets_.assign(1, 0);
  matrix.offsets_.reserve(offsets.size());
  std::vector<std::pair<std::uint32_t, float>> row_entries;
  for (std::size_t row = 0; row < matrix.rows_; ++row) {
    row_entries.clear();
    for (std::uint64_t at = offsets[row]; at < offsets[row + 1]; ++at) {
      if (columns[at] >= column_count) {
        throw ShapeError(fmt::format("feature column {} in row {} is outside 0..{}", columns[at],
                                     row, static_cast<std::int64_t>(column_count) - 1));
      }
      row_entries.emplace_back(columns[at], values[at]);
    }
    std::ranges::stable_sort(row_entries, {}, &std::pair<std::uint32_t, float>::first);
    for (std::size_t i = 0; i < row_entries.size();) {
      const std::uint32_t column = row_entries[i].first;
      float sum = 0;
      for (; i < row_entries.size() && row_entries[i].first == column; ++i) {
        sum += row_entries[i].second;
      }
      if (sum != 0) {
        matrix.column_indices_.push_back(column);
        matrix.values_.push_back(sum);
      }
    }
    matrix.offsets_.push_back(matrix.values_.size());
  }
  return matrix;
}

std::size_t FeatureMatrix::nonzeroCount() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(values_, [](float value) { return value != 0; }));
}

float FeatureMatrix::at(std::size_t row, std::size_t column) const {
  invariant(row < rows_ && column < columns_, "FeatureMatrix::at outside the matrix");
  if (!isSparse()) {
    return values_[row * columns_ + column];
  }
  const auto begin = column_indices_.begin() + static_cast<std::ptrdiff_t>(offsets_[row]);
  const auto end = column_indices_.begin() + static_cast<std::ptrdiff_t>(offsets_[row + 1]);
  const auto found = std::lower_bound(begin, end, column);
  return found != end && *found == column
             ? values_[static_cast<std::size_t>(found - column_indices_.begin())]
             : 0.0F;
}

}  // namespace edgewise
