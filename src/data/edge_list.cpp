#include "edgewise/data/edge_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "data/edge_list_columns.h"
#include "data/edge_list_rows.h"
#include "data/named_choice.h"
#include "data/text_numbers.h"
#include "edgewise/util/interrupt.h"
#include "edgewise/util/parallel.h"

namespace edgewise {
namespace {

// Integer ids number the nodes when there are at most this many nodes a row (or a small graph).
constexpr std::uint64_t kNodesPerRow = 4;
constexpr std::uint64_t kSmallGraph = 1024;

IdSide makeSide(IdRule rule, std::optional<std::size_t> count, std::string_view option) {
  if (rule == IdRule::kLabel && count) {
    throw ConfigError(fmt::format("{} is given, but ids are labels", option),
                      "a node count needs data.ids=number; labels count themselves");
  }
  if (count && (*count == 0 || *count > kMaxNodes)) {
    throw ConfigError(fmt::format("{} is {}, not in 1..{}", option, *count, kMaxNodes));
  }
  return {.labels = rule == IdRule::kLabel,
          .may_turn_to_labels = rule == IdRule::kAuto && !count,
          .limit = count.value_or(kMaxNodes),
          .limit_is_given = count.has_value()};
}

bool startsWithDate(const TextFile& file, const TableLayout& layout,
                    std::optional<std::size_t> column) {
  DataLines lines(layout.body);
  std::string_view line;
  if (!column || !lines.next(line)) {
    return false;
  }
  std::vector<Field> fields(layout.column_count);
  splitRow(file, layout, line, fields);
  return parseIsoDate(fields[*column].text).has_value();
}

EdgeRowPlan makePlan(const TextFile& file, const EdgeListOptions& options,
                     std::vector<std::string>& notes) {
  if (options.right_node_count && !options.bipartite) {
    throw ConfigError("right_node_count is given, but the list is not bipartite",
                      "say bipartite, or leave it out");
  }
  EdgeRowPlan plan;
  plan.left = makeSide(options.ids, options.node_count, "node_count");
  plan.right = options.bipartite
                   ? makeSide(options.ids, options.right_node_count, "right_node_count")
                   : plan.left;
  plan.bipartite = options.bipartite;
  plan.layout = studyTable(file, {.delimiter = options.delimiter,
                                  .header = options.header,
                                  .known_names = knownEdgeColumns()});
  plan.columns = chooseEdgeColumns(file, plan.layout, options, notes);
  plan.dates = startsWithDate(file, plan.layout, plan.columns.time);
  return plan;
}

// All pieces by the plan; empty when ids turned out to be labels, with `found` saying where.
std::vector<EdgeChunk> parseAll(const TextFile& file, const EdgeRowPlan& plan,
                                std::span<const std::string_view> pieces, LabelsFound& found,
                                ProgressSink& progress) {
  std::vector<EdgeChunk> chunks(pieces.size());
  ProgressTask task(progress, "reading " + file.path().filename().string(),
                    plan.layout.body.size());
  try {
    parallelFor(pieces.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end && !found.any(); ++i) {
        throwIfInterrupted();
        chunks[i] = parseEdgeRows(file, plan, pieces[i], found);
        task.advance(pieces[i].size());
      }
    });
  } catch (const DataError&) {
    // Read again as labels, the file shows the same error if it is one.
    if (!found.any()) {
      throw;
    }
  }
  if (found.any()) {
    chunks.clear();
  }
  return chunks;
}

std::size_t rowCount(std::span<const EdgeChunk> chunks) {
  return std::accumulate(
      chunks.begin(), chunks.end(), std::size_t{0},
      [](std::size_t sum, const EdgeChunk& chunk) { return sum + chunk.edges.size(); });
}

