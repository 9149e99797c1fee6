// Scores made of common neighbours. The longer neighbour list is marked once for all pairs that
// have it and the shorter one looked up in it. Where a list has more entries than the graph has
// machine words of nodes, a row of bits is kept for it, and two such lists are met word by word;
// these rows never take more than 8 bytes an entry of the graph. Either way common neighbours are
// added up in ascending order, so the sums have the same bits.
#include <algorithm>
#include <bit>
#include <cmath>

#include "edgewise/util/error.h"
#include "edgewise/util/interrupt.h"
#include "edgewise/util/parallel.h"
#include "edgewise/util/scratch_pool.h"
#include "graph/pair_scorer.h"

namespace edgewise::detail {
namespace {

constexpr std::size_t kPairGrain = 512;
constexpr std::size_t kWordBits = 64;
constexpr std::uint32_t kNoRow = 0xFFFFFFFFU;

// A neighbour list: 0..n-1 out-neighbours of a node, n..2n-1 in-neighbours (directed graphs only).
using ListId = std::uint32_t;

class NeighbourLists {
 public:
  explicit NeighbourLists(const CsrGraph& graph) : forward_(graph) {
    if (directed()) {
      if (graph.nodeCount() > kMaxNodes / 2) {
        throw ResourceError(
            "a directed graph of more than two thousand million nodes is too large "
            "for this heuristic");
      }
      backward_ = graph.transposed();
    }
  }
  [[nodiscard]] bool directed() const { return forward_.direction() == Direction::kDirected; }
  [[nodiscard]] std::size_t nodeCount() const { return forward_.nodeCount(); }
  [[nodiscard]] std::size_t listCount() const { return nodeCount() * (directed() ? 2 : 1); }
  [[nodiscard]] const CsrGraph& forward() const { return forward_; }

  [[nodiscard]] ListId out(NodeId node) const { return index(node); }
  [[nodiscard]] ListId in(NodeId node) const {
    return index(node) + (directed() ? static_cast<ListId>(nodeCount()) : 0);
  }
  [[nodiscard]] std::span<const NodeId> operator[](ListId list) const {
    return list < nodeCount()
               ? forward_.neighbours(NodeId{list})
               : backward_.neighbours(NodeId{static_cast<std::uint32_t>(list - nodeCount())});
  }

 private:
  const CsrGraph& forward_;
  CsrGraph backward_;
};

// Rows of bits for the lists that are long enough to deserve one.
class BitRows {
 public:
  explicit BitRows(const NeighbourLists& lists)
      : words_((lists.nodeCount() + kWordBits - 1) / kWordBits), row_(lists.listCount(), kNoRow) {
    std::uint32_t rows = 0;
    for (ListId list = 0; list < lists.listCount(); ++list) {
      if (lists[list].size() >= words_) {
        row_[list] = rows++;
      }
    }
    bits_.assign(rows * words_, 0);
    parallelFor(lists.listCount(), kPairGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t list = begin; list < end; ++list) {
        if (row_[list] == kNoRow) {
          continue;
        }
        std::uint64_t* const row = bits_.data() + row_[list] * words_;
        for (const NodeId node : lists[static_cast<ListId>(list)]) {
          row[index(node) / kWordBits] |= std::uint64_t{1} << (index(node) % kWordBits);
        }
      }
    });
  }

  [[nodiscard]] bool has(ListId list) const { return row_[list] != kNoRow; }
  [[nodiscard]] std::span<const std::uint64_t> operator[](ListId list) const {
    return std::span(bits_).subspan(row_[list] * words_, words_);
  }

 private:
  std::size_t words_;
  std::vector<std::uint32_t> row_;
  std::vector<std::uint64_t> bits_;
};

struct Scratch {
  std::vector<std::uint8_t> marked;
  std::vector<NodeId> common;
};

