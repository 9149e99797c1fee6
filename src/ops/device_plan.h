// A message plan on a GPU: uploaded when first asked for, or masked there.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <mutex>

#include "edgewise/graph/csr_graph.h"
#include "edgewise/ops/message_plan.h"
#include "edgewise/ops/pair_index.h"
#include "ops/device_kernels.h"

namespace edgewise::detail {

// The rows of a graph, shared by all plans over it.
class DeviceGraph {
 public:
  explicit DeviceGraph(std::shared_ptr<const CsrGraph> graph) : graph_(std::move(graph)) {}
  [[nodiscard]] cuda::Rows rows(at::Device device);
  [[nodiscard]] cuda::RowOrder rowOrder(at::Device device);
  [[nodiscard]] const CsrGraph& graph() const { return *graph_; }

 private:
  void orderRows(at::Device device);

  std::mutex mutex_;
  std::shared_ptr<const CsrGraph> graph_;
  at::Tensor offsets_;
  at::Tensor columns_;
  at::Tensor weights_;
  at::Tensor short_rows_;
  at::Tensor long_rows_;
  at::Tensor long_first_;
  at::Tensor long_bounds_;
};

class DevicePlan {
 public:
  // Of a plan that the host knows; refers to it.
  DevicePlan(const MessagePlan& plan, std::shared_ptr<DeviceGraph> graph)
      : plan_(&plan), graph_(std::move(graph)) {}

  // The same rows without the edges [count, 2] of int32 on a device, in both directions. `plan` is
  // what the host knows of it.
  [[nodiscard]] std::shared_ptr<DevicePlan> without(const at::Tensor& edges,
                                                    const MessagePlan& plan) const;
  // Of the transposed operator, over an undirected graph. `plan` is it on the host.
  [[nodiscard]] std::shared_ptr<DevicePlan> transposed(const MessagePlan& plan) const;

  [[nodiscard]] cuda::Rows rows(at::Device device) const;
  template <class Real>
  [[nodiscard]] cuda::Scales<Real> scales(at::Device device) const;
  // [nodes] in double precision; undefined: all 1.
  [[nodiscard]] at::Tensor rowScale(at::Device device) const;

  // The aggregation of x, plus a matrix and a bias where they are defined.
  [[nodiscard]] at::Tensor apply(const at::Tensor& x, const at::Tensor& plus,
                                 const at::Tensor& bias) const;
  // Its rows at `nodes` [count] of int32, [count, width].
  [[nodiscard]] at::Tensor applyAt(const at::Tensor& x, const at::Tensor& nodes) const;
  // The aggregation of what rows [2 * pairs, width] of pairs' ends add up to.
  [[nodiscard]] at::Tensor applyToEnds(const at::Tensor& rows,
                                       const std::shared_ptr<const PairIndex>& pairs) const;
  // Whether a dense product is faster than going through the rows, and as exact as was asked for.
  [[nodiscard]] bool prefersDense(at::ScalarType type) const;
  // Whether messages of 16 bits are, too.
  [[nodiscard]] bool prefersHalf(at::ScalarType type, std::int64_t width) const;

 private:
  void fill(at::Device device) const;
  [[nodiscard]] at::Tensor denseProduct(const at::Tensor& x) const;
  // What an aggregation by rows is told.
  struct RowSums {
    cuda::RowOrder order;
    at::Tensor plus = {};
    at::Tensor bias = {};
  };
  [[nodiscard]] at::Tensor rowSums(const at::Tensor& x, const RowSums& told) const;
  // Memory for messages [nodes, width] of 16 bits; `few`: with scale 0 of the nodes that send none.
  struct HalfMessages {
    at::Tensor numbers;
    at::Tensor down;
    bool few = false;

    HalfMessages(std::int64_t nodes, std::int64_t width, const at::TensorOptions& floats);
    [[nodiscard]] std::uint16_t* bits() const {
      return static_cast<std::uint16_t*>(numbers.data_ptr());
    }
  };
  [[nodiscard]] at::Tensor halfSums(const HalfMessages& sent, const RowSums& told) const;

  const MessagePlan* plan_;
  std::shared_ptr<DeviceGraph> graph_;
  mutable std::mutex mutex_;
  mutable bool filled_ = false;
  mutable at::Tensor gone_;
  // In double precision and as floats; undefined: all 1.
  mutable at::Tensor row_scale_;
  mutable at::Tensor column_scale_;
  mutable at::Tensor row_scale_float_;
  mutable at::Tensor column_scale_float_;
  // All entries as a matrix of floats, with columns of zeros to a length that products like.
  mutable at::Tensor dense_;
};

}  // namespace edgewise::detail
