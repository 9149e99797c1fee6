#include "views/model_input.h"

#include <fmt/format.h>

#include "edgewise/util/count_text.h"
#include "edgewise/util/error.h"
#include "edgewise/util/text.h"

namespace edgewise::detail {
namespace {

// Width of the embedding to learn; 0 for none.
std::int64_t embeddingWidth(const ModelOptions& options, const FeatureMatrix& features) {
  if (options.features == "given" || (options.features == "auto" && !features.empty())) {
    if (features.empty()) {
      throw ConfigError("model.features is 'given', but the data has no features",
                        "give --features FILE, or set model.features=embedding");
    }
    return 0;
  }
  if (options.features == "none") {
    throw ConfigError("model.features=none leaves the encoder nothing to look at",
                      "choose another, or --model seal, which can look at labels alone");
  }
  return options.embedding;
}

std::string describeInput(const FeatureMatrix& features, std::int64_t embedding) {
  std::string learned = fmt::format("a learned embedding of {}", embedding);
  if (features.empty()) {
    return learned;
  }
  const std::string given = countText(features.columns(), "feature");
  return embedding > 0 ? given + " and " + learned : given;
}

}  // namespace

ModelInput makeModelInput(const ModelOptions& options, const NodeSide& nodes,
                          ParameterLayout& layout) {
  static const FeatureMatrix no_features;
  const FeatureMatrix& features = options.features == "embedding" ? no_features : nodes.features;
  const std::int64_t embedding = embeddingWidth(options, features);
  return {.input = std::make_shared<const NodeInput>(
              features, nodes.nodes,
              NodeInputOptions{.embedding = embedding,
                               .normalise_rows = options.normalise_features,
                               .half = options.feature_precision == "half",
                               .dropout = options.input_dropout,
                               .start = options.embedding_start},
              layout),
          .text = describeInput(features, embedding),
          .embedding = embedding};
}

}  // namespace edgewise::detail