// Keeps one list marked; clean when it goes.
class Marker {
 public:
  Marker(const NeighbourLists& lists, Scratch& scratch) : lists_(lists), scratch_(scratch) {}
  Marker(const Marker&) = delete;
  Marker& operator=(const Marker&) = delete;
  Marker(Marker&&) = delete;
  Marker& operator=(Marker&&) = delete;
  ~Marker() { write(0); }

  void mark(ListId list) {
    if (marked_ && list == list_) {
      return;
    }
    write(0);
    marked_ = true;
    list_ = list;
    write(1);
  }

  [[nodiscard]] std::size_t countIn(std::span<const NodeId> nodes) const {
    std::size_t count = 0;
    for (const NodeId node : nodes) {
      count += scratch_.marked[index(node)];
    }
    return count;
  }

  // Branch-free: every node is written, the marked ones stay.
  [[nodiscard]] std::span<const NodeId> commonWith(std::span<const NodeId> nodes) {
    std::size_t kept = 0;
    for (const NodeId node : nodes) {
      scratch_.common[kept] = node;
      kept += scratch_.marked[index(node)];
    }
    return std::span(scratch_.common).first(kept);
  }

 private:
  void write(std::uint8_t value) {
    if (!marked_) {
      return;
    }
    for (const NodeId node : lists_[list_]) {
      scratch_.marked[index(node)] = value;
    }
  }

  const NeighbourLists& lists_;
  Scratch& scratch_;
  bool marked_ = false;
  ListId list_ = 0;
};

std::size_t countCommon(std::span<const std::uint64_t> left, std::span<const std::uint64_t> right) {
  std::size_t count = 0;
  for (std::size_t word = 0; word < left.size(); ++word) {
    count += static_cast<std::size_t>(std::popcount(left[word] & right[word]));
  }
  return count;
}

class OverlapScorer final : public PairScorer {
 public:
  OverlapScorer(const CsrGraph& graph, Heuristic heuristic)
      : lists_(graph), bits_(lists_), heuristic_(heuristic), longest_(0) {
    for (ListId list = 0; list < lists_.listCount(); ++list) {
      longest_ = std::max(longest_, lists_[list].size());
    }
    if (weighted()) {
      fillShares();
    }
  }

  void score(std::span<const Edge> pairs, std::span<double> out,
             ProgressTask& task) const override {
    std::vector<std::uint32_t> longer(pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      longer[i] = ordered(pairs[i]).longer;
    }
    const std::vector<std::uint32_t> order = groupByKey(longer, lists_.listCount()).order;
    ScratchPool<Scratch> pool([this] { return makeScratch(); });
    parallelFor(pairs.size(), kPairGrain, [&](std::size_t begin, std::size_t end) {
      throwIfInterrupted();
      const auto scratch = pool.borrow();
      Marker marker(lists_, *scratch);
      for (std::size_t place = begin; place < end; ++place) {
        out[order[place]] = scorePair(ordered(pairs[order[place]]), marker);
      }
      task.advance(end - begin);
    });
  }

  void scoreSources(std::span<const NodeId> sources, std::span<double> out,
                    ProgressTask& task) const override {
    const std::size_t nodes = lists_.nodeCount();
    parallelFor(sources.size(), 1, [&](std::size_t begin, std::size_t) {
      throwIfInterrupted();
      scoreSource(sources[begin], out.subspan(begin * nodes, nodes));
      task.advance();
    });
  }

 private:
  // The two lists of a pair by length, then by id: the same whichever way an undirected pair is
  // given.
  struct PairLists {
    ListId longer;
    ListId shorter;
  };

  [[nodiscard]] bool weighted() const {
    return heuristic_ == Heuristic::kAdamicAdar || heuristic_ == Heuristic::kResourceAllocation;
  }

