// The aggregation kernel on the CPU, free of torch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "edgewise/ops/message_plan.h"
#include "edgewise/ops/pair_index.h"

namespace edgewise::detail {

// A row [width] for every node, row-major, or for some nodes alone; the others' are 0 then, and
// take neither memory nor time.
template <class Real>
struct NodeRows {
  const Real* data = nullptr;
  // [nodes]: which row is a node's; empty: they stand in the order of the nodes.
  std::span<const std::uint32_t> places = {};
};
// Of a node that has none.
inline constexpr std::uint32_t kNoRow = 0xFFFFFFFF;

// What an aggregation is multiplied by, and rows that are added to it so many times; null: none
// are.
template <class Real>
struct Blend {
  Real gain = 1;
  NodeRows<Real> plus = {};
  Real times = 1;
};

// output [plan.nodeCount(), width] = plan applied to input; they do not overlap. Each row is summed
// by one thread in the order of its neighbours, so the bits do not depend on the number of threads,
// nor on whether rows of 0 are there.
template <class Real>
void aggregateOnCpu(const MessagePlan& plan, const NodeRows<Real>& input, Real* output,
                    std::size_t width, const Blend<Real>& blend = {});
// Its rows at both ends of every pair, output [2 * pairs, width]; the same bits.
template <class Real>
void aggregateEndsOnCpu(const MessagePlan& plan, const NodeRows<Real>& input,
                        const PairIndex& pairs, Real* output, std::size_t width,
                        const Blend<Real>& blend = {});

}  // namespace edgewise::detail
