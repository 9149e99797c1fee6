// Labels by which a network over an enclosing subgraph tells the two ends of the pair, and how far
// from them every other node stands. All distances are those inside the subgraph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace edgewise {

enum class NodeLabelling : std::uint8_t {
  // Double-radius node labelling (Zhang and Chen 2018). With d_u the distance to u when v is
  // removed, d_v the other way round and d = d_u + d_v:
  //   1 + min(d_u, d_v) + (d / 2) * (d / 2 + d % 2 - 1)      (integer division)
  // 1 for both ends, 0 for nodes that do not reach both of them.
  kDrnl,
  // Distance encoding (Li et al. 2020): the distances to u and to v, nothing removed. Two numbers a
  // node.
  kDistances,
  // 1 for both ends, 0 for all others.
  kZeroOne,
};

// "drnl", "de", "zo".
[[nodiscard]] std::string_view labellingName(NodeLabelling labelling);
// Throws ConfigError with the nearest known name.
[[nodiscard]] NodeLabelling parseLabelling(std::string_view name);

struct LabelOptions {
  NodeLabelling labelling = NodeLabelling::kDrnl;
  // kDrnl: larger labels become this one, so that a table of labels has an end.
  std::uint32_t max_label = 1000;
  // kDistances: longer distances become this one; nodes without a path get one more.
  std::uint32_t max_distance = 3;
};

// Numbers a node.
[[nodiscard]] std::size_t labelWidth(const LabelOptions& options);
// Every number is below this.
[[nodiscard]] std::size_t labelCount(const LabelOptions& options);

}  // namespace edgewise
