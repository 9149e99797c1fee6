#include "edgewise/data/candidate_nodes.h"

#include <numeric>

namespace edgewise {

CandidateNodes::CandidateNodes(const Dataset& dataset, std::span<const Edge> targets)
    : original_(dataset.node_count), compact_(dataset.node_count, kAbsent) {
  std::iota(original_.begin(), original_.end(), std::uint32_t{0});
  if (!dataset.edge_classes.empty()) {
    std::vector<std::uint8_t> touched(dataset.node_count, 0);
    for (const Edge& edge : targets) {
      touched[index(edge.src)] = 1;
      touched[index(edge.dst)] = 1;
    }
    std::erase_if(original_, [&](std::uint32_t node) { return touched[node] == 0; });
  }
  for (std::uint32_t i = 0; i < original_.size(); ++i) {
    compact_[original_[i]] = i;
  }
}

std::vector<Edge> CandidateNodes::among(std::span<const Edge> edges) const {
  std::vector<Edge> inside;
  for (const Edge& edge : edges) {
    const std::uint32_t src = compact_[index(edge.src)];
    const std::uint32_t dst = compact_[index(edge.dst)];
    if (src != kAbsent && dst != kAbsent) {
      inside.push_back(makeEdge(src, dst));
    }
  }
  return inside;
}

void CandidateNodes::restore(std::vector<Edge>& edges) const {
  for (Edge& edge : edges) {
    edge = {restore(edge.src), restore(edge.dst)};
  }
}

}  // namespace edgewise
