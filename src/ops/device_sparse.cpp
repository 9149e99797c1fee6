#include "ops/device_sparse.h"

#include <ATen/Functions.h>

#include "edgewise/util/error.h"
#include "ops/autograd_support.h"
#include "ops/device_copy.h"

namespace edgewise::detail {
namespace {

constexpr std::size_t kMostDenseElements = std::size_t{1} << 28;

template <class T>
std::span<const T> spanOf(const std::vector<T>& values) {
  return values;
}

SparseArrays::OneSide uploaded(const SparseMatrix::Side& side, at::Device device) {
  return {copyTo(device, spanOf(side.offsets), at::kLong),
          copyTo(device, spanOf(side.indices), at::kInt)};
}

}  // namespace

void SparseArrays::upload(at::Device device) {
  const std::scoped_lock lock(mutex_);
  if (values.defined()) {
    return;
  }
  std::vector<std::int64_t> at_row(host_values_->size());
  for (std::size_t row = 0; row < rowCount(); ++row) {
    for (std::uint64_t i = rows_->offsets[row]; i < rows_->offsets[row + 1]; ++i) {
      at_row[i] = static_cast<std::int64_t>(row * columnCount() + rows_->indices[i]);
    }
  }
  const std::vector<std::int64_t> from(columns_->origin.begin(), columns_->origin.end());
  by_row = uploaded(*rows_, device);
  by_column = uploaded(*columns_, device);
  places = copyTo(device, spanOf(at_row), at::kLong);
  origin = copyTo(device, spanOf(from), at::kLong);
  values = copyTo(device, spanOf(*host_values_), at::kFloat);
}

at::Tensor DeviceSparse::times(const at::Tensor& x, bool transposed) const {
  arrays_->upload(x.device());
  if (arrays_->rowCount() * arrays_->columnCount() > kMostDenseElements) {
    return throughRows(x, transposed);
  }
  const at::Tensor matrix = dense(x);
  return at::mm(transposed ? matrix.t() : matrix, x);
}

at::Tensor DeviceSparse::dense(const at::Tensor& like) const {
  const std::scoped_lock lock(mutex_);
  if constexpr (kDeviceKernels) {
    if (!dense_.defined() || dense_.scalar_type() != like.scalar_type()) {
      dense_ = at::zeros({static_cast<std::int64_t>(arrays_->rowCount()),
                          static_cast<std::int64_t>(arrays_->columnCount())},
                         like.options().requires_grad(false));
      const auto scatter = [&]<class Real>(Real) {
        cuda::scatterDropped<Real>(streamOf(like), arrays_->values.data_ptr<float>(),
                                   arrays_->places.data_ptr<std::int64_t>(),
                                   static_cast<std::size_t>(arrays_->values.numel()), maskOf(mask_),
                                   dense_.data_ptr<Real>());
      };
      if (like.scalar_type() == at::kDouble) {
        scatter(double{});
      } else {
        scatter(float{});
      }
    }
  }
  return dense_;
}

at::Tensor DeviceSparse::throughRows(const at::Tensor& x, bool transposed) const {
  const SparseArrays::OneSide& side = transposed ? arrays_->by_column : arrays_->by_row;
  at::Tensor out =
      at::empty({side.offsets.numel() - 1, x.size(1)}, x.options().requires_grad(false));
  if constexpr (kDeviceKernels) {
    const cuda::Stream stream = streamOf(x);
    at::Tensor values = arrays_->values;
    if (!mask_.keepsAll()) {
      values = at::empty_like(arrays_->values);
      cuda::drop<float>(stream, arrays_->values.data_ptr<float>(), maskOf(mask_),
                        static_cast<std::size_t>(values.numel()), values.data_ptr<float>());
    }
    if (transposed) {
      values = values.index_select(0, arrays_->origin);
    }
    const cuda::Rows rows{.count = static_cast<std::size_t>(out.size(0)),
                          .offsets = side.offsets.data_ptr<std::int64_t>(),
                          .columns = side.indices.data_ptr<std::int32_t>(),
                          .weights = values.data_ptr<float>(),
                          .gone = nullptr};
    const cuda::RowOrder as_they_stand{.count = rows.count};
    byType("sparse product", x, [&]<class Real>(Real) {
      cuda::aggregate<Real>(stream, rows, as_they_stand, {}, x.data_ptr<Real>(), sizeOf(x, 1), {},
                            out.data_ptr<Real>(), nullptr);
    });
  }
  return out;
}

}  // namespace edgewise::detail