// The largest number on each side; both sides alike unless bipartite.
std::pair<std::uint64_t, std::uint64_t> largestNumbers(std::span<const EdgeChunk> chunks,
                                                       bool bipartite) {
  std::uint64_t left = 0;
  std::uint64_t right = 0;
  for (const EdgeChunk& chunk : chunks) {
    left = std::max<std::uint64_t>(left, chunk.left_max);
    right = std::max<std::uint64_t>(right, chunk.right_max);
  }
  if (!bipartite) {
    left = right = std::max(left, right);
  }
  return {left, right};
}

// Turns sides whose ids are no dense node numbers to labels; false when there are none.
bool turnToLabels(EdgeRowPlan& plan, std::span<const EdgeChunk> chunks, const LabelsFound& found) {
  bool left = found.left.load();
  bool right = found.right.load();
  if (!left && !right) {
    const std::uint64_t most = std::max(kSmallGraph, kNodesPerRow * rowCount(chunks));
    const auto [left_max, right_max] = largestNumbers(chunks, plan.bipartite);
    left = plan.left.may_turn_to_labels && !plan.left.labels && left_max >= most;
    right = plan.right.may_turn_to_labels && !plan.right.labels && right_max >= most;
  }
  plan.left.labels = plan.left.labels || left || (right && !plan.bipartite);
  plan.right.labels = plan.right.labels || right || (left && !plan.bipartite);
  return left || right;
}

// Labels of all pieces in one list, and for each piece where its own labels stand in it.
struct MergedLabels {
  IdMap ids;
  std::vector<std::vector<std::uint32_t>> position;
};

MergedLabels mergeLabels(std::span<EdgeChunk> chunks, LabelIndex EdgeChunk::* member) {
  MergedLabels merged;
  LabelIndex all;
  for (EdgeChunk& chunk : chunks) {
    throwIfInterrupted();
    const auto& labels = (chunk.*member).labels();
    std::vector<std::uint32_t>& position = merged.position.emplace_back();
    position.reserve(labels.size());
    for (const std::string_view label : labels) {
      position.push_back(all.add(label).first);
    }
    chunk.*member = {};
  }
  all.close();
  merged.ids = IdMap::labels({all.labels().begin(), all.labels().end()});
  return merged;
}

// Puts the pieces one behind the other, giving each piece's memory back as it goes.
EdgeTable joinChunks(std::vector<EdgeChunk> chunks, const MergedLabels& left,
                     const MergedLabels& right) {
  std::vector<std::size_t> offset(chunks.size() + 1, 0);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    offset[i + 1] = offset[i] + chunks[i].edges.size();
  }
  const auto has = [&](auto member) {
    return std::ranges::any_of(chunks, [&](const EdgeChunk& c) { return !(c.*member).empty(); });
  };
  EdgeTable table;
  table.edges.resize(offset.back());
  table.weight.resize(has(&EdgeChunk::weight) ? offset.back() : 0);
  table.time.resize(has(&EdgeChunk::time) ? offset.back() : 0);
  parallelFor(chunks.size(), 1, [&](std::size_t i, std::size_t) {
    const auto at = static_cast<std::ptrdiff_t>(offset[i]);
    for (Edge& edge : chunks[i].edges) {
      edge.src = left.position.empty() ? edge.src : NodeId{left.position[i][index(edge.src)]};
      edge.dst = right.position.empty() ? edge.dst : NodeId{right.position[i][index(edge.dst)]};
    }
    std::ranges::copy(chunks[i].edges, table.edges.begin() + at);
    std::ranges::copy(chunks[i].weight, table.weight.begin() + at);
    std::ranges::copy(chunks[i].time, table.time.begin() + at);
    chunks[i] = {};
  });
  return table;
}

