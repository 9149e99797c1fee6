// The plain numeric CSV of OGB: no quotes, no blanks, no missing cells. A loop of its own because
// the larger files have hundreds of millions of characters.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "edgewise/data/feature_matrix.h"
#include "edgewise/graph/types.h"

namespace edgewise {

// All of these read `path` plain or gzip'd and throw DataError naming file and line.

// The one whole number of a count file.
[[nodiscard]] std::size_t readCount(const std::filesystem::path& path);
// Rows `src,dst` with ids below `node_count`. A first line that does not start with a digit is a
// header.
[[nodiscard]] std::vector<Edge> readEdgeRows(const std::filesystem::path& path,
                                             std::size_t node_count);
// One finite number a line.
[[nodiscard]] std::vector<double> readNumberColumn(const std::filesystem::path& path);
// Rows of finite numbers, all of the same length, as dense features.
[[nodiscard]] FeatureMatrix readNumberRows(const std::filesystem::path& path);

}  // namespace edgewise
