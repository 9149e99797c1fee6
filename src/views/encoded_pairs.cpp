#include "edgewise/views/encoded_pairs.h"

#include "edgewise/ops/view_pairs.h"

namespace edgewise {

at::Tensor ofBothEnds(const at::Tensor& nodes, const std::shared_ptr<const PairIndex>& pairs) {
  if (!nodes.defined()) {
    return {};
  }
  return gatherEnd(nodes.unsqueeze(1), pairs, PairEnd::kBoth).reshape({-1, 2});
}

}  // namespace edgewise
