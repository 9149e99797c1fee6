#include "edgewise/data/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "edgewise/util/count_text.h"
#include "edgewise/util/error.h"
#include "edgewise/util/hash.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

// A row's edge in the order it will be stored by, with where it came from.
struct KeyedRow {
  std::uint64_t key;
  std::uint64_t row : 63;
  std::uint64_t flipped : 1;
};

void shiftItems(EdgeTable& table, std::size_t users) {
  for (Edge& edge : table.edges) {
    edge.dst = NodeId{static_cast<std::uint32_t>(index(edge.dst) + users)};
  }
}

void shiftItems(std::vector<Edge>& edges, std::size_t users) {
  for (Edge& edge : edges) {
    edge.dst = NodeId{static_cast<std::uint32_t>(index(edge.dst) + users)};
  }
}

std::vector<KeyedRow> orderedRows(const EdgeTable& raw, Direction direction, LoadNotes& notes) {
  std::vector<KeyedRow> rows;
  rows.reserve(raw.size());
  for (std::size_t row = 0; row < raw.size(); ++row) {
    const Edge edge = raw.edges[row];
    if (edge.src == edge.dst) {
      ++notes.self_loops;
      continue;
    }
    const Edge stored = direction == Direction::kUndirected ? canonical(edge) : edge;
    rows.push_back({edgeKey(stored), row, stored != edge ? 1U : 0U});
  }
  const auto before = [](const KeyedRow& left, const KeyedRow& right) {
    return left.key != right.key ? left.key < right.key : left.row < right.row;
  };
  if (!std::ranges::is_sorted(rows, before)) {
    std::ranges::sort(rows, before);
  }
  return rows;
}

// Appends one stored edge made from all rows that name it.
void foldRows(std::span<const KeyedRow> same, const EdgeTable& raw, EdgeTable& clean,
              LoadNotes& notes) {
  const auto flipped = static_cast<std::size_t>(
      std::ranges::count_if(same, [](const KeyedRow& row) { return row.flipped != 0; }));
  const std::size_t mirrored = flipped > 0 && flipped < same.size() ? 1 : 0;
  notes.mirrored += mirrored;
  notes.duplicates += same.size() - 1 - mirrored;
  clean.edges.push_back(edgeFromKey(same.front().key));
  double earliest = 0;
  if (!raw.time.empty()) {
    earliest = raw.time[same.front().row];
    for (const KeyedRow& row : same) {
      earliest = std::min(earliest, raw.time[row.row]);
    }
    clean.time.push_back(earliest);
  }
  if (!raw.weight.empty()) {
    // A mirrored copy states the same weight again; only true repeats add up, and of those with
    // times only the earliest: a later one would tell the past about the future.
    float sum = 0;
    for (const KeyedRow& row : same) {
      const bool counts = raw.time.empty() ? mirrored == 0 || row.flipped == same.front().flipped
                                           : raw.time[row.row] == earliest;
      if (counts) {
        sum += raw.weight[row.row];
      }
    }
    clean.weight.push_back(sum);
  }
  if (!raw.edge_class.empty()) {
    clean.edge_class.push_back(raw.edge_class[same.front().row]);
  }
}

EdgeTable cleanEdges(const EdgeTable& raw, Direction direction, LoadNotes& notes) {
  const std::vector<KeyedRow> rows = orderedRows(raw, direction, notes);
  EdgeTable clean;
  clean.edges.reserve(rows.size());
  for (std::size_t begin = 0; begin < rows.size();) {
    std::size_t end = begin + 1;
    while (end < rows.size() && rows[end].key == rows[begin].key) {
      ++end;
    }
    foldRows(std::span(rows).subspan(begin, end - begin), raw, clean, notes);
    begin = end;
  }
  return clean;
}

void checkFeatures(const FeatureMatrix& features) {
  const auto values = features.values();
  const auto bad = std::ranges::find_if(values, [](float value) { return !std::isfinite(value); });
  if (bad == values.end()) {
    return;
  }
  const auto place = static_cast<std::size_t>(bad - values.begin());
  std::size_t row = features.isSparse() ? 0 : place / features.columns();
  if (features.isSparse()) {
    const auto offsets = features.rowOffsets();
    row = static_cast<std::size_t>(std::ranges::upper_bound(offsets, place) - offsets.begin()) - 1;
  }
  throw DataError(fmt::format("a feature of node {} is {}", row, *bad),
                  "replace missing values before training (for example by 0)");
}

