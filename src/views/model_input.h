// What nodes bring to a model, by its options.
#pragma once

#include <memory>
#include <string>

#include "edgewise/nn/node_input.h"
#include "edgewise/views/link_model.h"

namespace edgewise::detail {

struct ModelInput {
  std::shared_ptr<const NodeInput> input;
  // In words: "1433 features", "a learned embedding of 64".
  std::string text;
  // Width of what is learned; 0: nothing.
  std::int64_t embedding = 0;
};

// Throws ConfigError where the options ask for what the data does not have, or for nothing.
[[nodiscard]] ModelInput makeModelInput(const ModelOptions& options, const NodeSide& nodes,
                                        ParameterLayout& layout);

}  // namespace edgewise::detail
