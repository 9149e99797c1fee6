// A dataset in a few lines, for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "edgewise/data/dataset.h"

namespace edgewise::app {

// "cora: 2,708 nodes, 5,278 edges, 1,433 features (49,216 nonzeros), data 1a2b3c4d5e6f", then one
// line a remark.
[[nodiscard]] std::string describeDataset(const Dataset& dataset);
[[nodiscard]] nlohmann::ordered_json datasetJson(const Dataset& dataset);

}  // namespace edgewise::app