// Fits ids and feature rows to one another; returns the number of nodes.
std::size_t settleNodes(DatasetParts& parts, LoadNotes& notes) {
  std::size_t nodes = parts.raw.ids.size();
  if (parts.raw.right_ids) {
    nodes += parts.raw.right_ids->size();
  }
  if (nodes > kMaxNodes) {
    throw DataError(fmt::format("{} nodes are more than the {} a graph can have",
                                groupedCount(nodes), groupedCount(kMaxNodes)));
  }
  if (parts.features.empty()) {
    return nodes;
  }
  const std::size_t rows = parts.features.rows();
  if (rows < nodes) {
    throw DataError(fmt::format("the features have {} rows but there are {} nodes", rows, nodes),
                    "every node needs a feature row; check that ids start at 0");
  }
  if (rows > nodes && (!parts.raw.ids.numeric() || parts.raw.right_ids)) {
    throw DataError(
        fmt::format("the features have {} rows but only {} nodes are known", rows, nodes),
        "give the features an id column, or remove rows of nodes without edges");
  }
  if (rows > nodes) {
    notes.remarks.push_back(countText(rows - nodes,
                                      "node has features but no edge: the list names no id so high",
                                      "nodes have features but no edges: the list names no ids so "
                                      "high"));
    parts.raw.ids = IdMap::numbers(rows);
  }
  return rows;
}

void addTable(Fingerprint& hash, const EdgeTable& table) {
  hash.add(std::span<const Edge>(table.edges));
  hash.add(std::span<const float>(table.weight));
  hash.add(std::span<const double>(table.time));
  hash.add(std::span<const std::uint8_t>(table.edge_class));
}

}  // namespace

Dataset makeDataset(DatasetParts parts) {
  Dataset dataset;
  dataset.name = std::move(parts.name);
  dataset.direction = parts.direction;
  dataset.notes.remarks = std::move(parts.raw.notes);
  checkFeatures(parts.features);
  dataset.node_count = settleNodes(parts, dataset.notes);
  dataset.official = std::move(parts.official);
  dataset.edge_classes = std::move(parts.edge_classes);
  dataset.node_kinds = std::move(parts.node_kinds);
  if (parts.raw.right_ids) {
    dataset.bipartite = {.users = parts.raw.ids.size(), .items = parts.raw.right_ids->size()};
    shiftItems(parts.raw.table, dataset.bipartite->users);
    if (dataset.official) {
      for (EdgeTable* table :
           {&dataset.official->train, &dataset.official->valid, &dataset.official->test}) {
        shiftItems(*table, dataset.bipartite->users);
      }
      shiftItems(dataset.official->valid_negative, dataset.bipartite->users);
      shiftItems(dataset.official->test_negative, dataset.bipartite->users);
    }
    dataset.item_ids = std::move(*parts.raw.right_ids);
  }
  dataset.edges = cleanEdges(parts.raw.table, dataset.direction, dataset.notes);
  if (dataset.edges.empty()) {
    throw DataError(fmt::format("{}: no edges left after removing {}", dataset.name,
                                countText(dataset.notes.self_loops, "self-loop")),
                    "link prediction needs at least a few edges between different nodes");
  }
  dataset.ids = std::move(parts.raw.ids);
  dataset.features = std::move(parts.features);
  if (!parts.labels.empty() && parts.labels.size() != dataset.node_count) {
    throw DataError(fmt::format("{}: {} labels for {} nodes", dataset.name, parts.labels.size(),
                                dataset.node_count));
  }
  dataset.labels = std::move(parts.labels);
  dataset.hash = datasetHash(dataset);
  return dataset;
}

std::string datasetHash(const Dataset& dataset) {
  Fingerprint hash;
  hash.add("edgewise dataset 1");
  hash.add(std::uint64_t{dataset.node_count});
  hash.add(std::uint64_t{dataset.direction == Direction::kDirected});
  hash.add(std::uint64_t{dataset.bipartite ? dataset.bipartite->users : 0});
  addTable(hash, dataset.edges);
  for (const EdgeClass& edge_class : dataset.edge_classes) {
    hash.add(edge_class.name).add(std::uint64_t{edge_class.target});
  }
  hash.add(std::uint64_t{dataset.features.rows()}).add(std::uint64_t{dataset.features.columns()});
  hash.add(dataset.features.rowOffsets()).add(dataset.features.columnIndices());
  hash.add(dataset.features.values());
  if (dataset.official) {
    addTable(hash, dataset.official->train);
    addTable(hash, dataset.official->valid);
    addTable(hash, dataset.official->test);
    hash.add(std::span<const Edge>(dataset.official->valid_negative));
    hash.add(std::span<const Edge>(dataset.official->test_negative));
  }
  return hash.hex();
}

std::string Dataset::nodeLabel(NodeId node) const {
  if (bipartite && index(node) >= bipartite->users) {
    return item_ids.label(NodeId{static_cast<std::uint32_t>(index(node) - bipartite->users)});
  }
  return ids.label(node);
}

}  // namespace edgewise
