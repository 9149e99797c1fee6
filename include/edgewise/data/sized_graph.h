// A generated graph of given sizes, for measuring speed: as many nodes, edges and feature entries
// as a real one, degrees and words as uneven, and nothing to download. What it says about links is
// nonsense.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "edgewise/data/dataset.h"

namespace edgewise {

struct SizedGraphOptions {
  std::string name = "sized";
  std::size_t nodes = 1000;
  std::size_t edges = 5000;
  // So many of the nodes are users, the others items, and edges go between them; 0: no such sides.
  std::size_t users = 0;
  // Columns of the node features; 0: no features.
  std::size_t features = 0;
  // Entries other than zero, over all nodes; 0: a dense matrix.
  std::size_t feature_entries = 0;
  std::uint64_t seed = 0;
};

// Exactly these sizes: undirected edges without repeats or loops, isolated nodes allowed, sparse
// rows of equal length give or take one. A node's share of edge ends falls with the square root of
// its rank (a power law of exponent 3) on its side, until the node knows all others. Node numbers
// say nothing about degrees. The same options give the same bytes on any machine. Throws
// ConfigError for more edges than there are pairs, or more feature entries than places.
[[nodiscard]] Dataset makeSizedGraph(const SizedGraphOptions& options);

// The sizes of known datasets, by their short names. As datasets of their own they are called
// kSizedPrefix and that name.
inline constexpr std::string_view kSizedPrefix = "sized-";
[[nodiscard]] std::span<const SizedGraphOptions> knownSizes();
// Throws ConfigError with the nearest name.
[[nodiscard]] const SizedGraphOptions& findSizes(std::string_view name);

}  // namespace edgewise
