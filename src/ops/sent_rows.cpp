#include "ops/sent_rows.h"

#include "edgewise/ops/view_pairs.h"
#include "ops/autograd_support.h"
#include "ops/cpu_pairs.h"

namespace edgewise::detail {
namespace {

template <class Real>
Blend<Real> blendOf(const Added& added) {
  return {.gain = static_cast<Real>(added.gain),
          .plus = added.plus == nullptr ? NodeRows<Real>() : added.plus->onHost<Real>(),
          .times = static_cast<Real>(added.times)};
}

at::Tensor matrixLike(const SentRows& sent, std::size_t rows) {
  return at::empty({static_cast<std::int64_t>(rows), sent.rows().size(1)}, sent.rows().options());
}

}  // namespace

SentRows::SentRows(const at::Tensor& ends, const std::shared_ptr<const PairIndex>& pairs) {
  const at::Tensor input = ends.detach().contiguous();
  if (onDevice(input)) {
    rows_ = sumByNode(input, pairs);
    return;
  }
  const auto nodes = pairs->nodes();
  places_.assign(pairs->nodeCount(), kNoRow);
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    places_[nodes[i]] = i;
  }
  rows_ = at::empty({static_cast<std::int64_t>(nodes.size()), input.size(1)}, input.options());
  dispatchReal("sums of ends", input, [&]<class Real>(Real) {
    sumPlacesOnCpu(*pairs, input.data_ptr<Real>(), width(), rows_.data_ptr<Real>());
  });
}

at::Tensor sumOnHost(const MessagePlan& plan, const SentRows& sent, const Added& added) {
  at::Tensor out = matrixLike(sent, plan.nodeCount());
  dispatchReal("aggregate", out, [&]<class Real>(Real) {
    aggregateOnCpu(plan, sent.onHost<Real>(), out.data_ptr<Real>(), sent.width(),
                   blendOf<Real>(added));
  });
  return out;
}

at::Tensor sumAtEndsOnHost(const MessagePlan& plan, const SentRows& sent, const PairIndex& pairs,
                           const Added& added) {
  at::Tensor out = matrixLike(sent, 2 * pairs.size());
  dispatchReal("aggregateEnds", out, [&]<class Real>(Real) {
    aggregateEndsOnCpu(plan, sent.onHost<Real>(), pairs, out.data_ptr<Real>(), sent.width(),
                       blendOf<Real>(added));
  });
  return out;
}

}  // namespace edgewise::detail
