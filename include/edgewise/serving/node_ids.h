// From the ids a user types to nodes, with help when they are not there.
#pragma once

#include <string_view>

#include "edgewise/data/dataset.h"
#include "edgewise/graph/types.h"

namespace edgewise {

// "U,V" -> the pair of these two nodes; of users and items the user stands first. An id may hold
// commas itself, and may stand in double quotes as in a CSV file. Throws ConfigError for text that
// is no pair, can be read as two different ones, names a node that is not there (with the nearest
// that is) or the same node twice.
[[nodiscard]] Edge findPair(const Dataset& dataset, std::string_view text);

}  // namespace edgewise
