// From the ids a user types to nodes, with help when they are not there.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "edgewise/data/dataset.h"
#include "edgewise/graph/types.h"
#include "edgewise/util/progress.h"

namespace edgewise {

// "U,V" -> the pair of these two nodes; of users and items the user stands first. An id may hold
// commas itself, and may stand in double quotes as in a CSV file. Throws ConfigError for text that
// is no pair, can be read as two different ones, names a node that is not there (with the nearest
// that is) or the same node twice.
[[nodiscard]] Edge findPair(const Dataset& dataset, std::string_view text);

// The node of this id; of users and items a user, or else an item. Throws ConfigError, with the
// nearest id, when there is none.
[[nodiscard]] NodeId findNode(const Dataset& dataset, std::string_view id);

// Pairs from a file in any form that edge lists have ("-": standard input), in its order; further
// columns are not looked at. A first row of two ids that nobody has is a header. Throws
// DataError, with the row, for an id that is not there or a node paired with itself.
[[nodiscard]] std::vector<Edge> readPairs(const Dataset& dataset, const std::filesystem::path& path,
                                          ProgressSink& progress = silentProgress());

}  // namespace edgewise
