#include "edgewise/data/planetoid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "data/feature_arrays.h"
#include "data/printable.h"
#include "edgewise/data/pickle.h"
#include "edgewise/util/error.h"
#include "edgewise/util/file.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

using std::filesystem::path;

// Which of the files is meant by its last part.
path findPart(const path& folder, const std::string& name, std::string_view part) {
  const std::string file = fmt::format("ind.{}.{}", name, part);
  for (const path& place : {folder, folder / "raw"}) {
    if (const std::optional<path> found = findPlainOrGz(place / file)) {
      return *found;
    }
  }
  throw DataError(FilePlace{folder}, fmt::format("holds no file {}", file),
                  fmt::format("a Planetoid dataset needs ind.{}.x, .tx, .allx, .y, .ty, .ally, "
                              ".graph and .test.index, each plain or as .gz",
                              name));
}

NumberArray fieldArray(const PickleMapping& fields, std::string_view key, const path& file) {
  const PickleRef value = findKey(fields, key);
  if (value == nullptr) {
    throw DataError(FilePlace{file}, fmt::format("the sparse matrix has no field {}", key));
  }
  return pickledArray(*value, fmt::format("{}[{}]", file.string(), key));
}

FeatureMatrix readSparse(const path& file) {
  const FileBytes bytes = readFile(file);
  const PickleDocument pickle = readPickle(bytes.view(), file);
  const auto* matrix = pickle.root().as<PickleSparse>();
  const auto* fields = matrix == nullptr || matrix->fields == nullptr
                           ? nullptr
                           : matrix->fields->as<PickleMapping>();
  if (fields == nullptr) {
    throw DataError(FilePlace{file}, "does not hold a scipy csr_matrix");
  }
  const PickleRef shape = findKey(*fields, "_shape");
  const auto* sizes = shape == nullptr ? nullptr : shape->as<PickleSequence>();
  const auto size_at = [&](std::size_t axis) -> std::size_t {
    const auto* size = sizes == nullptr || sizes->items.size() != 2
                           ? nullptr
                           : sizes->items[axis]->as<std::int64_t>();
    if (size == nullptr || *size < 0) {
      throw DataError(FilePlace{file}, "the sparse matrix has no usable shape");
    }
    return static_cast<std::size_t>(*size);
  };
  return sparseFeatures({.offsets = fieldArray(*fields, "indptr", file),
                         .columns = fieldArray(*fields, "indices", file),
                         .values = fieldArray(*fields, "data", file),
                         .row_count = size_at(0),
                         .column_count = size_at(1)});
}

// One class a row, from one-hot rows; a row of zeros has none (-1).
std::vector<std::int32_t> readLabels(const path& file) {
  const FileBytes bytes = readFile(file);
  const PickleDocument pickle = readPickle(bytes.view(), file);
  const NumberArray array = pickledArray(pickle.root(), file.string());
  if (array.shape().size() != 2) {
    throw DataError(FilePlace{file},
                    fmt::format("labels need two dimensions (nodes x classes), not {}",
                                shapeText(array.shape())));
  }
  const std::size_t classes = array.shape()[1];
  // A shape may claim any number of rows of no columns.
  std::vector<std::int32_t> labels(classes == 0 ? 0 : array.shape()[0], -1);
  for (std::size_t row = 0; row < labels.size(); ++row) {
    double best = 0;
    for (std::size_t column = 0; column < classes; ++column) {
      const double value = array.realAt(row * classes + column);
      if (value > best) {
        best = value;
        labels[row] = static_cast<std::int32_t>(column);
      }
    }
  }
  return labels;
}

std::vector<std::size_t> readTestIndex(const path& file, std::size_t node_count) {
  const FileBytes bytes = readFile(file);
  std::vector<std::size_t> nodes;
  std::vector<bool> seen(node_count, false);
  std::size_t line = 0;
  for (const std::string_view row : splitText(bytes.view(), '\n')) {
    ++line;
    const std::string_view text = trimmed(row);
    if (text.empty()) {
      continue;
    }
    const std::optional<std::int64_t> node = parseInteger(text);
    if (!node || *node < 0 || std::cmp_greater_equal(*node, node_count)) {
      throw DataError(FilePlace{file, line}, fmt::format("{} is not one of the nodes 0..{}",
                                                         printable(text), node_count - 1));
    }
    const auto id = static_cast<std::size_t>(*node);
    if (seen[id]) {
      throw DataError(FilePlace{file, line}, fmt::format("test node {} stands there twice", id));
    }
    seen[id] = true;
    nodes.push_back(id);
  }
  return nodes;
}

