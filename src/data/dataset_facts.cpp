#include "edgewise/data/dataset_facts.h"

#include <nlohmann/json.hpp>

namespace edgewise {

DatasetFacts factsOf(const Dataset& dataset) {
  DatasetFacts facts{.name = dataset.name,
                     .nodes = dataset.node_count,
                     .edges = dataset.edges.size(),
                     .directed = dataset.direction == Direction::kDirected,
                     .features = dataset.features.columns(),
                     .nonzeros = dataset.features.nonzeroCount(),
                     .hash = dataset.hash,
                     .self_loops = dataset.notes.self_loops,
                     .duplicates = dataset.notes.duplicates,
                     .mirrored = dataset.notes.mirrored,
                     .remarks = dataset.notes.remarks,
                     .bipartite = dataset.bipartite,
                     .official = std::nullopt};
  if (const auto& official = dataset.official) {
    facts.official = OfficialSizes{.train = official->train.size(),
                                   .valid = official->valid.size(),
                                   .test = official->test.size(),
                                   .valid_negative = official->valid_negative.size(),
                                   .test_negative = official->test_negative.size()};
  }
  return facts;
}

nlohmann::ordered_json DatasetFacts::toJson() const {
  nlohmann::ordered_json json = {
      {"name", name},         {"nodes", nodes},           {"edges", edges},
      {"directed", directed}, {"features", features},     {"nonzeros", nonzeros},
      {"hash", hash},         {"self_loops", self_loops}, {"duplicates", duplicates},
      {"mirrored", mirrored}, {"remarks", remarks}};
  if (bipartite) {
    json["users"] = bipartite->users;
    json["items"] = bipartite->items;
  }
  if (official) {
    json["official"] = {{"train", official->train},
                        {"valid", official->valid},
                        {"test", official->test},
                        {"valid_negative", official->valid_negative},
                        {"test_negative", official->test_negative}};
  }
  return json;
}

DatasetFacts DatasetFacts::fromJson(const nlohmann::ordered_json& json) {
  DatasetFacts facts{.name = json.at("name"),
                     .nodes = json.at("nodes"),
                     .edges = json.at("edges"),
                     .directed = json.at("directed"),
                     .features = json.at("features"),
                     .nonzeros = json.at("nonzeros"),
                     .hash = json.at("hash"),
                     .self_loops = json.at("self_loops"),
                     .duplicates = json.at("duplicates"),
                     .mirrored = json.at("mirrored"),
                     .remarks = json.at("remarks").get<std::vector<std::string>>(),
                     .bipartite = std::nullopt,
                     .official = std::nullopt};
  if (json.contains("users")) {
    facts.bipartite = BipartiteShape{.users = json.at("users"), .items = json.at("items")};
  }
  if (json.contains("official")) {
    const auto& official = json.at("official");
    facts.official = OfficialSizes{.train = official.at("train"),
                                   .valid = official.at("valid"),
                                   .test = official.at("test"),
                                   .valid_negative = official.at("valid_negative"),
                                   .test_negative = official.at("test_negative")};
  }
  return facts;
}

}  // namespace edgewise
