// A dataset in a few numbers, as results and reports tell it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "edgewise/data/dataset.h"

namespace edgewise {

// Sizes of a published split.
struct OfficialSizes {
  std::size_t train = 0;
  std::size_t valid = 0;
  std::size_t test = 0;
  std::size_t valid_negative = 0;
  std::size_t test_negative = 0;
};

struct DatasetFacts {
  std::string name;
  std::size_t nodes = 0;
  std::size_t edges = 0;
  bool directed = false;
  // Columns and entries that are not zero; 0 without features.
  std::size_t features = 0;
  std::size_t nonzeros = 0;
  std::string hash;
  // What loading found and mended.
  std::size_t self_loops = 0;
  std::size_t duplicates = 0;
  std::size_t mirrored = 0;
  std::vector<std::string> remarks;
  std::optional<BipartiteShape> bipartite;
  std::optional<OfficialSizes> official;

  [[nodiscard]] nlohmann::ordered_json toJson() const;
  // Throws nlohmann's exceptions for JSON that is none.
  static DatasetFacts fromJson(const nlohmann::ordered_json& json);
};

[[nodiscard]] DatasetFacts factsOf(const Dataset& dataset);

}  // namespace edgewise
