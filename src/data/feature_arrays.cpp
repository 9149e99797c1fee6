#include "data/feature_arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "edgewise/graph/types.h"
#include "edgewise/util/error.h"

namespace edgewise {
namespace {

[[noreturn]] void throwNotFinite(const std::string& name, float value, std::size_t row,
                                 std::size_t column) {
  throw DataError(fmt::format("{}: the value at row {}, column {} is {}", name, row, column, value),
                  "replace missing and infinite values before loading");
}

void checkSize(const std::string& name, std::size_t rows, std::size_t columns) {
  if (columns == 0) {
    throw DataError(fmt::format("{}: the feature matrix has no columns", name));
  }
  if (rows > kMaxNodes || columns > std::numeric_limits<std::uint32_t>::max()) {
    throw DataError(fmt::format("{}: {} x {} features are too many", name, rows, columns));
  }
}

std::vector<std::uint64_t> checkedOffsets(const SparseArrays& arrays) {
  const NumberArray& source = arrays.offsets;
  if (source.size() != arrays.row_count + 1) {
    throw DataError(fmt::format("{}: {} row offsets for {} rows; there must be one more than rows",
                                source.name(), source.size(), arrays.row_count));
  }
  std::vector<std::uint64_t> offsets(source.size());
  std::int64_t last = 0;
  for (std::size_t row = 0; row < offsets.size(); ++row) {
    const std::int64_t offset = source.integerAt(row);
    if (offset < last || (row == 0 && offset != 0)) {
      throw DataError(fmt::format("{}: row offsets must rise from 0, but entry {} is {} after {}",
                                  source.name(), row, offset, last));
    }
    offsets[row] = static_cast<std::uint64_t>(offset);
    last = offset;
  }
  if (offsets.back() != arrays.columns.size() || offsets.back() != arrays.values.size()) {
    throw DataError(
        fmt::format("{}: the last row offset is {} but there are {} column indices and "
                    "{} values",
                    source.name(), offsets.back(), arrays.columns.size(), arrays.values.size()));
  }
  return offsets;
}

}  // namespace

FeatureMatrix denseFeatures(const NumberArray& array) {
  if (array.shape().size() != 2) {
    throw DataError(fmt::format("{}: features need two dimensions (nodes x columns), not {}",
                                array.name(), shapeText(array.shape())));
  }
  const std::size_t columns = array.shape()[1];
  checkSize(array.name(), array.shape()[0], columns);
  std::vector<float> values = array.floats();
  const auto bad = std::ranges::find_if(values, [](float value) { return !std::isfinite(value); });
  if (bad != values.end()) {
    const auto at = static_cast<std::size_t>(bad - values.begin());
    throwNotFinite(array.name(), *bad, at / columns, at % columns);
  }
  return FeatureMatrix::dense(array.shape()[0], columns, std::move(values));
}

FeatureMatrix sparseFeatures(const SparseArrays& arrays) {
  checkSize(arrays.columns.name(), arrays.row_count, arrays.column_count);
  std::vector<std::uint64_t> offsets = checkedOffsets(arrays);
  std::vector<std::uint32_t> columns(arrays.columns.size());
  std::vector<float> values = arrays.values.floats();
  for (std::size_t row = 0; row < arrays.row_count; ++row) {
    for (std::uint64_t at = offsets[row]; at < offsets[row + 1]; ++at) {
      const std::int64_t column = arrays.columns.integerAt(at);
      if (column < 0 || std::cmp_greater_equal(column, arrays.column_count)) {
        throw DataError(fmt::format("{}: column {} in row {} is outside 0..{}",
                                    arrays.columns.name(), column, row, arrays.column_count - 1));
      }
      columns[at] = static_cast<std::uint32_t>(column);
      if (!std::isfinite(values[at])) {
        throwNotFinite(arrays.values.name(), values[at], row, columns[at]);
      }
    }
  }
  return FeatureMatrix::sparse(arrays.column_count, std::move(offsets), std::move(columns),
                               std::move(values));
}

}  // namespace edgewise