  void fillShares() {
    shares_.assign(lists_.nodeCount(), 0.0);
    for (std::uint32_t node = 0; node < shares_.size(); ++node) {
      std::size_t degree = lists_[lists_.out(NodeId{node})].size();
      if (lists_.directed()) {
        degree += lists_[lists_.in(NodeId{node})].size();
      }
      if (heuristic_ == Heuristic::kResourceAllocation) {
        shares_[node] = degree > 0 ? 1.0 / static_cast<double>(degree) : 0.0;
      } else {
        shares_[node] = degree > 1 ? 1.0 / std::log(static_cast<double>(degree)) : 0.0;
      }
    }
  }

  [[nodiscard]] Scratch makeScratch() const {
    return {.marked = std::vector<std::uint8_t>(lists_.nodeCount(), 0),
            .common = std::vector<NodeId>(longest_ + 1)};
  }

  [[nodiscard]] PairLists ordered(Edge pair) const {
    const ListId left = lists_.out(pair.src);
    const ListId right = lists_.in(pair.dst);
    const std::size_t left_size = lists_[left].size();
    const std::size_t right_size = lists_[right].size();
    const bool left_first = left_size != right_size ? left_size > right_size : left > right;
    return left_first ? PairLists{left, right} : PairLists{right, left};
  }

  [[nodiscard]] double scorePair(const PairLists& pair, Marker& marker) const {
    const bool by_words = bits_.has(pair.longer) && bits_.has(pair.shorter);
    if (!by_words) {
      marker.mark(pair.longer);
    }
    if (weighted()) {
      return by_words ? sumShares(bits_[pair.longer], bits_[pair.shorter])
                      : sumShares(marker.commonWith(lists_[pair.shorter]));
    }
    const std::size_t common = by_words ? countCommon(bits_[pair.longer], bits_[pair.shorter])
                                        : marker.countIn(lists_[pair.shorter]);
    return finished(common, lists_[pair.longer].size() + lists_[pair.shorter].size());
  }

  [[nodiscard]] double finished(std::size_t common, std::size_t both_sizes) const {
    if (heuristic_ != Heuristic::kJaccard || common == 0) {
      return static_cast<double>(common);
    }
    return static_cast<double>(common) / static_cast<double>(both_sizes - common);
  }

  [[nodiscard]] double sumShares(std::span<const NodeId> common) const {
    double sum = 0.0;
    for (const NodeId node : common) {
      sum += shares_[index(node)];
    }
    return sum;
  }

  [[nodiscard]] double sumShares(std::span<const std::uint64_t> left,
                                 std::span<const std::uint64_t> right) const {
    double sum = 0.0;
    for (std::size_t word = 0; word < left.size(); ++word) {
      const double* const shares = shares_.data() + word * kWordBits;
      for (std::uint64_t both = left[word] & right[word]; both != 0; both &= both - 1) {
        sum += shares[std::countr_zero(both)];
      }
    }
    return sum;
  }

  // Walks of two steps from the source; each node's sum runs over ascending middles, as above.
  void scoreSource(NodeId source, std::span<double> out) const {
    std::ranges::fill(out, 0.0);
    const auto middles = lists_.forward().neighbours(source);
    for (const NodeId middle : middles) {
      const double share = weighted() ? shares_[index(middle)] : 1.0;
      for (const NodeId target : lists_.forward().neighbours(middle)) {
        out[index(target)] += share;
      }
    }
    if (heuristic_ != Heuristic::kJaccard) {
      return;
    }
    for (std::uint32_t node = 0; node < out.size(); ++node) {
      out[node] = finished(static_cast<std::size_t>(out[node]),
                           middles.size() + lists_[lists_.in(NodeId{node})].size());
    }
  }

  NeighbourLists lists_;
  BitRows bits_;
  Heuristic heuristic_;
  std::size_t longest_;
  // What a common neighbour adds; empty where common neighbours are only counted.
  std::vector<double> shares_;
};

}  // namespace

std::unique_ptr<const PairScorer> makeOverlapScorer(const CsrGraph& graph, Heuristic heuristic) {
  return std::make_unique<OverlapScorer>(graph, heuristic);
}

}  // namespace edgewise::detail
