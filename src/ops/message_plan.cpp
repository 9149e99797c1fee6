#include "edgewise/ops/message_plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "edgewise/util/error.h"
#include "ops/device_plan.h"
#include "ops/row_blocks.h"

namespace edgewise {
namespace {

// Entries (and rows) of one block: enough to hide the cost of handing it to a thread.
constexpr std::uint64_t kBlockWork = 4096;

std::shared_ptr<const std::vector<std::uint32_t>> blocksOf(const CsrGraph& graph) {
  return std::make_shared<const std::vector<std::uint32_t>>(
      detail::cutIntoBlocks(graph.offsets(), kBlockWork));
}

double scaleOf(double degree, Norm norm) {
  if (norm == Norm::kSymmetric) {
    return 1.0 / std::sqrt(degree + 1.0);
  }
  if (degree <= 0) {
    return 0.0;
  }
  return norm == Norm::kMean ? 1.0 / degree : 1.0 / std::sqrt(degree);
}

}  // namespace

std::shared_ptr<const MessagePlan> MessagePlan::make(CsrGraph graph, Norm norm) {
  auto plan = std::shared_ptr<MessagePlan>(new MessagePlan());
  plan->norm_ = norm;
  plan->rows_ = std::make_shared<const CsrGraph>(std::move(graph));
  plan->blocks_ = blocksOf(*plan->rows_);
  if (plan->rows_->direction() == Direction::kUndirected) {
    plan->columns_ = plan->rows_;
    plan->column_blocks_ = plan->blocks_;
  } else {
    plan->columns_ = std::make_shared<const CsrGraph>(plan->rows_->transposed());
    plan->column_blocks_ = blocksOf(*plan->columns_);
  }
  plan->device_rows_ = std::make_shared<detail::DeviceGraph>(plan->rows_);
  plan->device_columns_ = plan->rows_ == plan->columns_
                              ? plan->device_rows_
                              : std::make_shared<detail::DeviceGraph>(plan->columns_);
  plan->device_ = std::make_shared<detail::DevicePlan>(*plan, plan->device_rows_);
  plan->scaleByDegrees();
  return plan;
}

double MessagePlan::degree(std::size_t row) const {
  const NodeId node{static_cast<std::uint32_t>(row)};
  const std::span<const NodeId> neighbours = rows_->neighbours(node);
  const std::span<const NodeId> gone = masked(row);
  if (!rows_->weighted()) {
    return static_cast<double>(neighbours.size() - gone.size());
  }
  const std::span<const float> weights = rows_->weights(node);
  double sum = 0;
  for (std::size_t i = 0, next = 0; i < neighbours.size(); ++i) {
    if (next < gone.size() && gone[next] == neighbours[i]) {
      ++next;
    } else {
      sum += static_cast<double>(weights[i]);
    }
  }
  return sum;
}

void MessagePlan::scaleByDegrees() {
  row_scale_.clear();
  column_scale_.clear();
  if (norm_ == Norm::kSum) {
    return;
  }
  row_scale_.resize(nodeCount());
  for (std::size_t row = 0; row < nodeCount(); ++row) {
    row_scale_[row] = scaleOf(degree(row), norm_);
  }
  if (norm_ != Norm::kMean) {
    column_scale_ = row_scale_;
  }
}

std::shared_ptr<const MessagePlan> MessagePlan::without(std::span<const Edge> edges) const {
  invariant(!masked_, "a masked plan cannot be masked again");
  auto plan = std::shared_ptr<MessagePlan>(new MessagePlan(*this));
  plan->masked_ = true;
  plan->device_ = std::make_shared<detail::DevicePlan>(*plan, device_rows_);
  const bool both_ways = rows_->direction() == Direction::kUndirected;
  std::vector<std::uint64_t> keys;
  for (const Edge& edge : edges) {
    if (index(edge.src) < nodeCount() && rows_->hasEdge(edge.src, edge.dst)) {
      keys.push_back(edgeKey(edge));
      if (both_ways) {
        keys.push_back(edgeKey(reversed(edge)));
      }
    }
  }
  std::ranges::sort(keys);
  keys.erase(std::ranges::unique(keys).begin(), keys.end());
  plan->mask_offsets_.assign(nodeCount() + 1, 0);
  plan->mask_.reserve(keys.size());
  for (const std::uint64_t key : keys) {
    const Edge entry = edgeFromKey(key);
    ++plan->mask_offsets_[index(entry.src) + std::size_t{1}];
    plan->mask_.push_back(entry.dst);
    plan->masked_edges_.push_back(entry);
  }
  std::partial_sum(plan->mask_offsets_.begin(), plan->mask_offsets_.end(),
                   plan->mask_offsets_.begin());
  plan->scaleByDegrees();
  return plan;
}

std::shared_ptr<const MessagePlan> MessagePlan::withoutOnDevice(const at::Tensor& edges) const {
  invariant(!masked_ && rows_ == columns_, "a device masks undirected graphs, and once");
  auto plan = std::shared_ptr<MessagePlan>(new MessagePlan(*this));
  plan->masked_ = true;
  // The host would sum what is masked.
  plan->on_host_ = false;
  plan->device_ = device_->without(edges, *plan);
  return plan;
}

std::shared_ptr<const MessagePlan> MessagePlan::transposed() const {
  auto plan = std::shared_ptr<MessagePlan>(new MessagePlan(*this));
  std::swap(plan->device_rows_, plan->device_columns_);
  plan->device_ = rows_ == columns_
                      ? device_->transposed(*plan)
                      : std::make_shared<detail::DevicePlan>(*plan, plan->device_rows_);
  std::swap(plan->rows_, plan->columns_);
  std::swap(plan->blocks_, plan->column_blocks_);
  std::swap(plan->row_scale_, plan->column_scale_);
  if (rows_ == columns_ || mask_.empty()) {
    return plan;
  }
  std::ranges::sort(plan->masked_edges_, {}, [](Edge edge) { return edgeKey(reversed(edge)); });
  plan->mask_offsets_.assign(nodeCount() + 1, 0);
  plan->mask_.clear();
  for (Edge& edge : plan->masked_edges_) {
    edge = reversed(edge);
    ++plan->mask_offsets_[index(edge.src) + std::size_t{1}];
    plan->mask_.push_back(edge.dst);
  }
  std::partial_sum(plan->mask_offsets_.begin(), plan->mask_offsets_.end(),
                   plan->mask_offsets_.begin());
  return plan;
}

}  // namespace edgewise
