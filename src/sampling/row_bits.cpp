#include "sampling/row_bits.h"

namespace edgewise::detail {
namespace {

// Smaller graphs are read fast enough; the bits of larger ones leave the caches.
constexpr std::size_t kFewestNodes = 256;
constexpr std::size_t kMostNodes = 16'384;
// A row's entries for each word of its bits, on average, above which bits are faster.
constexpr std::size_t kEntriesPerWord = 3;

}  // namespace

RowBits::RowBits(const CsrGraph& graph)
    : width_(wordsOf(graph.nodeCount())), words_(graph.nodeCount() * width_) {
  for (std::uint32_t node = 0; node < graph.nodeCount(); ++node) {
    for (const NodeId neighbour : graph.neighbours(NodeId{node})) {
      words_[node * width_ + index(neighbour) / kWord] |= std::uint64_t{1}
                                                          << (index(neighbour) % kWord);
    }
  }
}

std::shared_ptr<const RowBits> RowBits::where(const CsrGraph& graph) {
  const std::size_t nodes = graph.nodeCount();
  if (nodes < kFewestNodes || nodes > kMostNodes ||
      graph.entryCount() < kEntriesPerWord * nodes * wordsOf(nodes)) {
    return nullptr;
  }
  return std::shared_ptr<const RowBits>(new RowBits(graph));
}

}  // namespace edgewise::detail
