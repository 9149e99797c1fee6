// Labels the nodes of one enclosing subgraph, given as rows of places 0..n-1 in which the pair's
// ends are 0 and 1. Keeps its memory from one subgraph to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "edgewise/sampling/node_labels.h"

namespace edgewise::detail {

// Rows of a graph among n places: row_ends has n entries, row k ends at row_ends[k].
struct LocalRows {
  std::span<const std::uint64_t> row_ends;
  std::span<const std::uint32_t> neighbours;

  [[nodiscard]] std::size_t size() const { return row_ends.size(); }
  [[nodiscard]] std::span<const std::uint32_t> row(std::uint32_t place) const {
    const std::uint64_t begin = place == 0 ? 0 : row_ends[place - 1];
    return neighbours.subspan(begin, row_ends[place] - begin);
  }
};

class SubgraphLabeller {
 public:
  explicit SubgraphLabeller(const LabelOptions& options) : options_(options) {}

  // Writes labelWidth numbers for each place. There are two places at least.
  void label(const LocalRows& rows, std::span<std::uint32_t> labels);

 private:
  void labelByDoubleRadius(const LocalRows& rows, std::span<std::uint32_t> labels);
  void labelByDistances(const LocalRows& rows, std::span<std::uint32_t> labels);
  // Fills `distances` from one place, as if `removed` (where it is one of them) were not there.
  void search(const LocalRows& rows, std::uint32_t from, std::uint32_t removed,
              std::vector<std::uint32_t>& distances);

  LabelOptions options_;
  std::vector<std::uint32_t> to_source_;
  std::vector<std::uint32_t> to_target_;
  std::vector<std::uint32_t> queue_;
};

}  // namespace edgewise::detail
