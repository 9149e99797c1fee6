#include "ops/device_plan.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <vector>

#include "edgewise/util/error.h"
#include "ops/device_copy.h"

namespace edgewise::detail {
namespace {

// A dense product does nodes^2 work at the rate of tensor cores, the rows their entries at the rate
// of a gather; past this many nodes the matrix itself would be a burden.
constexpr std::size_t kMostDenseNodes = 8192;
constexpr std::size_t kLeastDensity = 128;

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
const T* dataOr(const at::Tensor& tensor, const T* otherwise) {
  return tensor.defined() ? tensor.data_ptr<T>() : otherwise;
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
          .weights = dataOr<float>(weights_, nullptr),
          .gone = nullptr};
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
  rows.gone = dataOr<std::uint8_t>(gone_, nullptr);
  return rows;
}

template <>
cuda::Scales<double> DevicePlan::scales<double>(at::Device device) const {
  fill(device);
  return {dataOr<double>(row_scale_, nullptr), dataOr<double>(column_scale_, nullptr),
          plan_->includesSelf()};
}

template <>
cuda::Scales<float> DevicePlan::scales<float>(at::Device device) const {
  fill(device);
  return {dataOr<float>(row_scale_float_, nullptr), dataOr<float>(column_scale_float_, nullptr),
          plan_->includesSelf()};
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
      at::Tensor scale = at::empty({static_cast<std::int64_t>(rows.count)},
                                   edges.options().dtype(at::kDouble));
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

at::Tensor DevicePlan::denseProduct(const at::Tensor& x) const {
  if constexpr (kDeviceKernels) {
    const cuda::Rows entries = rows(x.device());
    const std::scoped_lock lock(mutex_);
    if (!dense_.defined()) {
      const auto nodes = static_cast<std::int64_t>(entries.count);
      dense_ = at::zeros({nodes, nodes}, x.options().requires_grad(false));
      cuda::scatterEntries<float>(streamOf(x), entries, entries.count, dense_.data_ptr<float>());
    }
  }
  const at::Tensor scaled =
      column_scale_float_.defined() ? x * column_scale_float_.unsqueeze(1) : x;
  const at::Tensor sum =
      plan_->includesSelf() ? at::addmm(scaled, dense_, scaled) : at::mm(dense_, scaled);
  return row_scale_float_.defined() ? sum * row_scale_float_.unsqueeze(1) : sum;
}

}  // namespace edgewise::detail
