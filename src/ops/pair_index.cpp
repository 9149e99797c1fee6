#include "edgewise/ops/pair_index.h"

#include <fmt/format.h>

#include "edgewise/util/error.h"
#include "ops/row_blocks.h"

namespace edgewise {
namespace {

constexpr std::uint64_t kBlockWork = 256;

}  // namespace

std::shared_ptr<const PairIndex> PairIndex::make(std::span<const Edge> pairs,
                                                 std::size_t node_count) {
  if (pairs.size() >= (std::size_t{1} << 31)) {
    throw ShapeError(fmt::format("{} pairs are more than one batch can hold", pairs.size()));
  }
  auto result = std::shared_ptr<PairIndex>(new PairIndex());
  result->pairs_.assign(pairs.begin(), pairs.end());
  result->node_count_ = node_count;
  std::vector<std::uint32_t> count(node_count, 0);
  for (const Edge& pair : pairs) {
    if (index(pair.src) >= node_count || index(pair.dst) >= node_count) {
      throw ShapeError(fmt::format("pair ({}, {}) in a graph of {} nodes", index(pair.src),
                                   index(pair.dst), node_count));
    }
    ++count[index(pair.src)];
    ++count[index(pair.dst)];
  }
  result->offsets_.push_back(0);
  // From here on `count` says where a node's next place goes.
  std::uint32_t next = 0;
  for (std::uint32_t node = 0; node < node_count; ++node) {
    if (const std::uint32_t here = count[node]; here > 0) {
      result->nodes_.push_back(node);
      count[node] = next;
      next += here;
      result->offsets_.push_back(next);
    }
  }
  result->places_.resize(2 * pairs.size());
  for (std::uint32_t i = 0; i < pairs.size(); ++i) {
    result->places_[count[index(pairs[i].src)]++] = 2 * i;
    result->places_[count[index(pairs[i].dst)]++] = 2 * i + 1;
  }
  result->blocks_ = detail::cutIntoBlocks(result->offsets_, kBlockWork);
  return result;
}

}  // namespace edgewise
