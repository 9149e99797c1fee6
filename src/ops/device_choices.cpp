#include <ATen/Functions.h>

#include "edgewise/ops/view_mixture.h"
#include "ops/autograd_support.h"

namespace edgewise {

at::Tensor topShares(const at::Tensor& scores, const PairIndex& pairs, const TopViews& options) {
  detail::requireKernels();
  const at::Tensor input = scores.contiguous();
  at::Tensor shares = at::empty_like(input).detach();
  if constexpr (detail::kDeviceKernels) {
    detail::byType("topShares", input, [&]<class Real>(Real) {
      cuda::topShares<Real>(detail::streamOf(input),
                            {.depth = static_cast<int>(options.depth),
                             .top = static_cast<int>(options.top),
                             .temperature = options.temperature,
                             .symmetric = options.symmetric},
                            pairs.ends(input.device()).data_ptr<std::int32_t>(),
                            input.data_ptr<Real>(), pairs.size(), shares.data_ptr<Real>());
    });
  }
  return shares;
}

at::Tensor knownShares(const at::Tensor& rows, const at::Tensor& places, const at::Tensor& weights,
                       std::size_t views) {
  detail::requireKernels();
  at::Tensor shares =
      at::empty({static_cast<std::int64_t>(views), rows.size(0)}, weights.options());
  if constexpr (detail::kDeviceKernels) {
    const auto count = static_cast<std::size_t>(rows.size(0));
    cuda::knownShares<float>(detail::streamOf(rows), rows.data_ptr<std::int32_t>(), count,
                             static_cast<int>(views), static_cast<int>(places.size(1)),
                             places.data_ptr<std::uint8_t>(), weights.data_ptr<float>(), count,
                             shares.data_ptr<float>());
  }
  return shares;
}

at::Tensor randomShares(const CounterRng& random, const PairIndex& pairs, std::size_t depth,
                        bool symmetric) {
  detail::requireKernels();
  const at::Tensor ends = pairs.endsThere();
  at::Tensor shares = at::empty({static_cast<std::int64_t>(depth * depth), ends.size(0)},
                                ends.options().dtype(at::kFloat));
  if constexpr (detail::kDeviceKernels) {
    cuda::randomShares<float>(detail::streamOf(ends), detail::keyOf(random),
                              static_cast<int>(depth), symmetric, ends.data_ptr<std::int32_t>(),
                              pairs.size(), shares.data_ptr<float>());
  }
  return shares;
}

}  // namespace edgewise
