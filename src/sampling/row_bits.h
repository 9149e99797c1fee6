// A graph's rows as bits, one a node: in a crowded graph the neighbours that two sets share are
// found 64 at a time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "edgewise/graph/csr_graph.h"
#include "edgewise/graph/types.h"

namespace edgewise::detail {

// A set of a graph's nodes.
class NodeBits {
 public:
  explicit NodeBits(std::size_t node_count) : words_((node_count + kWord - 1) / kWord) {}

  void insert(NodeId node) { words_[index(node) / kWord] |= bitOf(node); }
  void erase(NodeId node) { words_[index(node) / kWord] &= ~bitOf(node); }
  [[nodiscard]] std::span<const std::uint64_t> words() const { return words_; }

  static constexpr std::size_t kWord = 64;
  [[nodiscard]] static std::uint64_t bitOf(NodeId node) {
    return std::uint64_t{1} << (index(node) % kWord);
  }

 private:
  std::vector<std::uint64_t> words_;
};

class RowBits {
 public:
  // Nothing where rows are shorter than their bits, or the bits too many to stay near a core.
  static std::shared_ptr<const RowBits> where(const CsrGraph& graph);

  // Calls visit(node) for every neighbour of `node` in `set`, in ascending order.
  template <class Visit>
  void forEachShared(NodeId node, const NodeBits& set, const Visit& visit) const {
    const std::span<const std::uint64_t> members = set.words();
    const std::span<const std::uint64_t> row =
        std::span(words_).subspan(index(node) * members.size(), members.size());
    for (std::size_t word = 0; word < members.size(); ++word) {
      for (std::uint64_t shared = row[word] & members[word]; shared != 0; shared &= shared - 1) {
        visit(NodeId{static_cast<std::uint32_t>(word * NodeBits::kWord) +
                     static_cast<std::uint32_t>(std::countr_zero(shared))});
      }
    }
  }

 private:
  explicit RowBits(const CsrGraph& graph);

  std::vector<std::uint64_t> words_;
};

}  // namespace edgewise::detail
