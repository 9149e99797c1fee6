#include "edgewise/serving/node_ids.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "edgewise/data/edge_list.h"
#include "edgewise/util/error.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

// Beyond this many ids a search for similar ones would keep the user waiting.
constexpr std::size_t kMostCompared = 200'000;

// Ids of the nodes that can stand at one end of a pair.
struct EndIds {
  const IdMap& ids;
  std::uint32_t first_node;
  std::string_view what;

  [[nodiscard]] std::optional<NodeId> find(std::string_view id) const {
    const std::optional<NodeId> found = ids.find(id);
    return found ? std::optional(NodeId{index(*found) + first_node}) : std::nullopt;
  }
};

EndIds sourceIds(const Dataset& dataset) {
  return {dataset.ids, 0, dataset.bipartite ? "user" : "node"};
}

EndIds targetIds(const Dataset& dataset) {
  if (!dataset.bipartite) {
    return sourceIds(dataset);
  }
  return {dataset.item_ids, static_cast<std::uint32_t>(dataset.bipartite->users), "item"};
}

// One CSV field: without the quotes around it.
std::string fieldText(std::string_view field) {
  field = trimmed(field);
  if (field.size() < 2 || field.front() != '"' || field.back() != '"') {
    return std::string(field);
  }
  std::string text;
  for (std::size_t i = 1; i + 1 < field.size(); ++i) {
    text += field[i];
    if (field[i] == '"' && field[i + 1] == '"') {
      ++i;
    }
  }
  return text;
}

struct IdPair {
  std::string source;
  std::string target;
};

// The text cut at each of its commas in turn.
std::vector<IdPair> readings(std::string_view text) {
  std::vector<IdPair> result;
  for (std::size_t comma = text.find(','); comma != std::string_view::npos;
       comma = text.find(',', comma + 1)) {
    IdPair pair{fieldText(text.substr(0, comma)), fieldText(text.substr(comma + 1))};
    if (!pair.source.empty() && !pair.target.empty()) {
      result.push_back(std::move(pair));
    }
  }
  return result;
}

std::string nearIds(const EndIds& end, const std::string& id) {
  if (end.ids.numeric()) {
    return fmt::format("{}s are numbered 0 to {}", end.what, end.ids.size() - 1);
  }
  if (end.ids.size() <= kMostCompared) {
    std::vector<std::string> labels;
    labels.reserve(end.ids.size());
    for (std::uint32_t node = 0; node < end.ids.size(); ++node) {
      labels.push_back(end.ids.label(NodeId{node}));
    }
    if (const auto nearest = nearestName(id, labels)) {
      return fmt::format("did you mean '{}'?", *nearest);
    }
  }
  return fmt::format("give ids as they stand in the data, such as '{}'", end.ids.label(NodeId{0}));
}

[[noreturn]] void throwNoNode(const EndIds& end, const std::string& id) {
  throw ConfigError(fmt::format("no {} is called '{}'", end.what, id), nearIds(end, id));
}

// The same for an id in a file.
[[noreturn]] void throwNoNode(const EndIds& end, const std::string& id, const std::string& place) {
  throw DataError(fmt::format("{}: no {} is called '{}'", place, end.what, id), nearIds(end, id));
}

void requireKnown(const EndIds& end, const std::string& id) {
  if (!end.find(id)) {
    throwNoNode(end, id);
  }
}

// The node of each label, where there is one.
std::vector<std::optional<NodeId>> nodesOf(const EndIds& end, const IdMap& labels) {
  std::vector<std::optional<NodeId>> nodes;
  nodes.reserve(labels.size());
  for (std::uint32_t label = 0; label < labels.size(); ++label) {
    nodes.push_back(end.find(labels.label(NodeId{label})));
  }
  return nodes;
}

[[noreturn]] void throwUnknown(const Dataset& dataset, std::string_view text,
                               const std::vector<IdPair>& pairs) {
  const EndIds source = sourceIds(dataset);
  const EndIds target = targetIds(dataset);
  if (pairs.size() == 1) {
    if (dataset.bipartite && source.find(pairs[0].target) && target.find(pairs[0].source)) {
      throw ConfigError(
          fmt::format("no user is called '{}'", pairs[0].source),
          fmt::format("the user stands first: {},{}", pairs[0].target, pairs[0].source));
    }
    requireKnown(source, pairs[0].source);
    requireKnown(target, pairs[0].target);
  }
  throw ConfigError(
      fmt::format("'{}' is no pair of known ids", text),
      fmt::format("write two ids as they stand in the data with a comma between, "
                  "such as {},{}",
                  source.ids.label(NodeId{0}),
                  target.ids.label(NodeId{static_cast<std::uint32_t>(target.ids.size() - 1)})));
}

