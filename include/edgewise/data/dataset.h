// A loaded dataset: clean edges, features, ids, and what the source fixed about splitting.
// Everything downstream starts from this type, whatever file format it came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "edgewise/data/edge_table.h"
#include "edgewise/data/feature_matrix.h"
#include "edgewise/data/id_map.h"
#include "edgewise/data/raw_edges.h"
#include "edgewise/graph/csr_graph.h"
#include "edgewise/graph/types.h"

namespace edgewise {

// Users are nodes 0..users-1, items are nodes users..users+items-1; every edge goes from a user to
// an item.
struct BipartiteShape {
  std::size_t users = 0;
  std::size_t items = 0;
  friend bool operator==(const BipartiteShape&, const BipartiteShape&) = default;
};

// What the publisher of a dataset fixed. Negatives are empty where none were published.
struct OfficialSplit {
  EdgeTable train;
  EdgeTable valid;
  EdgeTable test;
  std::vector<Edge> valid_negative;
  std::vector<Edge> test_negative;
};

// A view: hops around the source end, hops around the target end.
struct HopPair {
  int source = 1;
  int target = 1;
  friend auto operator<=>(const HopPair&, const HopPair&) = default;
};

// Kinds of an edge's source and target.
struct KindPair {
  std::uint8_t source = 0;
  std::uint8_t target = 0;
};

// What is known about a class of edges (EdgeTable::edge_class counts these).
struct EdgeClass {
  std::string name;
  // Context edges carry messages and are never predicted, nor are ends of theirs offered as
  // negatives for that alone.
  bool target = true;
  // Views by which edges of this class can be told, best first; empty when unknown.
  std::vector<HopPair> views;
  // Kinds of the nodes it joins (Dataset::node_kinds), where those decide the class.
  std::optional<KindPair> kinds = std::nullopt;
};

// What loading found and mended; shown to the user, never silent.
struct LoadNotes {
  std::size_t self_loops = 0;
  // Rows that repeat an earlier row the same way round.
  std::size_t duplicates = 0;
  // Undirected only: edges that are also listed the other way round.
  std::size_t mirrored = 0;
  std::vector<std::string> remarks;
};

struct Dataset {
  std::string name;
  std::size_t node_count = 0;
  Direction direction = Direction::kUndirected;
  std::optional<BipartiteShape> bipartite;
  // All known edges, simple: no self-loops, no repeats; undirected ones canonical (src < dst),
  // sorted by (src, dst). With an official split: the union of its positives.
  EdgeTable edges;
  // Empty when all edges are alike.
  std::vector<EdgeClass> edge_classes;
  // What sort of node each is, where data were generated so; never shown to a model.
  std::vector<std::uint8_t> node_kinds;
  FeatureMatrix features;
  IdMap ids;
  // Bipartite only: ids of the items (whose node ids start at bipartite->users).
  IdMap item_ids;
  // Class labels where the source has them (-1: none); not used for prediction, shown in reports.
  std::vector<std::int32_t> labels;
  std::optional<OfficialSplit> official;
  // By which results on this dataset are usually reported; empty: by what the protocol gives.
  std::vector<std::string> metrics;
  LoadNotes notes;
  // SHA-256 over everything above that can change a result.
  std::string hash;

  [[nodiscard]] std::string nodeLabel(NodeId node) const;
  // Whether (u, v) and (v, u) are different pairs: of directed data, and of users and items.
  [[nodiscard]] bool hasOrderedPairs() const {
    return direction == Direction::kDirected || bipartite.has_value();
  }
  // Whether the edge in this row of `edges` is one to be predicted.
  [[nodiscard]] bool isTarget(std::size_t row) const {
    return edge_classes.empty() || edge_classes[edges.edge_class[row]].target;
  }
};

// How raw rows become a dataset.
struct DatasetParts {
  std::string name;
  RawEdges raw;
  FeatureMatrix features;
  std::vector<std::int32_t> labels;
  Direction direction = Direction::kUndirected;
  std::optional<OfficialSplit> official;
  std::vector<EdgeClass> edge_classes;
  std::vector<std::uint8_t> node_kinds;
};

// Removes self-loops and repeats (counted in `notes`; weights of repeats add up; of repeats with
// times the earliest stays), orders edges, moves items behind users, checks that features and
// labels fit the nodes, computes the hash. With number ids there are as many nodes as the larger of
// ids and feature rows; with label ids the rows must match. Throws DataError for no edges at all,
// for features with a NaN or an infinity, or for too few rows.
[[nodiscard]] Dataset makeDataset(DatasetParts parts);

// SHA-256 over sizes, edges with their columns, features and the official split; not over names.
[[nodiscard]] std::string datasetHash(const Dataset& dataset);

}  // namespace edgewise
