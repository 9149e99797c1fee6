#include "edgewise/views/pair_batch.h"

#include <ATen/Functions.h>

#include <vector>

namespace edgewise {

PairBatch PairBatch::make(std::span<const Edge> positive, std::span<const Edge> negative,
                          std::size_t node_count, at::ScalarType type) {
  std::vector<Edge> all(positive.begin(), positive.end());
  all.insert(all.end(), negative.begin(), negative.end());
  const auto links = static_cast<std::int64_t>(positive.size());
  at::Tensor labels = at::zeros({static_cast<std::int64_t>(all.size())}, at::TensorOptions(type));
  labels.narrow(0, 0, links).fill_(1);
  return {PairIndex::make(all, node_count), labels, nullptr, positive.size()};
}

}  // namespace edgewise
