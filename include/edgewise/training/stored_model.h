// A trained model as it lies in a run's folder: its weights, and who chooses views by them. The run
// writes it once; whatever answers from a trained model reads it here.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "edgewise/data/dataset.h"
#include "edgewise/nn/parameters.h"
#include "edgewise/training/run_options.h"
#include "edgewise/views/link_model.h"
#include "edgewise/views/view_chooser.h"

namespace edgewise {

class PairModel;

inline constexpr const char* kModelFile = "model.safetensors";

struct ModelWeights {
  Parameters model;
  // Where a selector chooses views: the weights it looks through, and its own; else empty.
  Parameters search;
  Parameters selector;
  // Where the model was trained anew with the validation edges: what those validated; else empty.
  Parameters validated;

  [[nodiscard]] ModelWeights to(at::Device device) const {
    return {model.to(device), search.to(device), selector.to(device), validated.to(device)};
  }
};

// What a model was made from; stored with it.
struct ModelOrigin {
  RunOptions options;
  std::string data_hash;
  std::string split_hash;
};

// The model that these options make for this data, where it encodes the whole graph. Throws
// ConfigError for options that do not go together.
[[nodiscard]] LinkModel makeModel(const Dataset& dataset, const RunOptions& options);

void writeModel(const std::filesystem::path& folder, const PairModel& model,
                const ModelWeights& weights, ModelOrigin origin);
// Throws DataError when the file is missing, damaged, or was made from something else than
// `origin`.
[[nodiscard]] ModelWeights readModel(const std::filesystem::path& folder, const LinkModel& model,
                                     const ModelOrigin& origin);
[[nodiscard]] ModelWeights readModel(const std::filesystem::path& folder, const PairModel& model,
                                     const ModelOrigin& origin);

// Who chooses the views of pairs; null where none are chosen. Refers to the model and
// copies what it needs of the weights.
[[nodiscard]] std::shared_ptr<const ViewChooser> chooserOf(const LinkModel& model,
                                                           const ModelWeights& weights,
                                                           const RunOptions& options,
                                                           const Dataset& dataset);
[[nodiscard]] std::shared_ptr<const ViewChooser> chooserOf(const PairModel& model,
                                                           const ModelWeights& weights,
                                                           const RunOptions& options,
                                                           const Dataset& dataset);

}  // namespace edgewise
