#include "edgewise/training/training_state.h"

#include <ATen/Functions.h>
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "edgewise/training/tensor_file.h"
#include "edgewise/util/error.h"

namespace edgewise {
namespace {

nlohmann::ordered_json pointJson(const CurvePoint& point) {
  return {{"epoch", point.epoch},        {"steps", point.steps},
          {"loss", point.loss},          {"lr", point.learning_rate},
          {"norm", point.gradient_norm}, {"valid", point.valid.toJson()},
          {"seconds", point.seconds}};
}

CurvePoint pointFrom(const nlohmann::ordered_json& json) {
  return {.epoch = json.at("epoch"),
          .steps = json.at("steps"),
          .loss = json.at("loss"),
          .learning_rate = json.at("lr"),
          .gradient_norm = json.at("norm"),
          .valid = MetricSet::fromJson(json.at("valid")),
          .seconds = json.at("seconds")};
}

std::int64_t selectorSteps(const TrainingState& state) {
  return state.selector ? state.selector->adam.steps() : 0;
}

nlohmann::ordered_json progressJson(const TrainingState& state) {
  nlohmann::ordered_json json = {{"epoch", state.epoch},
                                 {"batch", state.batch},
                                 {"steps", state.steps},
                                 {"adam_steps", state.adam.steps()},
                                 {"selector_steps", selectorSteps(state)},
                                 {"loss_sum", state.loss_sum},
                                 {"norm_sum", state.norm_sum},
                                 {"best_value", state.best_value},
                                 {"best_epoch", state.best_epoch},
                                 {"finished", state.finished},
                                 {"step_seconds", state.step_seconds},
                                 {"timed_seconds", state.timed_seconds},
                                 {"timed_steps", state.timed_steps},
                                 {"seconds", state.seconds}};
  json["curve"] = nlohmann::ordered_json::array();
  for (const CurvePoint& point : state.curve) {
    json["curve"].push_back(pointJson(point));
  }
  return json;
}

void readProgress(const nlohmann::ordered_json& json, TrainingState& state) {
  state.epoch = json.at("epoch");
  state.batch = json.at("batch");
  state.steps = json.at("steps");
  state.loss_sum = json.at("loss_sum");
  state.norm_sum = json.at("norm_sum");
  state.best_value = json.at("best_value");
  state.best_epoch = json.at("best_epoch");
  state.finished = json.at("finished");
  state.step_seconds = json.at("step_seconds");
  state.timed_seconds = json.value("timed_seconds", 0.0);
  state.timed_steps = json.value("timed_steps", std::int64_t{0});
  state.seconds = json.at("seconds");
  state.curve.clear();
  for (const auto& point : json.at("curve")) {
    state.curve.push_back(pointFrom(point));
  }
}

at::Tensor tensorIfThere(const TensorFile& file, const std::string& name, std::int64_t size) {
  return file.has(name) ? file.tensor(name, {size}) : at::Tensor();
}

// A running average goes on where the parameters are.
at::Tensor averageFrom(const TensorFile& file, const std::string& name,
                       const Parameters& parameters) {
  const at::Tensor stored = tensorIfThere(file, name, parameters.size());
  return stored.defined() ? stored.to(parameters.flat().options()) : stored;
}

void addIfDefined(std::vector<NamedTensor>& tensors, const std::string& name,
                  const at::Tensor& tensor) {
  if (tensor.defined()) {
    tensors.push_back({name, tensor});
  }
}

void loadSelector(const TensorFile& file, std::int64_t steps, SelectorState& state) {
  const std::int64_t size = state.parameters.size();
  state.parameters.flat().copy_(file.tensor("selector.parameters", {size}));
  state.adam.restore(file.tensor("selector.adam.first", {size}),
                     file.tensor("selector.adam.second", {size}), steps);
  state.averaged = averageFrom(file, "selector.averaged", state.parameters);
  state.best = tensorIfThere(file, "selector.best", size);
}

// There is no other copy of one to go back to.
TensorFile readCheckpoint(const std::filesystem::path& path) {
  try {
    return TensorFile::read(path);
  } catch (const DataError& error) {
    throw DataError(error.what(), "remove this file, and what it stood for is learned once more");
  }
}

}  // namespace

void saveState(const std::filesystem::path& path, const TrainingState& state,
               const std::string& run) {
  std::vector<NamedTensor> tensors = {{"parameters", state.parameters.flat()},
                                      {"adam.first", state.adam.firstMoment()},
                                      {"adam.second", state.adam.secondMoment()}};
  addIfDefined(tensors, "averaged", state.averaged);
  addIfDefined(tensors, "best", state.best);
  if (state.selector) {
    tensors.push_back({"selector.parameters", state.selector->parameters.flat()});
    tensors.push_back({"selector.adam.first", state.selector->adam.firstMoment()});
    tensors.push_back({"selector.adam.second", state.selector->adam.secondMoment()});
    addIfDefined(tensors, "selector.averaged", state.selector->averaged);
    addIfDefined(tensors, "selector.best", state.selector->best);
  }
  writeTensors(path, tensors, {{"run", run}, {"progress", progressJson(state).dump()}});
}

void loadState(const std::filesystem::path& path, TrainingState& state, const std::string& run) {
  const TensorFile file = readCheckpoint(path);
  if (file.text("run") != run) {
    throw DataError(FilePlace{path}, "belongs to a run with other options, data or version",
                    "start again with --overwrite, or restore what the run was made with");
  }
  const std::int64_t size = state.parameters.size();
  try {
    const auto progress = nlohmann::ordered_json::parse(file.text("progress"));
    readProgress(progress, state);
    state.parameters.flat().copy_(file.tensor("parameters", {size}));
    state.adam.restore(file.tensor("adam.first", {size}), file.tensor("adam.second", {size}),
                       progress.at("adam_steps"));
    if (state.selector) {
      loadSelector(file, progress.at("selector_steps"), *state.selector);
    }
    state.averaged = averageFrom(file, "averaged", state.parameters);
    state.best = tensorIfThere(file, "best", size);
  } catch (const nlohmann::json::exception& error) {
    throw DataError(FilePlace{path}, fmt::format("is damaged ({})", error.what()),
                    "start again with --overwrite");
  }
}

}  // namespace edgewise
