#include "sampling/subgraph_builder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace edgewise::detail {
namespace {

constexpr std::uint32_t kAbsent = std::numeric_limits<std::uint32_t>::max();

// A row so many times as long as the subgraph is searched for each member instead of read.
constexpr std::size_t kLongRow = 128;

bool samples(const HopSampling& sampling) {
  return sampling.ratio < 1.0 || sampling.max_nodes < std::numeric_limits<std::size_t>::max();
}

std::size_t keptOf(std::size_t count, const HopSampling& sampling) {
  if (count == 0) {
    return 0;
  }
  const auto share =
      static_cast<std::size_t>(std::llround(sampling.ratio * static_cast<double>(count)));
  return std::min(std::clamp<std::size_t>(share, 1, count), sampling.max_nodes);
}

}  // namespace

SubgraphBuilder::SubgraphBuilder(const CsrGraph& graph, const ExtractionOptions& options,
                                 std::shared_ptr<const RowBits> bits)
    : graph_(&graph),
      options_(options),
      lots_(options.sampling.seed, "enclosing subgraphs"),
      bfs_(graph.nodeCount()),
      labeller_(options.labels),
      places_(graph.nodeCount(), kAbsent),
      bits_(std::move(bits)) {}

void SubgraphBuilder::append(Edge pair, HopView view, SubgraphPiece& piece) {
  gatherNodes(pair, view);
  gatherRows(pair);
  piece.node_counts.push_back(static_cast<std::uint32_t>(members_.size()));
  piece.nodes.insert(piece.nodes.end(), members_.begin(), members_.end());
  const std::size_t label_begin = piece.labels.size();
  piece.labels.resize(label_begin + members_.size() * labelWidth(options_.labels));
  labeller_.label({row_ends_, neighbours_}, std::span(piece.labels).subspan(label_begin));
  appendRows(piece);
}

void SubgraphBuilder::gatherNodes(Edge pair, HopView view) {
  for (const NodeId node : members_) {
    places_[index(node)] = kAbsent;
  }
  members_.clear();
  admit(pair.src);
  admit(pair.dst);
  gatherBall(pair.src, view.source, pair);
  gatherBall(pair.dst, view.target, pair);
}

void SubgraphBuilder::gatherBall(NodeId center, std::uint32_t hops, Edge pair) {
  BfsOptions search{.max_depth = hops, .without_edge = pair};
  if (samples(options_.sampling)) {
    search.thin_hop = [this, key = edgeKey(canonical(pair))](std::span<NodeId> hop) {
      return thinHop(hop, key);
    };
  }
  for (const NodeId node : bfs_.search(*graph_, center, search)) {
    admit(node);
  }
}

void SubgraphBuilder::admit(NodeId node) {
  std::uint32_t& place = places_[index(node)];
  if (place == kAbsent) {
    place = static_cast<std::uint32_t>(members_.size());
    members_.push_back(node);
  }
}

std::size_t SubgraphBuilder::thinHop(std::span<NodeId> hop, std::uint64_t pair_key) {
  const std::size_t kept = keptOf(hop.size(), options_.sampling);
  if (kept == hop.size()) {
    return kept;
  }
  hop_lots_.clear();
  for (const NodeId node : hop) {
    hop_lots_.push_back({lots_.bits(index(node), pair_key), node});
  }
  best_lots_ = hop_lots_;
  const auto last = best_lots_.begin() + static_cast<std::ptrdiff_t>(kept - 1);
  std::ranges::nth_element(best_lots_, last);
  std::size_t stays = 0;
  std::size_t goes = kept;
  for (const Lot& lot : hop_lots_) {
    hop[lot <= *last ? stays++ : goes++] = lot.node;
  }
  return kept;
}

void SubgraphBuilder::gatherRows(Edge pair) {
  row_ends_.clear();
  by_bits_ = bits_ && bitsPay();
  if (by_bits_) {
    gatherRowsByBits();
    return;
  }
  gatherRowWithout(pair.src, pair.dst);
  gatherRowWithout(pair.dst, pair.src);
  for (std::size_t place = 2; place < members_.size(); ++place) {
    gatherRow(members_[place]);
  }
}

void SubgraphBuilder::gatherRowWithout(NodeId node, NodeId hidden) {
  const std::uint32_t place = std::exchange(places_[index(hidden)], kAbsent);
  gatherRow(node);
  places_[index(hidden)] = place;
}

void SubgraphBuilder::makeRoom(std::size_t entries) {
  if (neighbours_.size() < entries) {
    neighbours_.resize(std::max(2 * neighbours_.size(), entries));
  }
}

bool SubgraphBuilder::bitsPay() const {
  std::size_t entries = 0;
  for (const NodeId node : members_) {
    entries += graph_->degree(node);
  }
  return members_.size() * members_.size() <= entries;
}

void SubgraphBuilder::gatherRowsByBits() {
  const auto count = static_cast<std::uint32_t>(members_.size());
  std::size_t end = 0;
  // Written in any case and kept only if it counts, as below.
  const auto gather = [&](NodeId node, std::uint32_t first, std::uint32_t last) {
    const std::span<const std::uint64_t> row = bits_->row(node);
    const std::span<std::uint32_t> out(neighbours_);
    for (std::uint32_t other = first; other < last; ++other) {
      out[end] = other;
      end += RowBits::bit(row, members_[other]);
    }
  };
  for (std::uint32_t place = 0; place < count; ++place) {
    makeRoom(end + count);
    const NodeId node = members_[place];
    if (place < 2) {
      // The pair itself, which must not see its edge.
      gather(node, place, place + 1);
      gather(node, 2, count);
    } else {
      gather(node, 0, count);
    }
    row_ends_.push_back(end);
  }
}

void SubgraphBuilder::gatherRow(NodeId node) {
  const std::span<const NodeId> row = graph_->neighbours(node);
  std::size_t end = row_ends_.empty() ? 0 : row_ends_.back();
  const bool search = row.size() / kLongRow > members_.size();
  const std::span<const NodeId> candidates = search ? std::span<const NodeId>(members_) : row;
  makeRoom(end + candidates.size());
  // Written in any case and kept only if it counts: no branch that could be guessed wrongly.
  for (const NodeId candidate : candidates) {
    const std::uint32_t place = places_[index(candidate)];
    neighbours_[end] = place;
    end += place != kAbsent && (!search || graph_->hasEdge(node, candidate)) ? 1 : 0;
  }
  row_ends_.push_back(end);
}

// The graph is undirected: walking the places upwards and entering each with all its neighbours
// fills every row in ascending order, without sorting.
void SubgraphBuilder::appendRows(SubgraphPiece& piece) {
  const std::size_t begin = piece.neighbours.size();
  piece.neighbours.resize(begin + row_ends_.back());
  cursors_.clear();
  std::uint64_t row_begin = 0;
  for (const std::uint64_t row_end : row_ends_) {
    piece.row_sizes.push_back(static_cast<std::uint32_t>(row_end - row_begin));
    cursors_.push_back(begin + row_begin);
    row_begin = row_end;
  }
  if (by_bits_) {
    std::copy_n(neighbours_.begin(), row_begin,
                piece.neighbours.begin() + static_cast<std::ptrdiff_t>(begin));
    return;
  }
  std::size_t entry = 0;
  for (std::uint32_t place = 0; place < members_.size(); ++place) {
    for (; entry < row_ends_[place]; ++entry) {
      piece.neighbours[cursors_[neighbours_[entry]]++] = place;
    }
  }
}

}  // namespace edgewise::detail
