// Edge lists as people have them: CSV, TSV or columns kept apart by spaces, with or without a
// header, gzipped or not, with node numbers or any text as ids. Large lists of integers are read at
// the speed of memory: the file is mapped, cut at line ends and parsed in parallel.
//
// The format: one edge a line. Lines that start with # or % are comments, blank lines are skipped,
// a UTF-8 byte order mark and carriage returns are ignored. A field may be quoted ("Smith, John"; a
// doubled quote stands for one), but must end on its line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "edgewise/data/raw_edges.h"
#include "edgewise/data/text_options.h"
#include "edgewise/util/progress.h"

namespace edgewise {

// What the ids in a file are. `kNumber`: node numbers from 0. `kLabel`: any text; nodes are
// numbered by first appearance, row by row, source before target. `kAuto`: numbers when every id is
// a plain integer (no sign, no leading zero) and the largest is below max(1024, 4 x rows), which
// keeps a list of large account numbers from making millions of empty nodes; labels otherwise.
enum class IdRule : std::uint8_t { kAuto, kNumber, kLabel };

// "auto", "number" or "label". Throws ConfigError otherwise.
[[nodiscard]] IdRule parseIdRule(std::string_view name);

struct EdgeListOptions {
  Delimiter delimiter = Delimiter::kAuto;
  HeaderRule header = HeaderRule::kAuto;
  // Columns by header name or 1-based number. Empty: source and target are the columns that the
  // header names as a known pair (src,dst; source,target; from,to; u,v; user,item; ...), else the
  // first two; weight and time are those that the header calls so (weight, w; time, timestamp,
  // year, date, ...), else absent. "none" switches weight or time off.
  // NOLINTBEGIN(readability-redundant-member-init): GCC warns of {.ids = ...} without them
  std::string source_column{};
  std::string target_column{};
  std::string weight_column{};
  std::string time_column{};
  // NOLINTEND(readability-redundant-member-init)
  IdRule ids = IdRule::kAuto;
  // How many nodes there are (left ones in a bipartite list); makes ids numbers. Without it the
  // largest number decides.
  std::optional<std::size_t> node_count = std::nullopt;
  // The same for the right column of a bipartite list.
  std::optional<std::size_t> right_node_count = std::nullopt;
  // Source and target are two kinds of node, each with its own ids (RawEdges::right_ids). `kAuto`
  // then decides for each kind by itself.
  bool bipartite = false;
  // How much text one task parses. The result does not depend on it.
  std::size_t chunk_bytes = std::size_t{4} << 20;
};

// Reads every row as it stands: self-loops and repeats included, in file order. Weights must be
// finite and not negative; times finite numbers, or all of them ISO dates (2020-01-31, optionally
// with T12:30 or T12:30:59), which become days since 1970-01-01. Columns that are not used are
// mentioned in `notes`.
// Throws DataError with file and line for what does not fit (the first in file order), for a file
// without edges, and for one that cannot be read; ConfigError for an option that does not fit the
// file (the nearest column name is suggested).
[[nodiscard]] RawEdges readEdgeList(const std::filesystem::path& path,
                                    const EdgeListOptions& options = {},
                                    ProgressSink& progress = silentProgress());

}  // namespace edgewise
