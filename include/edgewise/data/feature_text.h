// Node features and class labels in text form: CSV tables (dense) and svmlight files (sparse).
// Every error names file and line, and the column where there is one. Files may be gzipped;
// comments, quotes and delimiters are as in edge lists (edge_list.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "edgewise/data/feature_matrix.h"
#include "edgewise/data/id_map.h"
#include "edgewise/data/text_options.h"

namespace edgewise {

// Where the feature indices of svmlight files start. `kAuto`: at 0 when the file has an index 0,
// else at 1, as the format has it.
enum class IndexBase : std::uint8_t { kAuto, kZero, kOne };

// "auto", "0" or "1". Throws ConfigError otherwise.
[[nodiscard]] IndexBase parseIndexBase(std::string_view name);

struct FeatureTextOptions {
  // CSV only, as are the next three.
  Delimiter delimiter = Delimiter::kAuto;
  HeaderRule header = HeaderRule::kAuto;
  // The nodes of the graph. A CSV row goes to the node that its id column names; each node needs
  // exactly one row. Without it, ids (if any) are row numbers from 0. Not owned.
  const IdMap* ids = nullptr;
  // The column of node ids, by header name or 1-based number; "none" for no such column. Empty: the
  // first column if the header calls it id, node, node_id, nodeid, name or nothing, or if `ids`
  // holds labels; else none.
  // NOLINTNEXTLINE(readability-redundant-member-init): GCC warns where it is left out
  std::string id_column{};
  // svmlight only, as is the next one.
  IndexBase index_base = IndexBase::kAuto;
  // The width of the matrix; 0: as the largest index says.
  std::size_t column_count = 0;
};

// Most feature columns an svmlight file may name: a bound on what one damaged index can ask for.
inline constexpr std::size_t kMaxFeatureColumns = std::size_t{1} << 24;

// A dense matrix, rows by node: by id where there is an id column, else in file order. The first
// row is a header if it is not numeric while the rows below are, or if it counts the columns
// (0,1,2,3,... as data frames are often saved), or as the option says.
// Throws DataError for a file without rows or features, ragged rows, values that are not finite
// numbers, ids that are unknown, repeated or missing; ConfigError for an unknown id column.
[[nodiscard]] FeatureMatrix readFeaturesCsv(const std::filesystem::path& path,
                                            const FeatureTextOptions& options = {});

// A sparse matrix in file order from lines "label index:value index:value ... # comment". The label
// (any text without a colon) may be absent and is not used, nor is a "qid:" entry.
// Throws DataError for a file without features, entries that are not index:value, values that are
// not finite, an index below the base, repeated in its row, or beyond the width.
[[nodiscard]] FeatureMatrix readFeaturesSvmlight(const std::filesystem::path& path,
                                                 const FeatureTextOptions& options = {});

// Class labels from a table with the header `node,label` (or two columns without one): integers,
// -1 for no label, in any order. Nodes that are not listed get -1. Throws DataError for a node that
// is repeated or not below `node_count`, and for a label that is no integer from -1 up.
[[nodiscard]] std::vector<std::int32_t> readLabelsCsv(const std::filesystem::path& path,
                                                      std::size_t node_count);

}  // namespace edgewise
