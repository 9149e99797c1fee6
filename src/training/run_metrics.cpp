#include "edgewise/training/run_metrics.h"

#include <nlohmann/json.hpp>

namespace edgewise {
namespace {

nlohmann::ordered_json pairsJson(const std::vector<std::pair<std::string, double>>& pairs) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [name, value] : pairs) {
    json[name] = value;
  }
  return json;
}

}  // namespace

nlohmann::ordered_json RunMetrics::toJson() const {
  nlohmann::ordered_json json;
  json["dataset"] = dataset;
  json["data_hash"] = data_hash;
  json["model"] = model;
  json["selector"] = selector;
  json["apply"] = nullptr;
  json["recipe"] = nullptr;
  json["seed"] = seed;
  json["device"] = device;
  json["threads"] = threads;
  json["split"] = {{"kind", split.kind},
                   {"seed", split.seed},
                   {"hash", split.hash},
                   {"message_at_train", "train"},
                   {"message_at_test", split.message_at_test},
                   {"negatives", split.negatives},
                   {"negatives_per_positive", split.negatives_per_positive},
                   {"message_edges", split.message},
                   {"supervision_edges", split.supervision},
                   {"valid_edges", split.valid},
                   {"test_edges", split.test},
                   {"valid_negatives", split.valid_negative},
                   {"test_negatives", split.test_negative}};
  json["audit"] = audit.toJson();
  json["valid"] = valid.toJson();
  json["test"] = test.toJson();
  json["chosen"] = pairsJson(chosen);
  json["time"] = pairsJson(time);
  json["memory"] = {{"peak_bytes", peak_bytes}};
  return json;
}

}  // namespace edgewise
