// The aggregation kernel on the CPU, free of torch.
#pragma once

#include <cstddef>

#include "edgewise/ops/message_plan.h"

namespace edgewise::detail {

// What an aggregation is multiplied by, and a matrix like its result that is added to it so many
// times; null: none is.
template <class Real>
struct Blend {
  Real gain = 1;
  const Real* plus = nullptr;
  Real times = 1;
};

// output = plan applied to input; both [plan.nodeCount(), width], row-major, not overlapping. Each
// row is summed by one thread in the order of its neighbours, so the bits do not depend on the
// number of threads.
template <class Real>
void aggregateOnCpu(const MessagePlan& plan, const Real* input, Real* output, std::size_t width,
                    const Blend<Real>& blend = {});

extern template void aggregateOnCpu<float>(const MessagePlan&, const float*, float*, std::size_t,
                                           const Blend<float>&);
extern template void aggregateOnCpu<double>(const MessagePlan&, const double*, double*, std::size_t,
                                            const Blend<double>&);

}  // namespace edgewise::detail
