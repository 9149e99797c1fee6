#include "edgewise/training/stored_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "edgewise/training/pair_model.h"
#include "edgewise/training/tensor_file.h"
#include "edgewise/util/error.h"
#include "edgewise/util/file.h"
#include "edgewise/util/version.h"
#include "training/view_use.h"

namespace edgewise {
namespace {

// Parameters of the encoder that the selector looks through, in the model's file.
constexpr const char* kSearchPrefix = "search.";
// Those that validated before the model was trained anew.
constexpr const char* kValidatedPrefix = "validated.";

void addTensors(const Parameters& parameters, const ParameterLayout& layout,
                const std::string& prefix, std::vector<NamedTensor>& tensors) {
  std::size_t i = 0;
  for (const ParameterLayout::Entry& entry : layout.entries()) {
    tensors.push_back({prefix + entry.name, parameters.tensors()[i++]});
  }
}

Parameters readParameters(const TensorFile& file, const std::string& prefix,
                          const ParameterLayout& layout) {
  Parameters parameters = Parameters::initial(layout, 0);
  for (const ParameterLayout::Entry& entry : layout.entries()) {
    parameters.flat()
        .narrow(0, entry.offset, entry.size)
        .copy_(file.tensor(prefix + entry.name, entry.shape).reshape({-1}));
  }
  return parameters;
}

[[noreturn]] void throwOther(const std::filesystem::path& path, const std::string& what) {
  throw DataError(FilePlace{path}, "belongs to another run: " + what,
                  "put back the file that this run wrote, or train again");
}

// Where the data lies is not compared: its hash is, and folders move.
nlohmann::json comparable(const RunOptions& options) {
  nlohmann::json json = decidingOptions(options);
  json.erase("data");
  return json.flatten();
}

RunOptions storedOptions(const TensorFile& file, const std::filesystem::path& path) {
  RunOptions options;
  const std::string& text = file.text("options");
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  try {
    options.bind().setAll(json, path.string());
  } catch (const ConfigError& error) {
    throw DataError(error.what(), "was it made by another version? run the training again");
  }
  return options;
}

std::string dotted(std::string pointer) {
  pointer.erase(0, 1);
  std::ranges::replace(pointer, '/', '.');
  return pointer;
}

void requireOrigin(const TensorFile& file, const ModelOrigin& origin,
                   const std::filesystem::path& path) {
  if (file.text("data_hash") != origin.data_hash) {
    throwOther(path, "it was trained on other data");
  }
  const nlohmann::json stored = comparable(storedOptions(file, path));
  const nlohmann::json expected = comparable(origin.options);
  for (const auto& [key, value] : expected.items()) {
    if (stored.at(key) != value) {
      throwOther(path, fmt::format("it was trained with {}={}, options.json says {}", dotted(key),
                                   stored.at(key).dump(), value.dump()));
    }
  }
  if (file.text("split_hash") != origin.split_hash) {
    throwOther(path, "it was trained on another split");
  }
}

// `searched` is the model that a selector looks through, where there is one.
ModelWeights readWeights(const std::filesystem::path& folder, const ParameterLayout& layout,
                         const LinkModel* searched, const ModelOrigin& origin) {
  const std::filesystem::path path = folder / kModelFile;
  if (!isThere(path)) {
    throw DataError(FilePlace{path}, "is missing: this run has no trained model",
                    "put it back, or train again");
  }
  const TensorFile file = TensorFile::read(path);
  requireOrigin(file, origin, path);
  ModelWeights weights;
  weights.model = readParameters(file, "", layout);
  if (searched != nullptr) {
    weights.search = readParameters(file, kSearchPrefix, searched->layout());
    weights.selector = readParameters(file, "", searched->selectorLayout());
  }
  if (origin.options.training.refit) {
    weights.validated = readParameters(file, kValidatedPrefix, layout);
  }
  return weights;
}

// Views that nothing was learned about.
std::shared_ptr<const ViewChooser> chooserByRule(std::size_t depth, const RunOptions& options,
                                                 const Dataset& dataset) {
  if (options.network.selector.kind == "oracle") {
    return detail::oracleChooser(dataset, depth);
  }
  return makeRandomChooser(static_cast<std::uint64_t>(options.seed), depth,
                           !dataset.hasOrderedPairs());
}

}  // namespace

LinkModel makeModel(const Dataset& dataset, const RunOptions& options) {
  return {options.model, options.network,
          NodeSide{dataset.features, dataset.node_count, dataset.hasOrderedPairs()}};
}

void writeModel(const std::filesystem::path& folder, const PairModel& model,
                const ModelWeights& weights, ModelOrigin origin) {
  std::vector<NamedTensor> tensors;
  addTensors(weights.model, model.layout(), "", tensors);
  if (const LinkModel* searched = model.searched()) {
    addTensors(weights.search, searched->layout(), kSearchPrefix, tensors);
    addTensors(weights.selector, searched->selectorLayout(), "", tensors);
  }
  if (origin.options.training.refit) {
    addTensors(weights.validated, model.layout(), kValidatedPrefix, tensors);
  }
  writeTensors(folder / kModelFile, tensors,
               {{"format", "edgewise"},
                {"version", versionText()},
                {"options", origin.options.bind().toJson().dump()},
                {"data_hash", origin.data_hash},
                {"split_hash", origin.split_hash}});
}

ModelWeights readModel(const std::filesystem::path& folder, const LinkModel& model,
                       const ModelOrigin& origin) {
  return readWeights(folder, model.layout(), model.selector() != nullptr ? &model : nullptr,
                     origin);
}

ModelWeights readModel(const std::filesystem::path& folder, const PairModel& model,
                       const ModelOrigin& origin) {
  return readWeights(folder, model.layout(), model.searched(), origin);
}

std::shared_ptr<const ViewChooser> chooserOf(const LinkModel& model, const ModelWeights& weights,
                                             const RunOptions& options, const Dataset& dataset) {
  if (model.selector() != nullptr) {
    return makeSelectorChooser(model, weights.search.clone(), weights.selector.clone());
  }
  return model.decoder().choosesViews() ? chooserByRule(model.encoder().depth(), options, dataset)
                                        : nullptr;
}

std::shared_ptr<const ViewChooser> chooserOf(const PairModel& model, const ModelWeights& weights,
                                             const RunOptions& options, const Dataset& dataset) {
  if (const LinkModel* searched = model.searched()) {
    return chooserOf(*searched, weights, options, dataset);
  }
  return model.choosesViews() ? chooserByRule(model.depth(), options, dataset) : nullptr;
}

}  // namespace edgewise
