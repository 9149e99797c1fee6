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

// depth x depth values as a list of rows.
nlohmann::ordered_json matrixJson(const std::vector<double>& values, std::size_t depth) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < depth; ++i) {
    rows.push_back(
        std::vector<double>(values.begin() + static_cast<std::ptrdiff_t>(i * depth),
                            values.begin() + static_cast<std::ptrdiff_t>((i + 1) * depth)));
  }
  return rows;
}

nlohmann::ordered_json useJson(const ViewUse& use) {
  return {{"first_hops", use.first_hops},
          {"test_positive", matrixJson(use.test_positive, use.depth)},
          {"test_negative", matrixJson(use.test_negative, use.depth)},
          {"effective", use.effective},
          {"confidence",
           {{"positive", use.confidence_positive}, {"negative", use.confidence_negative}}},
          {"agreement", pairsJson(use.agreement)}};
}

nlohmann::ordered_json viewsJson(const ViewMetrics& views) {
  return {{"metric", views.metric},
          {"first_hops", views.first_hops},
          {"valid", matrixJson(views.valid, views.depth)},
          {"best", {views.best.source, views.best.target}},
          {"best_test", views.best_test.toJson()}};
}

nlohmann::ordered_json learningJson(const LearningSummary& learning) {
  return {{"input", learning.input},   {"parameters", learning.parameters},
          {"epochs", learning.epochs}, {"best_epoch", learning.best_epoch},
          {"steps", learning.steps},   {"refit_epochs", learning.refit_epochs}};
}

}  // namespace

nlohmann::ordered_json RunMetrics::toJson() const {
  nlohmann::ordered_json json;
  json["dataset"] = dataset;
  json["data_hash"] = data_hash;
  json["model"] = model;
  json["selector"] = selector;
  json["apply"] = apply.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(apply);
  json["recipe"] = recipe.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(recipe);
  json["seed"] = seed;
  json["device"] = device;
  json["precision"] = precision;
  json["threads"] = threads;
  json["split"] = {{"kind", split.kind},
                   {"seed", split.seed},
                   {"hash", split.hash},
                   {"message_at_train", split.message_at_train},
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
  if (learning) {
    json["learning"] = learningJson(*learning);
  }
  if (views) {
    json["views"] = useJson(*views);
  }
  if (by_view) {
    json["by_view"] = viewsJson(*by_view);
  }
  json["chosen"] = pairsJson(chosen);
  json["time"] = pairsJson(time);
  json["memory"] = {{"peak_bytes", peak_bytes}, {"peak_device_bytes", peak_device_bytes}};
  return json;
}

RunMetrics RunMetrics::fromJson(const nlohmann::ordered_json& json) {
  RunMetrics run;
  run.dataset = json.at("dataset");
  run.data_hash = json.at("data_hash");
  run.model = json.at("model");
  run.selector = json.at("selector");
  run.seed = json.at("seed");
  run.device = json.at("device");
  run.precision = json.value("precision", "fp32");
  run.threads = json.at("threads");
  const auto& split = json.at("split");
  run.split = {.kind = split.at("kind"),
               .seed = split.at("seed"),
               .hash = split.at("hash"),
               .message_at_train = split.at("message_at_train"),
               .message_at_test = split.at("message_at_test"),
               .negatives = split.at("negatives"),
               .negatives_per_positive = split.at("negatives_per_positive"),
               .message = split.at("message_edges"),
               .supervision = split.at("supervision_edges"),
               .valid = split.at("valid_edges"),
               .test = split.at("test_edges"),
               .valid_negative = split.at("valid_negatives"),
               .test_negative = split.at("test_negatives")};
  const auto& audit = json.at("audit");
  run.audit.checks = audit.at("checks").get<std::vector<std::string>>();
  if (const std::size_t leaks = audit.at("leaks"); leaks > 0) {
    run.audit.leaks.push_back({.what = "stored leaks", .count = leaks, .examples = {}});
  }
  run.valid = MetricSet::fromJson(json.at("valid"));
  run.test = MetricSet::fromJson(json.at("test"));
  return run;
}

std::string RunMetrics::label() const {
  return selector == "none" ? model : model + " " + selector;
}

}  // namespace edgewise
