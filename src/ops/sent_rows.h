// What messages carry, and sums of it on a processor. For source files that include libtorch's own
// headers alone.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "edgewise/ops/message_plan.h"
#include "edgewise/ops/pair_index.h"
#include "ops/cpu_aggregate.h"

namespace edgewise::detail {

// Rows of all nodes, or on a processor of pairs' ends alone; other nodes send nothing. Never part
// of a graph of gradients.
class SentRows {
 public:
  // [nodes, width]
  explicit SentRows(const at::Tensor& all) : rows_(all.detach().contiguous()) {}
  // What rows [2 * pairs, width] of both ends add up to by node.
  SentRows(const at::Tensor& ends, const std::shared_ptr<const PairIndex>& pairs);

  [[nodiscard]] const at::Tensor& rows() const { return rows_; }
  [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(rows_.size(1)); }
  template <class Real>
  [[nodiscard]] NodeRows<Real> onHost() const {
    return {rows_.data_ptr<Real>(), places_};
  }

 private:
  at::Tensor rows_;
  std::vector<std::uint32_t> places_;
};

// What a sum is multiplied by, and rows that are added to it so many times.
struct Added {
  double gain = 1;
  const SentRows* plus = nullptr;
  double times = 1;
};

// gain * plan(sent) + times * plus, [nodes, width].
[[nodiscard]] at::Tensor sumOnHost(const MessagePlan& plan, const SentRows& sent,
                                   const Added& added = {});
// Its rows at both ends of every pair, [2 * pairs, width].
[[nodiscard]] at::Tensor sumAtEndsOnHost(const MessagePlan& plan, const SentRows& sent,
                                         const PairIndex& pairs, const Added& added = {});

}  // namespace edgewise::detail
