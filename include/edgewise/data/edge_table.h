// Edges with what the source said about them, column by column. Optional columns are empty or as
// long as `edges`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "edgewise/graph/types.h"

namespace edgewise {

struct EdgeTable {
  std::vector<Edge> edges = {};
  std::vector<float> weight = {};
  // As given (years, Unix seconds, ...); only the order matters.
  std::vector<double> time = {};
  // Where an edge stood among those of its file, for users' lists that have an order and no times.
  std::vector<std::uint32_t> place = {};
  // Which planted class an edge belongs to (generated graphs only).
  std::vector<std::uint8_t> edge_class = {};

  [[nodiscard]] std::size_t size() const { return edges.size(); }
  [[nodiscard]] bool empty() const { return edges.empty(); }
  // The rows named, in that order, with all columns.
  [[nodiscard]] EdgeTable select(std::span<const std::size_t> rows) const;
  // Adds these rows behind. An optional column survives only where both sides have it.
  void append(const EdgeTable& more);
};

}  // namespace edgewise