struct Adjacency {
  std::size_t node_count = 0;
  std::size_t entries = 0;
  std::size_t loop_entries = 0;
  std::vector<Edge> edges;
};

NodeId nodeOf(const PickleValue& value, std::size_t node_count, const path& file) {
  const auto* id = value.as<std::int64_t>();
  if (id == nullptr || *id < 0 || std::cmp_greater_equal(*id, node_count)) {
    throw DataError(FilePlace{file}, id == nullptr
                                         ? std::string("a node id is not a whole number")
                                         : fmt::format("node {} is not one of the {} nodes 0..{}",
                                                       *id, node_count, node_count - 1));
  }
  return NodeId{static_cast<std::uint32_t>(*id)};
}

// Turns list entries (owner first) into edges. An edge listed a times at one end and b times at the
// other stands there max(a, b) times; a self-loop takes two entries.
std::vector<Edge> mergeEnds(std::vector<Edge> entries) {
  std::ranges::sort(entries, [](Edge a, Edge b) {
    return std::pair(canonical(a), a) < std::pair(canonical(b), b);
  });
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < entries.size();) {
    const Edge edge = canonical(entries[i]);
    std::size_t forward = 0;
    std::size_t backward = 0;
    for (; i < entries.size() && canonical(entries[i]) == edge; ++i) {
      ++(entries[i] == edge ? forward : backward);
    }
    const bool is_loop = edge.src == edge.dst;
    edges.insert(edges.end(), is_loop ? (forward + 1) / 2 : std::max(forward, backward), edge);
  }
  return edges;
}

Adjacency readAdjacency(const path& file) {
  const FileBytes bytes = readFile(file);
  const PickleDocument pickle = readPickle(bytes.view(), file);
  const auto* lists = pickle.root().as<PickleMapping>();
  if (lists == nullptr || lists->items.empty() || lists->items.size() > kMaxNodes) {
    throw DataError(FilePlace{file}, "does not hold a dictionary of adjacency lists");
  }
  Adjacency adjacency;
  // Every node has a list, so their number bounds the ids.
  adjacency.node_count = lists->items.size();
  std::vector<Edge> entries;
  for (const auto& [owner, list] : lists->items) {
    const NodeId node = nodeOf(*owner, adjacency.node_count, file);
    const auto* neighbors = list->as<PickleSequence>();
    if (neighbors == nullptr) {
      throw DataError(FilePlace{file}, fmt::format("node {} has no adjacency list", index(node)));
    }
    for (const PickleRef neighbor : neighbors->items) {
      entries.push_back({node, nodeOf(*neighbor, adjacency.node_count, file)});
      adjacency.loop_entries += entries.back().src == entries.back().dst ? 1 : 0;
    }
  }
  adjacency.entries = entries.size();
  adjacency.edges = mergeEnds(std::move(entries));
  return adjacency;
}

void requireEqual(std::size_t left, std::size_t right, const path& file, std::string_view what) {
  if (left != right) {
    throw DataError(FilePlace{file}, fmt::format("{} {}, but {} were expected", left, what, right),
                    "the eight files must belong to the same dataset");
  }
}

// The parts of the node set: the first nodes in order, then test nodes in file order.
struct NodeParts {
  FeatureMatrix head;
  FeatureMatrix test;
  std::vector<std::int32_t> head_labels;
  std::vector<std::int32_t> test_labels;
  std::vector<std::size_t> test_nodes;
};

// For each node its row: below head.rows() one of the head, from there on one of the test part;
// nothing for a node that has none.
std::vector<std::optional<std::size_t>> rowOfNode(const NodeParts& parts, std::size_t node_count,
                                                  const path& file) {
  const std::size_t head_rows = parts.head.rows();
  std::vector<std::optional<std::size_t>> rows(node_count);
  for (std::size_t node = 0; node < std::min(head_rows, node_count); ++node) {
    rows[node] = node;
  }
  for (std::size_t i = 0; i < parts.test_nodes.size(); ++i) {
    if (parts.test_nodes[i] < head_rows) {
      throw DataError(FilePlace{file}, fmt::format("test node {} is among the {} nodes of allx",
                                                   parts.test_nodes[i], head_rows));
    }
    rows[parts.test_nodes[i]] = head_rows + i;
  }
  return rows;
}