void noteIntegerLabels(std::span<const EdgeChunk> chunks, const EdgeRowPlan& plan,
                       std::vector<std::string>& notes) {
  const bool left = plan.left.labels && plan.left.may_turn_to_labels &&
                    std::ranges::all_of(chunks, &EdgeChunk::left_all_integers);
  const bool right = plan.bipartite && plan.right.labels && plan.right.may_turn_to_labels &&
                     std::ranges::all_of(chunks, &EdgeChunk::right_all_integers);
  if (left || right) {
    notes.push_back(fmt::format(
        "the {} are integers but do not number the nodes closely from 0, so they are read as "
        "labels; data.ids=number takes them as node numbers",
        !plan.bipartite ? "ids"
        : left && right ? "ids"
        : left          ? "source ids"
                        : "target ids"));
  }
}

// A header that nothing gives away (who,whom above names) is read as an edge. When the ids of the
// first row occur in no other, the user should know.
void noteLikelyHeader(const EdgeRowPlan& plan, RawEdges& raw) {
  const std::vector<Edge>& edges = raw.table.edges;
  if (!plan.layout.names.empty() || !plan.left.labels || edges.size() < 2 ||
      (plan.bipartite && !plan.right.labels)) {
    return;
  }
  const Edge first = edges.front();
  const bool again = std::any_of(edges.begin() + 1, edges.end(), [&](Edge edge) {
    const bool crossed = edge.src == first.dst || edge.dst == first.src;
    return edge.src == first.src || edge.dst == first.dst || (!plan.bipartite && crossed);
  });
  if (!again) {
    const IdMap& target_ids = raw.right_ids ? *raw.right_ids : raw.ids;
    raw.notes.push_back(fmt::format(
        "the first row ({}, {}) was read as an edge, but its ids occur nowhere else: if it names "
        "the columns, say --set data.header=yes",
        raw.ids.label(first.src), target_ids.label(first.dst)));
  }
}

RawEdges assemble(std::vector<EdgeChunk> chunks, const EdgeRowPlan& plan, HeaderRule header,
                  std::vector<std::string> notes) {
  RawEdges raw;
  noteIntegerLabels(chunks, plan, notes);
  raw.notes = std::move(notes);
  const auto [left_max, right_max] = largestNumbers(chunks, plan.bipartite);
  const auto numbers = [](const IdSide& side, std::uint64_t largest) {
    return IdMap::numbers(side.limit_is_given ? side.limit : largest + 1);
  };
  MergedLabels left;
  MergedLabels right;
  if (plan.left.labels) {
    left = mergeLabels(chunks, &EdgeChunk::left_labels);
  }
  if (plan.bipartite && plan.right.labels) {
    right = mergeLabels(chunks, &EdgeChunk::right_labels);
  }
  raw.table = joinChunks(std::move(chunks), left, plan.bipartite ? right : left);
  raw.ids = plan.left.labels ? std::move(left.ids) : numbers(plan.left, left_max);
  if (plan.bipartite) {
    raw.right_ids = plan.right.labels ? std::move(right.ids) : numbers(plan.right, right_max);
  }
  if (header == HeaderRule::kAuto) {
    noteLikelyHeader(plan, raw);
  }
  return raw;
}

}  // namespace

IdRule parseIdRule(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, IdRule>, 3> kChoices = {{
      {"auto", IdRule::kAuto},
      {"number", IdRule::kNumber},
      {"label", IdRule::kLabel},
  }};
  return namedChoice<IdRule>("ids", name, kChoices);
}

RawEdges readEdgeList(const std::filesystem::path& path, const EdgeListOptions& options,
                      ProgressSink& progress) {
  const TextFile file(path);
  std::vector<std::string> notes;
  EdgeRowPlan plan = makePlan(file, options, notes);
  const auto pieces = cutAtLineEnds(plan.layout.body, options.chunk_bytes);
  for (;;) {
    LabelsFound found;
    std::vector<EdgeChunk> chunks = parseAll(file, plan, pieces, found, progress);
    if (!turnToLabels(plan, chunks, found)) {
      return assemble(std::move(chunks), plan, options.header, std::move(notes));
    }
  }
}

}  // namespace edgewise
