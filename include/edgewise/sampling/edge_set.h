// Which pairs of nodes are known to be linked: the exact test behind every negative we draw. An
// open-addressing table over 64-bit edge keys, at most half full, so that a look-up touches one or
// two cache lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "edgewise/graph/types.h"

namespace edgewise {

class EdgeSet {
 public:
  // Empty. Undirected sets know an edge in both orders.
  explicit EdgeSet(Direction direction = Direction::kUndirected) : direction_(direction) {}
  // Repeats count once.
  [[nodiscard]] static EdgeSet fromEdges(std::span<const Edge> edges,
                                         Direction direction = Direction::kUndirected);

  [[nodiscard]] Direction direction() const { return direction_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

  [[nodiscard]] bool contains(Edge edge) const {
    if (slots_.empty()) {
      return false;
    }
    const std::uint64_t key = keyOf(edge);
    std::size_t slot = homeOf(key);
    while (slots_[slot] != kEmpty && slots_[slot] != key) {
      slot = (slot + 1) & (slots_.size() - 1);
    }
    return slots_[slot] == key;
  }

  // True when the edge is new.
  bool insert(Edge edge);
  void insertAll(std::span<const Edge> edges);
  // Room for this many edges without further growth.
  void reserve(std::size_t edges);

  // Calls visit(edge) for every edge (undirected ones canonical), in no particular order.
  template <class Visit>
  void forEach(const Visit& visit) const {
    for (const std::uint64_t key : slots_) {
      if (key != kEmpty) {
        visit(edgeFromKey(key));
      }
    }
  }

 private:
  // Larger than any key: node ids stay below kMaxNodes.
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

  [[nodiscard]] std::uint64_t keyOf(Edge edge) const {
    return edgeKey(direction_ == Direction::kUndirected ? canonical(edge) : edge);
  }
  [[nodiscard]] std::size_t homeOf(std::uint64_t key) const {
    // Every bit of the key reaches the low bits that choose the slot.
    key = (key ^ (key >> 32)) * 0xd6e8feb86659fd93ULL;
    key = (key ^ (key >> 32)) * 0xd6e8feb86659fd93ULL;
    return static_cast<std::size_t>(key ^ (key >> 32)) & (slots_.size() - 1);
  }
  bool place(std::uint64_t key);

  Direction direction_;
  std::vector<std::uint64_t> slots_;
  std::size_t size_ = 0;
};

}  // namespace edgewise
