#include "edgewise/serving/explanation.h"

#include <nlohmann/json.hpp>

namespace edgewise {
namespace {

template <class T>
nlohmann::ordered_json orNull(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

nlohmann::ordered_json viewJson(const HopPair& view) {
  return {{"source", view.source}, {"target", view.target}};
}

nlohmann::ordered_json viewsJson(const std::vector<ViewShare>& views) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const ViewShare& share : views) {
    nlohmann::ordered_json one = viewJson(share.view);
    one["score"] = orNull(share.score);
    one["weight"] = share.weight;
    json.push_back(std::move(one));
  }
  return json;
}

nlohmann::ordered_json endJson(const ExplainedEnd& end) {
  nlohmann::ordered_json json = {{"id", end.id}, {"degree", end.degree}};
  json["hops"] = orNull(end.hops);
  json["nodes"] = end.hops ? nlohmann::ordered_json(end.nodes) : nlohmann::ordered_json();
  return json;
}

nlohmann::ordered_json commonJson(const std::vector<CommonNeighbour>& common) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const CommonNeighbour& node : common) {
    json.push_back({{"id", node.id}, {"degree", node.degree}, {"adds", orNull(node.adds)}});
  }
  return json;
}

std::string endName(const NeighbourChange& change) {
  if (change.of_source && change.of_target) {
    return "both";
  }
  return change.of_source ? "source" : "target";
}

}  // namespace

nlohmann::ordered_json NeighbourChanges::toJson() const {
  nlohmann::ordered_json json = {{"count", count}, {"tried", tried}};
  json["most"] = nlohmann::ordered_json::array();
  for (const NeighbourChange& one : most) {
    json["most"].push_back({{"id", one.id},
                            {"of", endName(one)},
                            {"degree", one.degree},
                            {"score", one.score},
                            {"change", one.change}});
  }
  return json;
}

nlohmann::ordered_json Explanation::toJson() const {
  const bool formula = selector.empty();
  nlohmann::ordered_json json;
  json["pair"] = nlohmann::ordered_json::array({source.id, target.id});
  json["dataset"] = dataset;
  json["model"] = model;
  json["selector"] = formula ? nlohmann::ordered_json() : nlohmann::ordered_json(selector);
  json["score"] = score;
  json["by_degrees"] = orNull(by_degrees);
  json["probability"] = orNull(probability);
  json["view"] = view ? viewJson(*view) : nlohmann::ordered_json();
  json["views"] = viewsJson(views);
  json["ends"] = nlohmann::ordered_json::array({endJson(source), endJson(target)});
  json["nodes"] = source.hops ? nlohmann::ordered_json(nodes) : nlohmann::ordered_json();
  json["subgraph"] = subgraph ? subgraph->toJson() : nlohmann::ordered_json();
  if (formula) {
    json["common_neighbours"] = commonJson(common);
  }
  json["neighbours"] = neighbours ? neighbours->toJson() : nlohmann::ordered_json();
  json["known"] = {{"edge", !parts.empty()}, {"parts", parts}};
  json["messages"] = {{"carried", carried}, {"edges", message_edges}, {"left_out", left_out}};
  return json;
}

}  // namespace edgewise
