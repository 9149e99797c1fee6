// The user's own node ids <-> our 0..n-1. Two kinds: `numbers`, where the id in the file is the
// node's number (nodes without edges included), and `labels`, where any text is an id and nodes are
// numbered by first appearance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "edgewise/graph/types.h"

namespace edgewise {

class IdMap {
 public:
  // No ids at all.
  IdMap() = default;
  // Ids "0".."count-1".
  static IdMap numbers(std::size_t count);
  // One label per node. Throws DataError for a repeated label.
  static IdMap labels(std::vector<std::string> labels);

  [[nodiscard]] std::size_t size() const { return numeric_ ? count_ : labels_.size(); }
  [[nodiscard]] bool numeric() const { return numeric_; }
  // Nothing when the id is unknown.
  [[nodiscard]] std::optional<NodeId> find(std::string_view id) const;
  [[nodiscard]] std::string label(NodeId node) const;

 private:
  bool numeric_ = true;
  std::size_t count_ = 0;
  std::vector<std::string> labels_;
  std::unordered_map<std::string, NodeId> positions_;
};

}  // namespace edgewise
