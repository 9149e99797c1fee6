#include "edgewise/ops/pair_uses.h"

#include <vector>

#include "edgewise/ops/rowwise.h"
#include "edgewise/ops/view_pairs.h"
#include "ops/autograd_support.h"
#include "ops/device_pairs.h"

namespace edgewise {
namespace {

// How much each node that occurs is used, in the order of pairs.nodes().
std::vector<double> weightsOnHost(const PairIndex& pairs, std::size_t positives, double share) {
  std::vector<double> weights;
  weights.reserve(pairs.nodes().size());
  for (std::size_t i = 0; i < pairs.nodes().size(); ++i) {
    double weight = 0;
    for (const std::uint32_t place : pairs.places(i)) {
      weight += place / 2 < positives ? 1 : place % 2 == 1 ? share : 0;
    }
    weights.push_back(weight);
  }
  return weights;
}

at::Tensor squaresOnHost(const at::Tensor& x, const PairIndex& pairs, std::size_t positives,
                         double share) {
  std::vector<Edge> rows;
  rows.reserve(pairs.nodes().size());
  for (const std::uint32_t node : pairs.nodes()) {
    rows.push_back(makeEdge(node, node));
  }
  const std::vector<double> weights = weightsOnHost(pairs, positives, share);
  const at::Tensor weight = at::tensor(weights, at::kDouble).to(x.scalar_type());
  const at::Tensor used = gatherEnd(x, PairIndex::make(rows, pairs.nodeCount()), PairEnd::kSource);
  return totalSum(rowSum(used * used) * weight) / 2;
}

// Over all nodes, whose numbers only the device knows; most weights are 0.
at::Tensor squaresOnDevice(const at::Tensor& x, const PairIndex& pairs, std::size_t positives,
                           double share) {
  at::Tensor weight = at::empty({x.size(0)}, x.options().requires_grad(false));
  if constexpr (detail::kDeviceKernels) {
    detail::byType("usedSquares", x, [&]<class Real>(Real) {
      cuda::useWeights<Real>(detail::streamOf(x), detail::devicePairs(pairs, x.device()), positives,
                             static_cast<Real>(share), weight.data_ptr<Real>());
    });
  }
  return totalSum(rowSum(x * x) * weight) / 2;
}

}  // namespace

at::Tensor usedSquares(const at::Tensor& x, const std::shared_ptr<const PairIndex>& pairs,
                       std::size_t positives) {
  detail::requireMatrix("usedSquares", x);
  const std::size_t negatives = pairs->size() - std::min(positives, pairs->size());
  if (detail::sizeOf(x, 0) != pairs->nodeCount() || positives == 0 || negatives % positives != 0) {
    throw ShapeError(fmt::format("{} positives and {} negatives among {} nodes, and {} rows",
                                 positives, negatives, pairs->nodeCount(), x.size(0)));
  }
  const double share =
      negatives == 0 ? 0 : static_cast<double>(positives) / static_cast<double>(negatives);
  return onDevice(x) ? squaresOnDevice(x, *pairs, positives, share)
                     : squaresOnHost(x, *pairs, positives, share);
}

}  // namespace edgewise
