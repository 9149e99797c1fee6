#include "edgewise/sampling/edge_set.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace edgewise {
namespace {

constexpr std::size_t kLeastSlots = 16;
// How far ahead of their use slots are fetched while many edges are entered.
constexpr std::size_t kFetchAhead = 16;

}  // namespace

EdgeSet EdgeSet::fromEdges(std::span<const Edge> edges, Direction direction) {
  EdgeSet set(direction);
  set.insertAll(edges);
  return set;
}

bool EdgeSet::insert(Edge edge) {
  if (2 * (size_ + 1) > slots_.size()) {
    // Growing past what is asked for keeps single insertions cheap on average.
    reserve(2 * (size_ + 1));
  }
  return place(keyOf(edge));
}

void EdgeSet::insertAll(std::span<const Edge> edges) {
  reserve(size_ + edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (i + kFetchAhead < edges.size()) {
      __builtin_prefetch(&slots_[homeOf(keyOf(edges[i + kFetchAhead]))], 1);
    }
    place(keyOf(edges[i]));
  }
}

void EdgeSet::reserve(std::size_t edges) {
  const std::size_t needed = std::bit_ceil(std::max(kLeastSlots, 2 * edges));
  if (needed <= slots_.size()) {
    return;
  }
  std::vector<std::uint64_t> old(needed, kEmpty);
  std::swap(old, slots_);
  size_ = 0;
  for (const std::uint64_t key : old) {
    if (key != kEmpty) {
      place(key);
    }
  }
}

bool EdgeSet::place(std::uint64_t key) {
  std::size_t slot = homeOf(key);
  while (slots_[slot] != kEmpty) {
    if (slots_[slot] == key) {
      return false;
    }
    slot = (slot + 1) & (slots_.size() - 1);
  }
  slots_[slot] = key;
  ++size_;
  return true;
}

}  // namespace edgewise
