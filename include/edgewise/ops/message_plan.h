// A message graph as kernels want it: rows to sum over, factorised scales instead of per-edge
// coefficients, and blocks of rows with about the same number of entries. Made once per message
// graph, shared by all layers and steps; masking a batch's edges makes a light copy that shares the
// rows.
//
//   aggregate(x)[r] = row_scale[r] * ( [self] column_scale[r] * x[r] + sum over neighbours c of
//   w_rc * column_scale[c] * x[c] )
//
//   kSum        all scales 1
//   kMean       row_scale 1/d(r), 0 for a node without neighbours
//   kSymmetric  self included, both scales 1/sqrt(d + 1): GCN's normalisation
//   kSymmetricOpen  both scales 1/sqrt(d), 0 for a node without neighbours: LightGCN's
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "edgewise/graph/csr_graph.h"
#include "edgewise/graph/types.h"

namespace at {
class Tensor;
}

namespace edgewise {

namespace detail {
class DeviceGraph;
class DevicePlan;
}  // namespace detail

enum class Norm : std::uint8_t { kSum, kMean, kSymmetric, kSymmetricOpen };

class MessagePlan {
 public:
  // Takes the graph over. Weighted graphs weight the sum, and degrees are sums of weights then.
  static std::shared_ptr<const MessagePlan> make(CsrGraph graph, Norm norm);

  // The same plan without these edges (those that are not in the graph are ignored); degrees and so
  // all scales follow. Costs O(nodes + masked), not O(entries). Undirected graphs lose both
  // directions.
  [[nodiscard]] std::shared_ptr<const MessagePlan> without(std::span<const Edge> edges) const;
  // The same for edges [count, 2] of int32 that stand on a device, where the graph is undirected.
  // Only kernels of that device know such a plan.
  [[nodiscard]] std::shared_ptr<const MessagePlan> withoutOnDevice(const at::Tensor& edges) const;
  // The plan of the transposed operator: what a backward pass applies.
  [[nodiscard]] std::shared_ptr<const MessagePlan> transposed() const;

  [[nodiscard]] std::size_t nodeCount() const { return rows_->nodeCount(); }
  [[nodiscard]] const CsrGraph& rows() const { return *rows_; }
  [[nodiscard]] Norm norm() const { return norm_; }
  [[nodiscard]] bool includesSelf() const { return norm_ == Norm::kSymmetric; }
  // Empty when all are 1.
  [[nodiscard]] std::span<const double> rowScale() const { return row_scale_; }
  [[nodiscard]] std::span<const double> columnScale() const { return column_scale_; }
  // The masked neighbours of a row, ascending.
  [[nodiscard]] std::span<const NodeId> masked(std::size_t row) const {
    return mask_offsets_.empty()
               ? std::span<const NodeId>()
               : std::span(mask_).subspan(mask_offsets_[row],
                                          mask_offsets_[row + 1] - mask_offsets_[row]);
  }
  [[nodiscard]] bool masksAny() const { return !mask_.empty(); }
  // Whether this plan is another one without some edges, on the host or on a device.
  [[nodiscard]] bool isMasked() const { return masked_; }
  // Whether kernels of the host know what is masked.
  [[nodiscard]] bool onHost() const { return on_host_; }
  // The plan as kernels of a device read it.
  [[nodiscard]] const detail::DevicePlan& onDevice() const { return *device_; }
  // First rows of consecutive blocks of about equal work, with the number of rows at the end.
  [[nodiscard]] std::span<const std::uint32_t> blocks() const { return *blocks_; }

 private:
  MessagePlan() = default;
  void scaleByDegrees();
  [[nodiscard]] double degree(std::size_t row) const;

  Norm norm_ = Norm::kSum;
  std::shared_ptr<const CsrGraph> rows_;
  // The transposed graph; the same object for undirected ones.
  std::shared_ptr<const CsrGraph> columns_;
  std::shared_ptr<const std::vector<std::uint32_t>> blocks_;
  std::shared_ptr<const std::vector<std::uint32_t>> column_blocks_;
  std::vector<double> row_scale_;
  std::vector<double> column_scale_;
  std::vector<std::uint64_t> mask_offsets_;
  std::vector<NodeId> mask_;
  // The masked edges as given, for the transposed plan.
  std::vector<Edge> masked_edges_;
  bool masked_ = false;
  bool on_host_ = true;
  // Both graphs on a device, and this plan there.
  std::shared_ptr<detail::DeviceGraph> device_rows_;
  std::shared_ptr<detail::DeviceGraph> device_columns_;
  std::shared_ptr<detail::DevicePlan> device_;
};

}  // namespace edgewise
