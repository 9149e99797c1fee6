#include "edgewise/serving/node_ids.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

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

void requireKnown(const EndIds& end, const std::string& id) {
  if (!end.find(id)) {
    throw ConfigError(fmt::format("no {} is called '{}'", end.what, id), nearIds(end, id));
  }
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

}  // namespace edgewise
