#include "data/edge_list_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "edgewise/util/text.h"

namespace edgewise {
namespace {

using Names = std::pair<std::string_view, std::string_view>;

constexpr std::array<Names, 17> kEndNames = {{
    {"src", "dst"},
    {"source", "target"},
    {"source", "destination"},
    {"from", "to"},
    {"u", "v"},
    {"user", "item"},
    {"user_id", "item_id"},
    {"userid", "itemid"},
    {"node1", "node2"},
    {"node_1", "node_2"},
    {"id1", "id2"},
    {"id_1", "id_2"},
    {"head", "tail"},
    {"i", "j"},
    {"left", "right"},
    {"source_id", "target_id"},
    {"from_id", "to_id"},
}};
constexpr std::array<std::string_view, 4> kWeightNames = {"weight", "weights", "w", "edge_weight"};
constexpr std::array<std::string_view, 7> kTimeNames = {
    "time", "timestamp", "year", "date", "datetime", "unix_time", "time_stamp"};
constexpr std::string_view kNone = "none";

constexpr auto kAllNames = [] {
  std::array<std::string_view, 2 * kEndNames.size() + kWeightNames.size() + kTimeNames.size()> all;
  std::size_t at = 0;
  for (const auto& [source, target] : kEndNames) {
    all[at++] = source;
    all[at++] = target;
  }
  for (const std::string_view name : kWeightNames) {
    all[at++] = name;
  }
  for (const std::string_view name : kTimeNames) {
    all[at++] = name;
  }
  return all;
}();

// The two columns whose names make a known pair.
std::optional<std::pair<std::size_t, std::size_t>> namedEnds(const TableLayout& layout) {
  for (const auto& [source, target] : kEndNames) {
    const auto source_column = findKnownColumn(layout, std::span(&source, 1));
    const auto target_column = findKnownColumn(layout, std::span(&target, 1));
    if (source_column && target_column) {
      return std::pair(*source_column, *target_column);
    }
  }
  return std::nullopt;
}

void chooseEnds(const TextFile& file, const TableLayout& layout, const EdgeListOptions& options,
                EdgeColumns& columns, std::vector<std::string>& notes) {
  const auto named = namedEnds(layout);
  std::tie(columns.source, columns.target) =
      named.value_or(std::pair<std::size_t, std::size_t>(0, 1));
  if (!options.source_column.empty()) {
    columns.source = findColumn(file, layout, options.source_column, "source_column");
  }
  if (!options.target_column.empty()) {
    columns.target = findColumn(file, layout, options.target_column, "target_column");
  }
  // With one end given, the other must not default to the same column.
  if (columns.source == columns.target && options.target_column.empty()) {
    columns.target = columns.source == 0 ? 1 : 0;
  } else if (columns.source == columns.target && options.source_column.empty()) {
    columns.source = columns.target == 0 ? 1 : 0;
  }
  const bool chosen_by_name = options.source_column.empty() && options.target_column.empty() &&
                              (columns.source != 0 || columns.target != 1);
  if (chosen_by_name) {
    notes.push_back(fmt::format("columns {} and {} are taken as source and target by their names",
                                columnTitle(layout, columns.source),
                                columnTitle(layout, columns.target)));
  }
}

std::optional<std::size_t> chooseOptional(const TextFile& file, const TableLayout& layout,
                                          const std::string& wanted, std::string_view option,
                                          std::span<const std::string_view> names) {
  if (wanted == kNone) {
    return std::nullopt;
  }
  return wanted.empty() ? findKnownColumn(layout, names)
                        : std::optional(findColumn(file, layout, wanted, option));
}

void checkRoles(const TableLayout& layout, const EdgeColumns& columns) {
  std::vector<std::pair<std::size_t, std::string_view>> roles = {{columns.source, "source_column"},
                                                                 {columns.target, "target_column"}};
  if (columns.weight) {
    roles.emplace_back(*columns.weight, "weight_column");
  }
  if (columns.time) {
    roles.emplace_back(*columns.time, "time_column");
  }
  for (std::size_t i = 0; i < roles.size(); ++i) {
    for (std::size_t j = i + 1; j < roles.size(); ++j) {
      if (roles[i].first == roles[j].first) {
        throw ConfigError(
            fmt::format("column {} is both {} and {}", columnTitle(layout, roles[i].first),
                        roles[i].second, roles[j].second),
            "give another column for one of them");
      }
    }
  }
}

void noteUnused(const TableLayout& layout, const EdgeColumns& columns,
                std::vector<std::string>& notes) {
  constexpr std::size_t kMostNamed = 8;
  std::vector<std::string> unused;
  std::size_t count = 0;
  for (std::size_t column = 0; column < layout.column_count; ++column) {
    const bool used = column == columns.source || column == columns.target ||
                      columns.weight == column || columns.time == column;
    count += used ? 0 : 1;
    if (!used && unused.size() < kMostNamed) {
      unused.push_back(columnTitle(layout, column));
    }
  }
  if (count == 0) {
    return;
  }
  if (count > unused.size()) {
    unused.push_back(fmt::format("{} more", count - unused.size()));
  }
  notes.push_back(
      fmt::format("{} {} {} not used; {}", count == 1 ? "column" : "columns",
                  joinText(unused, ", "), count == 1 ? "is" : "are",
                  layout.names.empty()
                      ? "there is no header, so give data.weight_column or data.time_column a "
                        "column number to use one"
                      : "give data.weight_column or data.time_column a column's name to use it"));
}

}  // namespace

std::span<const std::string_view> knownEdgeColumns() { return kAllNames; }

EdgeColumns chooseEdgeColumns(const TextFile& file, const TableLayout& layout,
                              const EdgeListOptions& options, std::vector<std::string>& notes) {
  if (layout.column_count < 2) {
    throw file.errorAt(layout.body, "1 field found, an edge needs 2 at least",
                       "fields are kept apart by a comma, tab, semicolon or spaces");
  }
  EdgeColumns columns;
  chooseEnds(file, layout, options, columns, notes);
  columns.weight =
      chooseOptional(file, layout, options.weight_column, "weight_column", kWeightNames);
  columns.time = chooseOptional(file, layout, options.time_column, "time_column", kTimeNames);
  // A name that is only guessed to be a weight or time gives way to what the user says it is.
  if (options.weight_column.empty() &&
      (columns.weight == columns.source || columns.weight == columns.target)) {
    columns.weight.reset();
  }
  if (options.time_column.empty() &&
      (columns.time == columns.source || columns.time == columns.target)) {
    columns.time.reset();
  }
  checkRoles(layout, columns);
  if (layout.header_is_a_guess) {
    notes.push_back(
        fmt::format("the first row ({}) is taken as a header; data.header=no reads it as an "
                    "edge",
                    joinText(layout.names, ", ")));
  }
  noteUnused(layout, columns, notes);
  return columns;
}

}  // namespace edgewise
