#include "edgewise/training/run_metrics.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "edgewise/util/error.h"

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

std::vector<std::pair<std::string, double>> pairsFrom(const nlohmann::ordered_json& json,
                                                      const char* key) {
  std::vector<std::pair<std::string, double>> pairs;
  if (json.contains(key)) {
    for (const auto& [name, value] : json.at(key).items()) {
      pairs.emplace_back(name, value.get<double>());
    }
  }
  return pairs;
}

// A list of rows, as many as each is long.
std::vector<double> matrixFrom(const nlohmann::ordered_json& rows) {
  std::vector<double> values;
  for (const auto& row : rows) {
    if (row.size() != rows.size()) {
      throw DataError(
          fmt::format("a matrix of views has {} rows and {} columns", rows.size(), row.size()));
    }
    for (const auto& value : row) {
      values.push_back(value.get<double>());
    }
  }
  return values;
}

ViewUse useFrom(const nlohmann::ordered_json& json) {
  ViewUse use{.depth = json.at("test_positive").size(),
              .first_hops = json.value("first_hops", 1),
              .test_positive = matrixFrom(json.at("test_positive")),
              .test_negative = matrixFrom(json.at("test_negative")),
              .effective = json.at("effective"),
              .confidence_positive = json.at("confidence").at("positive"),
              .confidence_negative = json.at("confidence").at("negative"),
              .agreement = pairsFrom(json, "agreement")};
  if (use.test_negative.size() != use.test_positive.size()) {
    throw DataError("the views of positives and negatives differ in depth");
  }
  return use;
}

ViewMetrics viewsFrom(const nlohmann::ordered_json& json) {
  return {.metric = json.at("metric"),
          .depth = json.at("valid").size(),
          .first_hops = json.value("first_hops", 1),
          .valid = matrixFrom(json.at("valid")),
          .best = {json.at("best").at(0), json.at("best").at(1)},
          .best_test = MetricSet::fromJson(json.at("best_test"))};
}

LearningSummary learningFrom(const nlohmann::ordered_json& json) {
  return {.input = json.at("input"),
          .parameters = json.at("parameters"),
          .epochs = json.at("epochs"),
          .best_epoch = json.at("best_epoch"),
          .steps = json.at("steps"),
          .refit_epochs = json.value("refit_epochs", std::int64_t{0})};
}

SplitSummary splitFrom(const nlohmann::ordered_json& split) {
  return {.kind = split.at("kind"),
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
}

// Text, or nothing where null is stored for it.
std::string textFrom(const nlohmann::ordered_json& json, const char* key) {
  return json.contains(key) && json.at(key).is_string() ? json.at(key).get<std::string>() : "";
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
  if (data) {
    json["data"] = data->toJson();
  }
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
  run.recipe = textFrom(json, "recipe");
  run.apply = textFrom(json, "apply");
  run.split = splitFrom(json.at("split"));
  run.audit = AuditReport::fromJson(json.at("audit"));
  run.valid = MetricSet::fromJson(json.at("valid"));
  run.test = MetricSet::fromJson(json.at("test"));
  if (json.contains("data")) {
    run.data = DatasetFacts::fromJson(json.at("data"));
  }
  if (json.contains("learning")) {
    run.learning = learningFrom(json.at("learning"));
  }
  if (json.contains("views")) {
    run.views = useFrom(json.at("views"));
  }
  if (json.contains("by_view")) {
    run.by_view = viewsFrom(json.at("by_view"));
  }
  run.chosen = pairsFrom(json, "chosen");
  run.time = pairsFrom(json, "time");
  if (json.contains("memory")) {
    run.peak_bytes = json.at("memory").value("peak_bytes", std::uint64_t{0});
    run.peak_device_bytes = json.at("memory").value("peak_device_bytes", std::uint64_t{0});
  }
  return run;
}

std::string RunMetrics::label() const {
  return selector == "none" ? model : model + " " + selector;
}

}  // namespace edgewise
