#include "predict_text.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "edgewise/util/text.h"

namespace edgewise::app {
namespace {

constexpr std::size_t kBuffer = 1 << 16;

nlohmann::ordered_json partsJson(std::span<const std::pair<std::string, std::size_t>> parts) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [name, count] : parts) {
    json[name] = count;
  }
  return json;
}

}  // namespace

PredictionWriter::PredictionWriter(const Dataset& dataset, PredictionFormat format, Sink sink,
                                   const nlohmann::ordered_json& about)
    : dataset_(dataset), format_(format), sink_(std::move(sink)) {
  if (format_.json) {
    buffer_ = about.dump(2);
    // The list of predictions goes into the same object, as its last member.
    buffer_.erase(buffer_.find_last_of('}'));
    buffer_.erase(buffer_.find_last_not_of('\n') + 1);
    buffer_ += ",\n  \"predictions\": [";
    return;
  }
  buffer_ = "source,target,score,rank";
  buffer_ += format_.probability ? ",probability" : "";
  buffer_ += format_.views ? ",hops_source,hops_target" : "";
  buffer_ += format_.known ? ",known\n" : "\n";
}

void PredictionWriter::add(std::span<const Prediction> predictions) {
  for (const Prediction& prediction : predictions) {
    format_.json ? addJson(prediction) : addCsv(prediction);
    if (buffer_.size() >= kBuffer) {
      flush();
    }
  }
}

void PredictionWriter::addCsv(const Prediction& prediction) {
  fmt::format_to(
      std::back_inserter(buffer_), "{},{},{},{}", csvField(dataset_.nodeLabel(prediction.pair.src)),
      csvField(dataset_.nodeLabel(prediction.pair.dst)), prediction.score, prediction.rank);
  if (format_.probability) {
    fmt::format_to(std::back_inserter(buffer_), ",{:.6g}", prediction.probability.value_or(0));
  }
  if (format_.views) {
    const HopPair view = prediction.view.value_or(HopPair{0, 0});
    fmt::format_to(std::back_inserter(buffer_), ",{},{}", view.source, view.target);
  }
  if (format_.known) {
    buffer_ += "," + prediction.known;
  }
  buffer_ += '\n';
}

void PredictionWriter::addJson(const Prediction& prediction) {
  nlohmann::ordered_json json;
  json["source"] = dataset_.nodeLabel(prediction.pair.src);
  json["target"] = dataset_.nodeLabel(prediction.pair.dst);
  json["score"] = prediction.score;
  json["rank"] = prediction.rank;
  if (prediction.probability) {
    json["probability"] = *prediction.probability;
  }
  if (prediction.view) {
    json["view"] = {{"source", prediction.view->source}, {"target", prediction.view->target}};
  }
  if (format_.known) {
    json["known"] = prediction.known.empty() ? nlohmann::ordered_json(nullptr)
                                             : nlohmann::ordered_json(prediction.known);
  }
  buffer_ += first_ ? "\n    " : ",\n    ";
  buffer_ += json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  first_ = false;
}

void PredictionWriter::close() {
  if (format_.json) {
    buffer_ += first_ ? "]\n}\n" : "\n  ]\n}\n";
  }
  flush();
}

void PredictionWriter::flush() {
  sink_(buffer_);
  buffer_.clear();
}

nlohmann::ordered_json predictorJson(const StoredRun& run, const LinkPredictor& predictor) {
  nlohmann::ordered_json json;
  json["run"] = run.folder.string();
  json["model"] = run.options.model;
  json["selector"] = isHeuristic(run.options.model)
                         ? nlohmann::ordered_json(nullptr)
                         : nlohmann::ordered_json(run.options.network.selector.kind);
  json["messages"] = {{"carried", partsJson(predictor.graph().carrying)},
                      {"left_out", partsJson(predictor.graph().silent)}};
  if (const auto& calibration = predictor.calibration()) {
    json["probability"] = {{"method", calibration->method()},
                           {"links", calibration->links()},
                           {"non_links", calibration->others()}};
  } else {
    json["probability"] = nullptr;
  }
  return json;
}

}  // namespace edgewise::app
