#include <fmt/format.h>

#include <array>
#include <limits>
#include <string_view>

#include "data/text_table.h"
#include "edgewise/data/feature_text.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

constexpr std::array<std::string_view, 4> kNodeNames = {"node", "id", "node_id", "nodeid"};
constexpr std::array<std::string_view, 3> kLabelNames = {"label", "class", "y"};
constexpr std::array<std::string_view, 7> kAllNames = {"node",  "id",    "node_id", "nodeid",
                                                       "label", "class", "y"};
constexpr std::int32_t kNoLabel = -1;

std::size_t parseNode(const TextFile& file, const Field& field, std::size_t node_count) {
  const auto node = parseInteger(field.text);
  if (!node) {
    throw file.errorAt(field.text, fmt::format("node {} is not an integer", shown(field.text)));
  }
  if (*node < 0 || static_cast<std::uint64_t>(*node) >= node_count) {
    throw file.errorAt(field.text,
                       fmt::format("node {} is not among the {} nodes", *node, node_count));
  }
  return static_cast<std::size_t>(*node);
}

std::int32_t parseLabel(const TextFile& file, const Field& field) {
  const auto label = parseInteger(field.text);
  if (!label || *label < kNoLabel || *label > std::numeric_limits<std::int32_t>::max()) {
    throw file.errorAt(field.text,
                       fmt::format("label {} is not an integer from -1 up", shown(field.text)),
                       "-1 stands for no label");
  }
  return static_cast<std::int32_t>(*label);
}

}  // namespace

std::vector<std::int32_t> readLabelsCsv(const std::filesystem::path& path, std::size_t node_count) {
  const TextFile file(path);
  const TableLayout layout = studyTable(file, {.known_names = kAllNames});
  const std::size_t node_column = findKnownColumn(layout, kNodeNames).value_or(0);
  const std::size_t label_column = findKnownColumn(layout, kLabelNames).value_or(1);
  if (layout.column_count < 2 || node_column == label_column) {
    throw file.errorAt(layout.body, "the columns are not node and label",
                       "the header of a label file is: node,label");
  }
  std::vector<std::int32_t> labels(node_count, kNoLabel);
  std::vector<bool> seen(node_count, false);
  std::vector<Field> fields(layout.column_count);
  DataLines lines(layout.body);
  std::string_view line;
  while (lines.next(line)) {
    splitRow(file, layout, line, fields);
    const std::size_t node = parseNode(file, fields[node_column], node_count);
    if (seen[node]) {
      throw file.errorAt(line, fmt::format("node {} is repeated", node));
    }
    seen[node] = true;
    labels[node] = parseLabel(file, fields[label_column]);
  }
  return labels;
}

}  // namespace edgewise