// A first row of ids that nobody has, above others.
bool startsWithHeader(const Dataset& dataset, const RawEdges& raw) {
  const Edge first = raw.table.edges.front();
  const IdMap& target_labels = raw.right_ids ? *raw.right_ids : raw.ids;
  return raw.table.size() > 1 && !sourceIds(dataset).find(raw.ids.label(first.src)) &&
         !targetIds(dataset).find(target_labels.label(first.dst));
}

}  // namespace

Edge findPair(const Dataset& dataset, std::string_view text) {
  const std::vector<IdPair> pairs = readings(text);
  std::optional<Edge> found;
  for (const IdPair& pair : pairs) {
    const std::optional<NodeId> source = sourceIds(dataset).find(pair.source);
    const std::optional<NodeId> target = targetIds(dataset).find(pair.target);
    if (!source || !target) {
      continue;
    }
    if (found) {
      throw ConfigError(fmt::format("'{}' can be read as two different pairs", text),
                        "put ids that hold commas in double quotes");
    }
    found = Edge{*source, *target};
  }
  if (!found) {
    throwUnknown(dataset, text, pairs);
  }
  if (found->src == found->dst) {
    throw ConfigError(fmt::format("a pair needs two different nodes, not '{}' twice",
                                  dataset.nodeLabel(found->src)),
                      "give the ids of both ends");
  }
  return *found;
}

NodeId findNode(const Dataset& dataset, std::string_view id) {
  const std::string text = fieldText(id);
  for (const EndIds& end : {sourceIds(dataset), targetIds(dataset)}) {
    if (const std::optional<NodeId> found = end.find(text)) {
      return *found;
    }
  }
  throwNoNode(sourceIds(dataset), text);
}

std::vector<Edge> readPairs(const Dataset& dataset, const std::filesystem::path& path,
                            ProgressSink& progress) {
  EdgeListOptions options;
  options.ids = IdRule::kLabel;
  options.bipartite = dataset.bipartite.has_value();
  options.weight_column = "none";
  options.time_column = "none";
  // Whether the first row is a header is not to be guessed: ids are known.
  options.header = HeaderRule::kNo;
  RawEdges raw = readEdgeList(path == "-" ? "/dev/stdin" : path, options, progress);
  std::error_code ignored;
  if (startsWithHeader(dataset, raw) && std::filesystem::is_regular_file(path, ignored)) {
    // Its names say which columns the ids are in.
    options.header = HeaderRule::kYes;
    raw = readEdgeList(path, options, progress);
  }
  const IdMap& target_labels = raw.right_ids ? *raw.right_ids : raw.ids;
  const std::vector<std::optional<NodeId>> sources = nodesOf(sourceIds(dataset), raw.ids);
  const std::vector<std::optional<NodeId>> targets = nodesOf(targetIds(dataset), target_labels);
  std::vector<Edge> pairs;
  pairs.reserve(raw.table.size());
  for (std::size_t row = 0; row < raw.table.size(); ++row) {
    const Edge edge = raw.table.edges[row];
    const std::optional<NodeId> source = sources[index(edge.src)];
    const std::optional<NodeId> target = targets[index(edge.dst)];
    if (row == 0 && options.header == HeaderRule::kNo && startsWithHeader(dataset, raw)) {
      continue;
    }
    const std::string place =
        fmt::format("{}, pair {}", path == "-" ? "standard input" : path.string(), row + 1);
    if (!source) {
      throwNoNode(sourceIds(dataset), raw.ids.label(edge.src), place);
    }
    if (!target) {
      throwNoNode(targetIds(dataset), target_labels.label(edge.dst), place);
    }
    if (*source == *target) {
      throw DataError(fmt::format("{}: '{}' stands on both sides", place, raw.ids.label(edge.src)),
                      "a pair needs two different nodes");
    }
    pairs.push_back({*source, *target});
  }
  return pairs;
}

}  // namespace edgewise
