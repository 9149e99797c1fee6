// The vocabulary of graphs: node ids, edges, orientation.
#pragma once

#include <compare>
#include <cstdint>
#include <utility>

namespace edgewise {

// A node's position 0..n-1 in its graph. Distinct from every other integer; costs nothing.
enum class NodeId : std::uint32_t {};

[[nodiscard]] constexpr std::uint32_t index(NodeId node) {
  return static_cast<std::uint32_t>(node);
}

// The most nodes a graph can have; ids stay clear of the top so that 32-bit sentinels remain
// possible.
inline constexpr std::uint64_t kMaxNodes = 0xFFFFFFF0ULL;

struct Edge {
  NodeId src{};
  NodeId dst{};
  friend constexpr auto operator<=>(const Edge&, const Edge&) = default;
};

[[nodiscard]] constexpr Edge makeEdge(std::uint32_t src, std::uint32_t dst) {
  return {NodeId{src}, NodeId{dst}};
}

[[nodiscard]] constexpr Edge reversed(Edge edge) { return {edge.dst, edge.src}; }

// The orientation by which an undirected edge is stored: smaller id first.
[[nodiscard]] constexpr Edge canonical(Edge edge) {
  return edge.src <= edge.dst ? edge : reversed(edge);
}

// Both ids in one integer; orders like (src, dst).
[[nodiscard]] constexpr std::uint64_t edgeKey(Edge edge) {
  return (static_cast<std::uint64_t>(index(edge.src)) << 32) | index(edge.dst);
}

[[nodiscard]] constexpr Edge edgeFromKey(std::uint64_t key) {
  return makeEdge(static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key));
}

enum class Direction : std::uint8_t { kUndirected, kDirected };

}  // namespace edgewise