void assemble(const NodeParts& parts, const std::vector<std::optional<std::size_t>>& rows,
              DatasetParts& result) {
  const std::size_t head_rows = parts.head.rows();
  std::vector<std::uint64_t> offsets = {0};
  std::vector<std::uint32_t> columns;
  std::vector<float> values;
  for (const std::optional<std::size_t>& row : rows) {
    result.labels.push_back(-1);
    if (row) {
      const bool in_head = *row < head_rows;
      const FeatureMatrix& source = in_head ? parts.head : parts.test;
      const std::size_t at = in_head ? *row : *row - head_rows;
      const std::uint64_t begin = source.rowOffsets()[at];
      const std::uint64_t count = source.rowOffsets()[at + 1] - begin;
      const auto row_columns = source.columnIndices().subspan(begin, count);
      const auto row_values = source.values().subspan(begin, count);
      columns.insert(columns.end(), row_columns.begin(), row_columns.end());
      values.insert(values.end(), row_values.begin(), row_values.end());
      result.labels.back() = in_head ? parts.head_labels[at] : parts.test_labels[at];
    }
    offsets.push_back(columns.size());
  }
  result.features = FeatureMatrix::sparse(parts.head.columns(), std::move(offsets),
                                          std::move(columns), std::move(values));
}

// x and y repeat the first rows of allx and ally; they only have to fit.
void checkTrainingPart(const path& folder, const std::string& name, const NodeParts& parts) {
  const path x_file = findPart(folder, name, "x");
  const FeatureMatrix x = readSparse(x_file);
  requireEqual(x.columns(), parts.head.columns(), x_file, "feature columns");
  if (x.rows() > parts.head.rows()) {
    throw DataError(FilePlace{x_file},
                    fmt::format("{} rows, more than the {} of allx", x.rows(), parts.head.rows()));
  }
  const path y_file = findPart(folder, name, "y");
  requireEqual(readLabels(y_file).size(), x.rows(), y_file, "label rows");
}

NodeParts readNodeParts(const path& folder, const std::string& name, std::size_t node_count) {
  const auto file = [&](std::string_view part) { return findPart(folder, name, part); };
  NodeParts parts{.head = readSparse(file("allx")),
                  .test = readSparse(file("tx")),
                  .head_labels = readLabels(file("ally")),
                  .test_labels = readLabels(file("ty")),
                  .test_nodes = readTestIndex(file("test.index"), node_count)};
  requireEqual(parts.test.columns(), parts.head.columns(), file("tx"), "feature columns");
  requireEqual(parts.head_labels.size(), parts.head.rows(), file("ally"), "label rows");
  requireEqual(parts.test_labels.size(), parts.test.rows(), file("ty"), "label rows");
  requireEqual(parts.test_nodes.size(), parts.test.rows(), file("test.index"), "test nodes");
  if (parts.head.rows() > node_count) {
    throw DataError(FilePlace{file("allx")},
                    fmt::format("{} rows for a graph of {} nodes", parts.head.rows(), node_count));
  }
  checkTrainingPart(folder, name, parts);
  return parts;
}

}  // namespace

DatasetParts readPlanetoid(const path& folder, const std::string& name) {
  Adjacency adjacency = readAdjacency(findPart(folder, name, "graph"));
  const NodeParts parts = readNodeParts(folder, name, adjacency.node_count);
  const auto rows = rowOfNode(parts, adjacency.node_count, findPart(folder, name, "test.index"));
  DatasetParts result;
  result.name = name;
  assemble(parts, rows, result);
  result.raw.ids = IdMap::numbers(adjacency.node_count);
  result.raw.table.edges = std::move(adjacency.edges);
  result.raw.notes.push_back(fmt::format("{} adjacency entries, {} of them self-loops",
                                         groupedCount(adjacency.entries),
                                         groupedCount(adjacency.loop_entries)));
  const auto missing = std::ranges::count_if(rows, [](const auto& row) { return !row; });
  if (missing > 0) {
    result.raw.notes.push_back(fmt::format("{} nodes have neither features nor a label",
                                           groupedCount(static_cast<std::uint64_t>(missing))));
  }
  return result;
}

}  // namespace edgewise
