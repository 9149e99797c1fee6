#include "edgewise/data/ogb.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "data/ogb_csv.h"
#include "edgewise/data/torch_file.h"
#include "edgewise/util/error.h"
#include "edgewise/util/file.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

using std::filesystem::path;

struct KnownSplit {
  std::string_view name;
  std::string_view split_type;
};

constexpr std::array kKnownSplits = {KnownSplit{"ogbl-ddi", "target"},
                                     KnownSplit{"ogbl-collab", "time"},
                                     KnownSplit{"ogbl-ppa", "throughput"}};

std::string splitType(const std::string& name, const OgbOptions& options) {
  if (!options.split_type.empty()) {
    return options.split_type;
  }
  // OGB names its folders with underscores.
  std::string wanted = name;
  std::ranges::replace(wanted, '_', '-');
  std::vector<std::string> known;
  for (const KnownSplit& split : kKnownSplits) {
    if (split.name == wanted) {
      return std::string(split.split_type);
    }
    known.emplace_back(split.name);
  }
  throw ConfigError(fmt::format("unknown OGB link dataset '{}'", name), suggestName(wanted, known));
}

path require(const path& folder, const path& file) {
  if (const std::optional<path> found = findPlainOrGz(folder / file)) {
    return *found;
  }
  throw DataError(FilePlace{folder / file}, "no such file, plain or as .gz",
                  "unpack the whole archive of the dataset; it has the folders raw and split");
}

std::size_t readNodeCount(const path& file) {
  const std::size_t count = readCount(file);
  if (count == 0 || count > kMaxNodes) {
    throw DataError(FilePlace{file, 1}, fmt::format("{} is no possible number of nodes", count));
  }
  return count;
}

std::vector<Edge> edgesFrom(const NumberArray& array, std::size_t node_count) {
  if (array.size() == 0) {
    return {};
  }
  if (array.shape().size() != 2 || array.shape()[1] != 2) {
    throw DataError(fmt::format("{}: edges need the shape (n, 2), not {}", array.name(),
                                shapeText(array.shape())));
  }
  std::vector<Edge> edges(array.shape()[0]);
  const auto node = [&](std::size_t position) {
    const std::int64_t id = array.integerAt(position);
    if (id < 0 || std::cmp_greater_equal(id, node_count)) {
      throw DataError(
          fmt::format("{}: node {} in row {} is outside 0..{}", array.name(), id, position / 2,
                      node_count - 1),
          "the node count comes from num-node-list.csv; the files may be of different datasets");
    }
    return NodeId{static_cast<std::uint32_t>(id)};
  };
  for (std::size_t row = 0; row < edges.size(); ++row) {
    edges[row] = {node(2 * row), node(2 * row + 1)};
  }
  return edges;
}

// The column `key` beside the edges, empty where the file has none.
template <class Number>
std::vector<Number> columnFrom(const TorchFile& file, std::string_view key, std::size_t rows) {
  if (!file.contains(key)) {
    return {};
  }
  const NumberArray array = file.read(key);
  if (array.size() != rows) {
    throw DataError(fmt::format("{}: {} values for {} edges", array.name(), array.size(), rows));
  }
  std::vector<Number> column(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    column[row] = static_cast<Number>(array.realAt(row));
    if (!std::isfinite(column[row])) {
      throw DataError(fmt::format("{}: the value in row {} is {}", array.name(), row, column[row]));
    }
  }
  return column;
}

struct SplitPart {
  EdgeTable positive;
  std::vector<Edge> negative;
};

SplitPart readPart(const path& file, std::size_t node_count) {
  const TorchFile content(file);
  SplitPart part;
  part.positive.edges = edgesFrom(content.read("edge"), node_count);
  part.positive.weight = columnFrom<float>(content, "weight", part.positive.size());
  part.positive.time = columnFrom<double>(content, "year", part.positive.size());
  if (content.contains("edge_neg")) {
    part.negative = edgesFrom(content.read("edge_neg"), node_count);
  }
  return part;
}

bool sameEdges(std::vector<Edge> left, std::vector<Edge> right) {
  for (auto* edges : {&left, &right}) {
    std::ranges::transform(*edges, edges->begin(), canonical);
    std::ranges::sort(*edges);
  }
  return left == right;
}

void requireRows(std::size_t found, std::size_t expected, const path& file) {
  if (found != expected) {
    throw DataError(FilePlace{file},
                    fmt::format("has {} rows, but num-edge-list.csv says {}", found, expected),
                    "the file is truncated or of another dataset; download the dataset again");
  }
}

