#include "edgewise/sampling/enclosing_subgraph.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "edgewise/util/error.h"
#include "edgewise/util/interrupt.h"
#include "edgewise/util/parallel.h"
#include "sampling/subgraph_builder.h"
#include "sampling/subgraph_store.h"

namespace edgewise {
namespace {

using detail::SubgraphBuilder;
using detail::SubgraphPiece;

// Few enough that one crowded neighbourhood does not keep the other threads waiting.
constexpr std::size_t kPairGrain = 8;
constexpr double kNanosecondsPerPlacedEntry = 2;

void checkOptions(const CsrGraph& graph, const HopSampling& sampling) {
  if (graph.direction() == Direction::kDirected) {
    throw ShapeError("enclosing subgraphs are made of undirected graphs");
  }
  const bool usable = sampling.ratio > 0.0 && sampling.ratio <= 1.0;
  if (!usable) {
    throw ConfigError(
        fmt::format("a share of {} of each hop is not above 0 and at most 1", sampling.ratio),
        "1 keeps every node");
  }
  if (sampling.max_nodes == 0) {
    throw ConfigError("hops of 0 nodes leave nothing to look at", "keep at least 1 node a hop");
  }
}

void checkPairs(std::span<const Edge> pairs, std::size_t view_count, std::size_t node_count) {
  if (view_count != pairs.size()) {
    throw ShapeError(fmt::format("{} views for {} pairs", view_count, pairs.size()));
  }
  for (const auto& [src, dst] : pairs) {
    if (src == dst || index(src) >= node_count || index(dst) >= node_count) {
      throw ShapeError(fmt::format("({}, {}) is not a pair of different nodes of a graph of {}",
                                   index(src), index(dst), node_count));
    }
  }
}

// Where a piece begins in the batch.
struct PieceStart {
  std::size_t node = 0;
  std::size_t entry = 0;
};

std::vector<PieceStart> startsOf(std::span<const SubgraphPiece> pieces) {
  std::vector<PieceStart> starts(pieces.size() + 1);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    starts[i + 1] = {starts[i].node + pieces[i].nodes.size(),
                     starts[i].entry + pieces[i].neighbours.size()};
  }
  if (starts.back().node > kMaxNodes) {
    throw ResourceError(
        fmt::format("a batch of enclosing subgraphs has {} nodes", starts.back().node),
        "use smaller batches, fewer hops or a limit for each hop");
  }
  return starts;
}

std::vector<std::uint64_t> nodeOffsets(std::span<const SubgraphPiece> pieces,
                                       std::size_t pair_count) {
  std::vector<std::uint64_t> offsets = {0};
  offsets.reserve(pair_count + 1);
  for (const SubgraphPiece& piece : pieces) {
    for (const std::uint32_t count : piece.node_counts) {
      offsets.push_back(offsets.back() + count);
    }
  }
  return offsets;
}

struct BatchRows {
  std::vector<std::uint64_t> offsets;
  std::vector<NodeId> neighbours;
};

void placeRows(const SubgraphPiece& piece, PieceStart start, BatchRows& rows) {
  std::size_t row = 0;
  std::size_t entry = 0;
  std::size_t base = start.node;
  for (const std::uint32_t node_count : piece.node_counts) {
    for (const std::size_t last = row + node_count; row < last; ++row) {
      for (const std::size_t end = entry + piece.row_sizes[row]; entry < end; ++entry) {
        rows.neighbours[start.entry + entry] =
            NodeId{static_cast<std::uint32_t>(base + piece.neighbours[entry])};
      }
      rows.offsets[start.node + row + 1] = start.entry + entry;
    }
    base += node_count;
  }
}

// Puts the pieces together, each to its place, and lets go of each as soon as it is there.
SubgraphBatch assemble(std::vector<SubgraphPiece> pieces, std::size_t pair_count,
                       std::size_t label_width) {
  const std::vector<PieceStart> starts = startsOf(pieces);
  SubgraphBatch batch;
  batch.node_offsets = nodeOffsets(pieces, pair_count);
  batch.nodes.resize(starts.back().node);
  batch.label_width = label_width;
  batch.labels.resize(starts.back().node * label_width);
  BatchRows rows{.offsets = std::vector<std::uint64_t>(starts.back().node + 1),
                 .neighbours = std::vector<NodeId>(starts.back().entry)};
  const auto place = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const SubgraphPiece piece = std::exchange(pieces[i], {});
      const auto first = static_cast<std::ptrdiff_t>(starts[i].node);
      std::ranges::copy(piece.nodes, batch.nodes.begin() + first);
      std::ranges::copy(piece.labels,
                        batch.labels.begin() + first * static_cast<std::ptrdiff_t>(label_width));
      placeRows(piece, starts[i], rows);
    }
  };
  parallelFor(
      pieces.size(), 1, place,
      kNanosecondsPerPlacedEntry * static_cast<double>(starts.back().node + starts.back().entry));
  batch.graph = CsrGraph::fromRows(std::move(rows.offsets), std::move(rows.neighbours));
  return batch;
}

}  // namespace

SubgraphExtractor::SubgraphExtractor(const CsrGraph& graph, const ExtractionOptions& options)
    : graph_(&graph), options_(options) {
  checkOptions(graph, options.sampling);
  builders_ = std::make_unique<ScratchPool<SubgraphBuilder>>(
      [&graph, options, bits = detail::RowBits::where(graph)] {
        return SubgraphBuilder(graph, options, bits);
      });
  if (!options.store.folder.empty()) {
    store_ = std::make_unique<detail::SubgraphStore>(graph, options);
  }
}

SubgraphExtractor::SubgraphExtractor(SubgraphExtractor&&) noexcept = default;
SubgraphExtractor& SubgraphExtractor::operator=(SubgraphExtractor&&) noexcept = default;
SubgraphExtractor::~SubgraphExtractor() = default;

SubgraphBatch SubgraphExtractor::extract(std::span<const Edge> pairs,
                                         std::span<const HopView> views, std::size_t kept) const {
  checkPairs(pairs, views.size(), graph_->nodeCount());
  std::vector<SubgraphPiece> pieces((pairs.size() + kPairGrain - 1) / kPairGrain);
  parallelFor(pairs.size(), kPairGrain, [&](std::size_t begin, std::size_t end) {
    throwIfInterrupted();
    const auto builder = builders_->borrow();
    SubgraphPiece& piece = pieces[begin / kPairGrain];
    for (std::size_t i = begin; i < end; ++i) {
      if (store_ && store_->read(pairs[i], views[i], piece)) {
        continue;
      }
      builder->append(pairs[i], views[i], piece);
      if (store_ && i < kept) {
        store_->add(pairs[i], views[i], piece);
      }
    }
  });
  return assemble(std::move(pieces), pairs.size(), labelWidth(options_.labels));
}

SubgraphBatch SubgraphExtractor::extract(std::span<const Edge> pairs, HopView view) const {
  return extract(pairs, std::vector<HopView>(pairs.size(), view));
}

}  // namespace edgewise
