#include "ops/cpu_sparse.h"

#include <numeric>

#include "edgewise/util/error.h"
#include "edgewise/util/parallel.h"
#include "ops/cpu_row_sum.h"
#include "ops/device_sparse.h"
#include "ops/row_blocks.h"

namespace edgewise {
namespace {

constexpr std::uint64_t kBlockWork = 4096;
constexpr std::size_t kDropBlock = 16'384;

// The same entries by column, ascending in both.
SparseMatrix::Side transposedSide(const SparseMatrix::Side& rows, std::size_t columns) {
  SparseMatrix::Side side;
  side.offsets.assign(columns + 1, 0);
  for (const std::uint32_t column : rows.indices) {
    ++side.offsets[column + std::size_t{1}];
  }
  std::partial_sum(side.offsets.begin(), side.offsets.end(), side.offsets.begin());
  side.indices.resize(rows.indices.size());
  side.origin.resize(rows.indices.size());
  std::vector<std::uint64_t> next(side.offsets.begin(), side.offsets.end() - 1);
  for (std::size_t row = 0; row + 1 < rows.offsets.size(); ++row) {
    for (std::uint64_t i = rows.offsets[row]; i < rows.offsets[row + 1]; ++i) {
      const std::uint64_t place = next[rows.indices[i]]++;
      side.indices[place] = static_cast<std::uint32_t>(row);
      side.origin[place] = static_cast<std::uint32_t>(i);
    }
  }
  side.blocks = detail::cutIntoBlocks(side.offsets, kBlockWork);
  return side;
}

std::shared_ptr<const std::vector<float>> reordered(const std::vector<float>& values,
                                                    const SparseMatrix::Side& side) {
  auto moved = std::make_shared<std::vector<float>>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    (*moved)[i] = values[side.origin[i]];
  }
  return moved;
}

}  // namespace

std::shared_ptr<const SparseMatrix> SparseMatrix::make(const FeatureMatrix& features) {
  invariant(features.isSparse(), "a SparseMatrix is made of sparse features");
  if (features.nonzeroCount() > 0xFFFFFFFFULL) {
    throw ResourceError("more than 4 billion feature entries",
                        "give the features as a dense matrix");
  }
  auto matrix = std::shared_ptr<SparseMatrix>(new SparseMatrix());
  auto rows = std::make_shared<Side>();
  rows->offsets.assign(features.rowOffsets().begin(), features.rowOffsets().end());
  rows->indices.assign(features.columnIndices().begin(), features.columnIndices().end());
  rows->blocks = detail::cutIntoBlocks(rows->offsets, kBlockWork);
  matrix->rows_ = rows;
  matrix->columns_ = std::make_shared<const Side>(transposedSide(*rows, features.columns()));
  auto values = std::make_shared<const std::vector<float>>(features.values().begin(),
                                                           features.values().end());
  matrix->row_values_ = values;
  matrix->column_values_ = reordered(*values, *matrix->columns_);
  matrix->device_ = std::make_shared<detail::DeviceSparse>(
      std::make_shared<detail::SparseArrays>(matrix->rows_, matrix->columns_, values));
  return matrix;
}

std::shared_ptr<const SparseMatrix> SparseMatrix::dropped(const DropoutMask& mask) const {
  invariant(rows_->origin.empty(), "drop entries before transposing");
  auto matrix = std::shared_ptr<SparseMatrix>(new SparseMatrix(*this));
  if (mask.keepsAll()) {
    return matrix;
  }
  matrix->device_ = device_->dropped(mask);
  auto values = std::make_shared<std::vector<float>>(*row_values_);
  const auto scale = static_cast<float>(mask.scale());
  parallelFor(
      values->size(), kDropBlock,
      [&](std::size_t begin, std::size_t end) {
        std::vector<std::uint8_t> keep(end - begin);
        mask.draw(begin, keep);
        for (std::size_t i = begin; i < end; ++i) {
          (*values)[i] = keep[i - begin] != 0 ? (*values)[i] * scale : 0.0F;
        }
      },
      static_cast<double>(values->size()));
  matrix->column_values_ = reordered(*values, *columns_);
  matrix->row_values_ = std::move(values);
  return matrix;
}

std::shared_ptr<const SparseMatrix> SparseMatrix::droppedOnDevice(const DropoutMask& mask) const {
  auto matrix = std::shared_ptr<SparseMatrix>(new SparseMatrix(*this));
  matrix->device_ = device_->dropped(mask);
  return matrix;
}

std::shared_ptr<const SparseMatrix> SparseMatrix::transposed() const {
  auto matrix = std::shared_ptr<SparseMatrix>(new SparseMatrix(*this));
  std::swap(matrix->rows_, matrix->columns_);
  std::swap(matrix->row_values_, matrix->column_values_);
  matrix->transposed_ = !transposed_;
  return matrix;
}

namespace detail {

template <class Real>
void sparseMatmulOnCpu(const SparseMatrix& matrix, const Real* x, std::size_t width, Real* out) {
  const SparseMatrix::Side& side = matrix.rows();
  const std::span<const float> values = matrix.rowValues();
  const std::size_t asked = liesFar<Real>(matrix.columnCount(), width) ? side.indices.size() : 0;
  parallelFor(
      side.blocks.size() - 1, 1,
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = side.blocks[begin]; row < side.blocks[end]; ++row) {
          sumRow(x, width, Real{1}, out + row * width, [&](auto& strip) {
            for (std::uint64_t i = side.offsets[row]; i < side.offsets[row + 1]; ++i) {
              if (i + kRowsAhead < asked) {
                strip.fetch(side.indices[i + kRowsAhead]);
              }
              strip.add(side.indices[i], static_cast<Real>(values[i]));
            }
          });
        }
      },
      0.06 * static_cast<double>(matrix.entryCount() * width));
}

template void sparseMatmulOnCpu<float>(const SparseMatrix&, const float*, std::size_t, float*);
template void sparseMatmulOnCpu<double>(const SparseMatrix&, const double*, std::size_t, double*);

}  // namespace detail
}  // namespace edgewise
