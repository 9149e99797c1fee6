// From what a user names (a known dataset, the planted graph, or files of their own) to a Dataset.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "edgewise/data/dataset.h"
#include "edgewise/data/planted.h"
#include "edgewise/util/options.h"
#include "edgewise/util/progress.h"

namespace edgewise {

struct DataOptions {
  std::string dataset;
  std::string edges;
  std::string features;
  std::string feature_id_column;
  bool bipartite = false;
  bool directed = false;
  std::string delimiter = "auto";
  std::string header = "auto";
  std::string source_column;
  std::string target_column;
  std::string weight_column;
  std::string time_column;
  std::string ids = "auto";
  std::int64_t nodes = 0;
  std::string source = "auto";
  bool verify = true;
  bool download = true;
  void bind(OptionSet& set);
};

// Loads `data.dataset` (a name of the catalogue, or "planted") or `data.edges`. Throws ConfigError
// when both or neither is given, or when options of one are used with the other.
[[nodiscard]] Dataset openDataset(const DataOptions& data, const PlantedOptions& planted,
                                  const std::filesystem::path& data_root,
                                  ProgressSink& progress = silentProgress());

}  // namespace edgewise
