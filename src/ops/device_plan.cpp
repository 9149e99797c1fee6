#include "ops/device_plan.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <vector>

#include "edgewise/ops/view_pairs.h"
#include "edgewise/util/error.h"
#include "ops/autograd_support.h"
#include "ops/device_copy.h"
#include "ops/device_pairs.h"

namespace edgewise::detail {
namespace {

// A dense product does nodes^2 work at the rate of tensor cores, the rows their entries at the rate
// of a gather; past this many nodes the matrix itself would be a burden.
constexpr std::size_t kMostDenseNodes = 8192;
constexpr std::size_t kLeastDensity = 128;
// Of floats that are gathered; below it, making messages of 16 bits costs more than it saves.
constexpr std::size_t kLeastHalfBytes = std::size_t{32} << 20;
// Rows with more entries than this are cut into segments of so many.
constexpr std::int64_t kLongRow = 512;
constexpr std::int64_t kSegment = 256;
// Rows of a matrix begin at multiples of this many floats.
constexpr std::int64_t kPadding = 8;

at::Tensor doubles(std::span<const double> values, at::Device device) {
  return values.empty() ? at::Tensor() : copyTo(device, values, at::kDouble);
}

at::Tensor floats(const at::Tensor& values) {
  return values.defined() ? values.to(at::kFloat) : values;
}

cuda::DegreeScale scaleKind(Norm norm) {
  switch (norm) {
    case Norm::kMean:
      return cuda::DegreeScale::kMean;
    case Norm::kSymmetric:
      return cuda::DegreeScale::kSymmetric;
    default:
      return cuda::DegreeScale::kSymmetricOpen;
  }
}

template <class T>
const T* dataOf(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<T>() : nullptr;
}

// Where sums of long rows' segments go, and of long rows themselves when rows are picked.
at::Tensor scratchFor(const cuda::RowOrder& order, const at::Tensor& sums) {
  const std::size_t rows = order.segments + (order.picked ? order.long_count : 0);
  return at::empty({static_cast<std::int64_t>(rows), sums.size(1)}, sums.options());
}

// What comes out: a row for each of `nodes`, or for each row that is picked.
at::Tensor sumsFor(const cuda::RowOrder& order, std::int64_t nodes, std::int64_t width,
                   const at::TensorOptions& options) {
  return at::empty({order.picked ? static_cast<std::int64_t>(order.count) : nodes, width},
                   options.requires_grad(false));
}

// For each entry whether it is masked.
std::vector<std::uint8_t> goneEntries(const MessagePlan& plan) {
  std::vector<std::uint8_t> gone(plan.rows().entryCount(), 0);
  for (std::size_t row = 0; row < plan.nodeCount(); ++row) {
    const auto masked = plan.masked(row);
    const auto neighbours = plan.rows().neighbours(NodeId{static_cast<std::uint32_t>(row)});
    for (std::size_t i = 0, next = 0; i < neighbours.size() && next < masked.size(); ++i) {
      if (neighbours[i] == masked[next]) {
        gone[plan.rows().offsets()[row] + i] = 1;
        ++next;
      }
    }
  }
  return gone;
}

}  // namespace

cuda::Rows DeviceGraph::rows(at::Device device) {
  const std::scoped_lock lock(mutex_);
  if (!offsets_.defined()) {
    offsets_ = copyTo(device, graph_->offsets(), at::kLong);
    columns_ = copyTo(device, graph_->targets(), at::kInt);
    if (graph_->weighted()) {
      weights_ = copyTo(device, graph_->entryWeights(), at::kFloat);
    }
  }
  return {.count = graph_->nodeCount(),
          .offsets = offsets_.data_ptr<std::int64_t>(),
          .columns = columns_.data_ptr<std::int32_t>(),
          .weights = dataOf<float>(weights_),
          .gone = nullptr};
}

// The lock is held.
void DeviceGraph::orderRows(at::Device device) {
  std::vector<std::int32_t> short_rows;
  std::vector<std::int32_t> long_rows;
  std::vector<std::int32_t> first = {0};
  std::vector<std::int64_t> bounds;
  const auto offsets = graph_->offsets();
  for (std::size_t row = 0; row < graph_->nodeCount(); ++row) {
    const auto begin = static_cast<std::int64_t>(offsets[row]);
    const auto end = static_cast<std::int64_t>(offsets[row + 1]);
    if (end - begin <= kLongRow) {
      short_rows.push_back(static_cast<std::int32_t>(row));
      continue;
    }
    long_rows.push_back(static_cast<std::int32_t>(row));
    for (std::int64_t entry = begin; entry < end; entry += kSegment) {
      bounds.push_back(entry);
      bounds.push_back(std::min(end, entry + kSegment));
    }
    first.push_back(static_cast<std::int32_t>(bounds.size() / 2));
  }
  std::ranges::stable_sort(short_rows, std::ranges::greater(), [&](std::int32_t row) {
    const auto place = static_cast<std::size_t>(row);
    return offsets[place + 1] - offsets[place];
  });
  short_rows_ = copyTo(device, std::span<const std::int32_t>(short_rows), at::kInt);
  long_rows_ = copyTo(device, std::span<const std::int32_t>(long_rows), at::kInt);
  long_first_ = copyTo(device, std::span<const std::int32_t>(first), at::kInt);
  long_bounds_ = copyTo(device, std::span<const std::int64_t>(bounds), at::kLong);
}

cuda::RowOrder DeviceGraph::rowOrder(at::Device device) {
  const std::scoped_lock lock(mutex_);
  if (!short_rows_.defined()) {
    orderRows(device);
  }
  return {.count = static_cast<std::size_t>(short_rows_.numel()),
          .rows = short_rows_.data_ptr<std::int32_t>(),
          .long_count = static_cast<std::size_t>(long_rows_.numel()),
          .segments = static_cast<std::size_t>(long_bounds_.numel()) / 2,
          .long_rows = long_rows_.data_ptr<std::int32_t>(),
          .first = long_first_.data_ptr<std::int32_t>(),
          .bounds = long_bounds_.data_ptr<std::int64_t>()};
}

void DevicePlan::fill(at::Device device) const {
  const std::scoped_lock lock(mutex_);
  if (filled_) {
    return;
  }
  if (plan_->masksAny()) {
    const std::vector<std::uint8_t> gone = goneEntries(*plan_);
    gone_ = copyTo(device, std::span<const std::uint8_t>(gone), at::kByte);
  }
  row_scale_ = doubles(plan_->rowScale(), device);
  column_scale_ = doubles(plan_->columnScale(), device);
  row_scale_float_ = floats(row_scale_);
  column_scale_float_ = floats(column_scale_);
  filled_ = true;
}

cuda::Rows DevicePlan::rows(at::Device device) const {
  fill(device);
  cuda::Rows rows = graph_->rows(device);
  rows.gone = dataOf<std::uint8_t>(gone_);
  return rows;
}

template <>
cuda::Scales<double> DevicePlan::scales<double>(at::Device device) const {
  fill(device);
  return {dataOf<double>(row_scale_), dataOf<double>(column_scale_), plan_->includesSelf()};
}

template <>
cuda::Scales<float> DevicePlan::scales<float>(at::Device device) const {
  fill(device);
  return {dataOf<float>(row_scale_float_), dataOf<float>(column_scale_float_),
          plan_->includesSelf()};
}

at::Tensor DevicePlan::rowScale(at::Device device) const {
  fill(device);
  return row_scale_;
}

std::shared_ptr<DevicePlan> DevicePlan::without(const at::Tensor& edges,
                                                const MessagePlan& plan) const {
  auto masked = std::make_shared<DevicePlan>(plan, graph_);
  const Norm norm = plan.norm();
  if constexpr (kDeviceKernels) {
    cuda::Rows rows = graph_->rows(edges.device());
    masked->gone_ = at::zeros({static_cast<std::int64_t>(graph_->graph().entryCount())},
                              edges.options().dtype(at::kByte));
    const cuda::Stream stream = streamOf(edges);
    cuda::maskEntries(stream, rows, edges.data_ptr<std::int32_t>(),
                      static_cast<std::size_t>(edges.size(0)), true,
                      masked->gone_.data_ptr<std::uint8_t>());
    if (norm != Norm::kSum) {
      rows.gone = masked->gone_.data_ptr<std::uint8_t>();
      at::Tensor scale =
          at::empty({static_cast<std::int64_t>(rows.count)}, edges.options().dtype(at::kDouble));
      cuda::degreeScales<double>(stream, rows, scaleKind(norm), scale.data_ptr<double>());
      masked->row_scale_ = scale;
      masked->row_scale_float_ = floats(scale);
      if (norm != Norm::kMean) {
        masked->column_scale_ = scale;
        masked->column_scale_float_ = masked->row_scale_float_;
      }
    }
  }
  masked->filled_ = true;
  return masked;
}

std::shared_ptr<DevicePlan> DevicePlan::transposed(const MessagePlan& plan) const {
  auto turned = std::make_shared<DevicePlan>(plan, graph_);
  const std::scoped_lock lock(mutex_);
  turned->filled_ = filled_;
  turned->gone_ = gone_;
  turned->dense_ = dense_;
  turned->row_scale_ = column_scale_;
  turned->column_scale_ = row_scale_;
  turned->row_scale_float_ = column_scale_float_;
  turned->column_scale_float_ = row_scale_float_;
  return turned;
}

bool DevicePlan::prefersDense(at::ScalarType type) const {
  const std::size_t nodes = graph_->graph().nodeCount();
  return productPrecision() == ProductPrecision::kTf32 && type == at::kFloat &&
         nodes <= kMostDenseNodes && graph_->graph().direction() == Direction::kUndirected &&
         graph_->graph().entryCount() >= nodes * nodes / kLeastDensity;
}

bool DevicePlan::prefersHalf(at::ScalarType type, std::int64_t width) const {
  const std::size_t gathered =
      graph_->graph().entryCount() * static_cast<std::size_t>(width) * sizeof(float);
  return productPrecision() == ProductPrecision::kTf32 && type == at::kFloat &&
         gathered >= kLeastHalfBytes;
}

at::Tensor DevicePlan::apply(const at::Tensor& x, const at::Tensor& plus,
                             const at::Tensor& bias) const {
  if (prefersDense(x.scalar_type())) {
    at::Tensor sum = denseProduct(x);
    sum = plus.defined() ? sum + plus : sum;
    return bias.defined() ? sum + bias : sum;
  }
  return rowSums(x, {.order = graph_->rowOrder(x.device()), .plus = plus, .bias = bias});
}

at::Tensor DevicePlan::applyAt(const at::Tensor& x, const at::Tensor& nodes) const {
  if (prefersDense(x.scalar_type())) {
    return denseProduct(x).index_select(0, nodes);
  }
  cuda::RowOrder order = graph_->rowOrder(x.device());
  order.picked = true;
  order.count = static_cast<std::size_t>(nodes.numel());
  order.rows = nodes.data_ptr<std::int32_t>();
  return rowSums(x, {.order = order});
}

DevicePlan::HalfMessages::HalfMessages(std::int64_t nodes, std::int64_t width,
                                       const at::TensorOptions& floats)
    : numbers(at::empty({nodes, width}, floats.dtype(at::kHalf).requires_grad(false))),
      down(at::empty({nodes}, floats.requires_grad(false))) {}

at::Tensor DevicePlan::applyToEnds(const at::Tensor& rows,
                                   const std::shared_ptr<const PairIndex>& pairs) const {
  if (prefersDense(rows.scalar_type()) || !prefersHalf(rows.scalar_type(), rows.size(1))) {
    return apply(sumByNode(rows, pairs), {}, {});
  }
  requireKernels();
  HalfMessages sent(static_cast<std::int64_t>(pairs->nodeCount()), rows.size(1), rows.options());
  sent.few = true;
  if constexpr (kDeviceKernels) {
    cuda::endsToMessages(streamOf(rows), devicePairs(*pairs, rows.device()), rows.data_ptr<float>(),
                         sizeOf(rows, 1), scales<float>(rows.device()).column, sent.bits(),
                         sent.down.data_ptr<float>());
  }
  return halfSums(sent, {.order = graph_->rowOrder(rows.device())});
}

at::Tensor DevicePlan::rowSums(const at::Tensor& x, const RowSums& told) const {
  requireKernels();
  if (prefersHalf(x.scalar_type(), x.size(1))) {
    const HalfMessages sent(x.size(0), x.size(1), x.options());
    if constexpr (kDeviceKernels) {
      cuda::toMessages(streamOf(x), x.data_ptr<float>(), sizeOf(x, 0), sizeOf(x, 1),
                       scales<float>(x.device()).column, sent.bits(), sent.down.data_ptr<float>());
    }
    return halfSums(sent, told);
  }
  at::Tensor out = sumsFor(told.order, x.size(0), x.size(1), x.options());
  const at::Tensor scratch = scratchFor(told.order, out);
  if constexpr (kDeviceKernels) {
    byType("aggregate", x, [&]<class Real>(Real) {
      cuda::aggregate<Real>(streamOf(x), rows(x.device()), told.order, scales<Real>(x.device()),
                            x.data_ptr<Real>(), sizeOf(x, 1),
                            {dataOf<Real>(told.plus), dataOf<Real>(told.bias)},
                            out.data_ptr<Real>(), scratch.data_ptr<Real>());
    });
  }
  return out;
}

at::Tensor DevicePlan::halfSums(const HalfMessages& sent, const RowSums& told) const {
  const at::Device device = sent.down.device();
  at::Tensor out =
      sumsFor(told.order, sent.numbers.size(0), sent.numbers.size(1), sent.down.options());
  const at::Tensor scratch = scratchFor(told.order, out);
  if constexpr (kDeviceKernels) {
    cuda::aggregateMessages(streamOf(out), rows(device), told.order, scales<float>(device),
                            sent.bits(), sizeOf(sent.numbers, 1), sent.down.data_ptr<float>(),
                            sent.few, {dataOf<float>(told.plus), dataOf<float>(told.bias)},
                            out.data_ptr<float>(), scratch.data_ptr<float>());
  }
  return out;
}

at::Tensor DevicePlan::denseProduct(const at::Tensor& x) const {
  const auto nodes = static_cast<std::int64_t>(graph_->graph().nodeCount());
  const std::int64_t padded = (nodes + kPadding - 1) / kPadding * kPadding;
  if constexpr (kDeviceKernels) {
    const cuda::Rows entries = rows(x.device());
    const std::scoped_lock lock(mutex_);
    if (!dense_.defined()) {
      dense_ = at::zeros({nodes, padded}, x.options().requires_grad(false));
      cuda::scatterEntries<float>(streamOf(x), entries, graph_->graph().entryCount(),
                                  static_cast<std::size_t>(padded), dense_.data_ptr<float>());
    }
  }
  const at::Tensor scaled =
      column_scale_float_.defined() ? x * column_scale_float_.unsqueeze(1) : x;
  const at::Tensor operand = at::constant_pad_nd(scaled, {0, 0, 0, padded - nodes});
  const at::Tensor sum =
      plan_->includesSelf() ? at::addmm(scaled, dense_, operand) : at::mm(dense_, operand);
  return row_scale_float_.defined() ? sum * row_scale_float_.unsqueeze(1) : sum;
}

}  // namespace edgewise::detail
