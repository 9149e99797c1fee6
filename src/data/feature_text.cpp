#include "edgewise/data/feature_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "data/text_numbers.h"
#include "data/text_table.h"
#include "edgewise/util/error.h"
#include "edgewise/util/interrupt.h"
#include "edgewise/util/parallel.h"

namespace edgewise {
namespace {

// A nameless first column is how tables with row names are often written.
constexpr std::array<std::string_view, 6> kIdNames = {"",        "id",     "node",
                                                      "node_id", "nodeid", "name"};
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

// The rows of one piece of the file: values one row after another, and where each row stands.
struct FeatureChunk {
  std::vector<float> values;
  std::vector<std::string_view> lines;
  std::vector<Field> ids;
};

std::optional<std::size_t> chooseIdColumn(const TextFile& file, const TableLayout& layout,
                                          const FeatureTextOptions& options) {
  if (options.id_column == "none") {
    return std::nullopt;
  }
  if (!options.id_column.empty()) {
    return findColumn(file, layout, options.id_column, "id_column");
  }
  const auto known = findKnownColumn(layout, kIdNames);
  const bool labels = options.ids != nullptr && !options.ids->numeric();
  return known == std::size_t{0} || labels ? std::optional(std::size_t{0}) : std::nullopt;
}

FeatureChunk parseFeatureRows(const TextFile& file, const TableLayout& layout,
                              std::optional<std::size_t> id_column, std::string_view piece) {
  FeatureChunk chunk;
  std::vector<Field> fields(layout.column_count);
  DataLines lines(piece);
  std::string_view line;
  while (lines.next(line)) {
    splitRow(file, layout, line, fields);
    for (std::size_t column = 0; column < fields.size(); ++column) {
      const Field& field = fields[column];
      if (column == id_column) {
        chunk.ids.push_back(field);
        continue;
      }
      const auto value = parseFiniteFloat(field.text);
      if (!value) {
        throw file.errorAt(field.text,
                           fmt::format("feature {} in column {} {}", shown(field.text),
                                       columnTitle(layout, column), whyNotFinite(field.text)),
                           "features must be finite numbers; name a column of node ids with "
                           "data.feature_id_column");
      }
      chunk.values.push_back(*value);
    }
    chunk.lines.push_back(line);
  }
  return chunk;
}

std::vector<FeatureChunk> parseAll(const TextFile& file, const TableLayout& layout,
                                   std::optional<std::size_t> id_column) {
  const auto pieces = cutAtLineEnds(layout.body, kChunkBytes);
  std::vector<FeatureChunk> chunks(pieces.size());
  parallelFor(pieces.size(), 1, [&](std::size_t begin, std::size_t) {
    throwIfInterrupted();
    chunks[begin] = parseFeatureRows(file, layout, id_column, pieces[begin]);
  });
  return chunks;
}

// The node of each row in file order.
class RowPlacer {
 public:
  RowPlacer(const TextFile& file, const IdMap& ids)
      : file_(file), ids_(ids), line_of_(ids.size()) {}

  std::size_t place(const Field& id, std::string_view line) {
    const std::string text = fieldString(id);
    const auto node = ids_.find(text);
    if (!node) {
      throw file_.errorAt(line, fmt::format("unknown node id {}", shown(text)),
                          ids_.numeric()
                              ? fmt::format("nodes are numbered 0 to {} here; nodes without edges "
                                            "count only when the node count is given",
                                            ids_.size() - 1)
                              : "ids must be written as in the edge list");
    }
    std::string_view& taken = line_of_[index(*node)];
    if (taken.data() != nullptr) {
      throw file_.errorAt(line,
                          fmt::format("node id {} is repeated; it has features on line {} already",
                                      shown(text), file_.placeOf(taken).line));
    }
    taken = line;
    return index(*node);
  }

  void checkAllPlaced() const {
    for (std::uint32_t node = 0; node < line_of_.size(); ++node) {
      if (line_of_[node].data() == nullptr) {
        throw DataError(FilePlace{file_.path()},
                        fmt::format("node {} has no row", shown(ids_.label(NodeId{node}))),
                        "every node needs a row of features");
      }
    }
  }

 private:
  const TextFile& file_;
  const IdMap& ids_;
  std::vector<std::string_view> line_of_;
};

FeatureMatrix placeById(const TextFile& file, std::vector<FeatureChunk> chunks, const IdMap& ids,
                        std::size_t width) {
  RowPlacer placer(file, ids);
  std::vector<std::vector<std::size_t>> nodes(chunks.size());
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    for (std::size_t row = 0; row < chunks[i].lines.size(); ++row) {
      nodes[i].push_back(placer.place(chunks[i].ids[row], chunks[i].lines[row]));
    }
  }
  placer.checkAllPlaced();
  std::vector<float> values(ids.size() * width);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const FeatureChunk chunk = std::move(chunks[i]);
    for (std::size_t row = 0; row < chunk.lines.size(); ++row) {
      std::copy_n(chunk.values.begin() + static_cast<std::ptrdiff_t>(row * width), width,
                  values.begin() + static_cast<std::ptrdiff_t>(nodes[i][row] * width));
    }
  }
  return FeatureMatrix::dense(ids.size(), width, std::move(values));
}

FeatureMatrix placeInOrder(std::vector<FeatureChunk> chunks, std::size_t rows, std::size_t width) {
  std::vector<float> values;
  values.reserve(rows * width);
  for (FeatureChunk& chunk : chunks) {
    const FeatureChunk taken = std::move(chunk);
    values.insert(values.end(), taken.values.begin(), taken.values.end());
  }
  return FeatureMatrix::dense(rows, width, std::move(values));
}

}  // namespace

FeatureMatrix readFeaturesCsv(const std::filesystem::path& path,
                              const FeatureTextOptions& options) {
  const TextFile file(path);
  const TableLayout layout = studyTable(file, {.delimiter = options.delimiter,
                                               .header = options.header,
                                               .known_names = kIdNames,
                                               .numbered_header = true});
  const auto id_column = chooseIdColumn(file, layout, options);
  const std::size_t width = layout.column_count - (id_column ? 1 : 0);
  if (width == 0) {
    throw DataError(FilePlace{path}, "has a column of ids but no features");
  }
  std::vector<FeatureChunk> chunks = parseAll(file, layout, id_column);
  std::size_t rows = 0;
  for (const FeatureChunk& chunk : chunks) {
    rows += chunk.lines.size();
  }
  if (!id_column) {
    return placeInOrder(std::move(chunks), rows, width);
  }
  const IdMap row_numbers = IdMap::numbers(rows);
  return placeById(file, std::move(chunks), options.ids != nullptr ? *options.ids : row_numbers,
                   width);
}

}  // namespace edgewise