// Checks raw/edge.csv and its columns against their count and the training split, and lends the
// split columns that it lacks itself.
void matchRawEdges(const path& folder, std::size_t node_count, EdgeTable& train,
                   std::vector<std::string>& notes) {
  const std::size_t expected = readCount(require(folder, "raw/num-edge-list.csv"));
  const path edge_file = require(folder, "raw/edge.csv");
  const std::vector<Edge> raw = readEdgeRows(edge_file, node_count);
  requireRows(raw.size(), expected, edge_file);
  const bool same_order = raw == train.edges;
  if (!same_order && !sameEdges(raw, train.edges)) {
    notes.push_back(fmt::format(
        "raw/edge.csv ({} rows) and the training split ({} rows) differ; the split is used",
        groupedCount(raw.size()), groupedCount(train.size())));
  }
  const auto column = [&](const char* name) -> std::vector<double> {
    const std::optional<path> file = findPlainOrGz(folder / "raw" / name);
    if (!file) {
      return {};
    }
    std::vector<double> numbers = readNumberColumn(*file);
    requireRows(numbers.size(), expected, *file);
    return same_order ? numbers : std::vector<double>();
  };
  const std::vector<double> weight = column("edge_weight.csv");
  if (train.weight.empty()) {
    train.weight.assign(weight.begin(), weight.end());
  }
  std::vector<double> time = column("edge_year.csv");
  if (train.time.empty()) {
    train.time = std::move(time);
  }
}

// Joins a column of the three parts where every part that has edges has it too.
template <class Number>
std::vector<Number> joinColumn(std::vector<Number> EdgeTable::* column,
                               std::initializer_list<const EdgeTable*> tables) {
  std::vector<Number> joined;
  for (const EdgeTable* table : tables) {
    const std::vector<Number>& values = table->*column;
    if (values.size() != table->size()) {
      return {};
    }
    joined.insert(joined.end(), values.begin(), values.end());
  }
  return joined;
}

EdgeTable joinTables(const OfficialSplit& split) {
  const std::initializer_list<const EdgeTable*> tables = {&split.train, &split.valid, &split.test};
  EdgeTable all;
  for (const EdgeTable* table : tables) {
    all.edges.insert(all.edges.end(), table->edges.begin(), table->edges.end());
  }
  all.weight = joinColumn(&EdgeTable::weight, tables);
  all.time = joinColumn(&EdgeTable::time, tables);
  return all;
}

DatasetParts finish(const std::string& name, std::size_t node_count, OfficialSplit split,
                    std::vector<std::string> notes) {
  if (split.train.empty()) {
    throw DataError(fmt::format("{}: the training split has no edges", name));
  }
  DatasetParts parts;
  parts.name = name;
  parts.raw.ids = IdMap::numbers(node_count);
  parts.raw.table = joinTables(split);
  parts.raw.notes = std::move(notes);
  parts.official = std::move(split);
  return parts;
}

// The largest id of any array plus one.
std::size_t countNodes(const OfficialSplit& split) {
  std::size_t count = 0;
  for (const std::vector<Edge>* edges : {&split.train.edges, &split.valid.edges, &split.test.edges,
                                         &split.valid_negative, &split.test_negative}) {
    for (const Edge edge : *edges) {
      count = std::max({count, std::size_t{index(edge.src)} + 1, std::size_t{index(edge.dst)} + 1});
    }
  }
  return count;
}

}  // namespace

DatasetParts readOgb(const path& folder, const std::string& name, const OgbOptions& options) {
  const path split_folder = path("split") / splitType(name, options);
  const std::size_t node_count = readNodeCount(require(folder, "raw/num-node-list.csv"));
  const auto part = [&](const char* file) {
    return readPart(require(folder, split_folder / file), node_count);
  };
  SplitPart train = part("train.pt");
  SplitPart valid = part("valid.pt");
  SplitPart test = part("test.pt");
  std::vector<std::string> notes;
  matchRawEdges(folder, node_count, train.positive, notes);
  DatasetParts parts =
      finish(name, node_count,
             {std::move(train.positive), std::move(valid.positive), std::move(test.positive),
              std::move(valid.negative), std::move(test.negative)},
             std::move(notes));
  const std::optional<path> feature_file = findPlainOrGz(folder / "raw/node-feat.csv");
  if (options.features && feature_file) {
    parts.features = readNumberRows(*feature_file);
    if (parts.features.rows() != node_count) {
      throw DataError(FilePlace{*feature_file},
                      fmt::format("has {} rows, but num-node-list.csv says {} nodes",
                                  parts.features.rows(), node_count));
    }
  }
  return parts;
}

DatasetParts readOgbCsv(const path& folder, const std::string& name) {
  const bool has_subfolder = std::filesystem::is_directory(folder / "csv");
  const path csv = has_subfolder ? folder / "csv" : folder;
  const path above = has_subfolder ? folder : folder.parent_path();
  const std::optional<path> count_file = findPlainOrGz(above / "raw/num-node-list.csv");
  const std::size_t limit = count_file ? readNodeCount(*count_file) : kMaxNodes;
  const auto rows = [&](const char* file) { return readEdgeRows(require(csv, file), limit); };
  const auto optional_rows = [&](const char* file) {
    return findPlainOrGz(csv / file) ? rows(file) : std::vector<Edge>();
  };
  OfficialSplit split;
  split.train.edges = rows("train_pos.csv");
  split.valid.edges = rows("valid_pos.csv");
  split.test.edges = rows("test_pos.csv");
  split.valid_negative = optional_rows("valid_neg.csv");
  split.test_negative = optional_rows("test_neg.csv");
  std::vector<std::string> notes;
  std::size_t node_count = limit;
  if (!count_file) {
    node_count = countNodes(split);
    notes.push_back("no num-node-list.csv: the largest id gives the number of nodes");
  }
  return finish(name, node_count, std::move(split), std::move(notes));
}

}  // namespace edgewise
