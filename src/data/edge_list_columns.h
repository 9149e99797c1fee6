// Which columns of an edge list mean what: by option, by header name, by position.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/edge_list_rows.h"
#include "data/text_table.h"
#include "edgewise/data/edge_list.h"

namespace edgewise {

// Lower-case column names by which the header of an edge list is known.
[[nodiscard]] std::span<const std::string_view> knownEdgeColumns();

// Throws ConfigError for an unknown column or one with two roles, DataError for a file of a single
// column. Appends a remark for columns that are left out and for choices the user may not expect.
[[nodiscard]] EdgeColumns chooseEdgeColumns(const TextFile& file, const TableLayout& layout,
                                            const EdgeListOptions& options,
                                            std::vector<std::string>& notes);

}  // namespace edgewise
