#include "edgewise/data/id_map.h"

#include <fmt/format.h>

#include "edgewise/util/error.h"
#include "edgewise/util/text.h"

namespace edgewise {

IdMap IdMap::numbers(std::size_t count) {
  IdMap map;
  map.count_ = count;
  return map;
}

IdMap IdMap::labels(std::vector<std::string> labels) {
  IdMap map;
  map.numeric_ = false;
  map.labels_ = std::move(labels);
  map.positions_.reserve(map.labels_.size());
  for (std::uint32_t node = 0; node < map.labels_.size(); ++node) {
    if (!map.positions_.emplace(map.labels_[node], NodeId{node}).second) {
      throw DataError(fmt::format("node id '{}' is given twice", map.labels_[node]),
                      "every node needs an id of its own");
    }
  }
  return map;
}

std::optional<NodeId> IdMap::find(std::string_view id) const {
  if (numeric_) {
    const auto number = parseInteger(id);
    if (!number || *number < 0 || static_cast<std::uint64_t>(*number) >= count_) {
      return std::nullopt;
    }
    return NodeId{static_cast<std::uint32_t>(*number)};
  }
  const auto found = positions_.find(std::string(id));
  return found == positions_.end() ? std::nullopt : std::optional(found->second);
}

std::string IdMap::label(NodeId node) const {
  invariant(index(node) < size(), "IdMap::label of a node outside the map");
  return numeric_ ? std::to_string(index(node)) : labels_[index(node)];
}

}  // namespace edgewise
