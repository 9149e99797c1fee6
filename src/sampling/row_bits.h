// A graph's rows as bits, one a node: in a crowded graph it is faster to ask of every two nodes of
// a subgraph whether they are neighbours than to read their rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "edgewise/graph/csr_graph.h"
#include "edgewise/graph/types.h"

namespace edgewise::detail {

class RowBits {
 public:
  // Nothing where rows are shorter than their bits, or the bits too many to stay near a core.
  static std::shared_ptr<const RowBits> where(const CsrGraph& graph);

  [[nodiscard]] std::span<const std::uint64_t> row(NodeId node) const {
    return std::span(words_).subspan(index(node) * width_, width_);
  }
  // Of a node in a row: 1 where it is there, else 0.
  [[nodiscard]] static std::size_t bit(std::span<const std::uint64_t> row, NodeId node) {
    return (row[index(node) / kWord] >> (index(node) % kWord)) & 1U;
  }

 private:
  static constexpr std::size_t kWord = 64;

  explicit RowBits(const CsrGraph& graph);
  [[nodiscard]] static std::size_t wordsOf(std::size_t nodes) {
    return (nodes + kWord - 1) / kWord;
  }

  std::size_t width_;
  std::vector<std::uint64_t> words_;
};

}  // namespace edgewise::detail
