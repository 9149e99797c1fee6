// An explanation as people read it.
#pragma once

#include <optional>
#include <string>

#include "edgewise/report/text_table.h"
#include "edgewise/serving/explanation.h"

namespace edgewise::app {

// Score, view in words, both ends, what was known of the pair.
[[nodiscard]] TextTable explanationTable(const Explanation& explanation);
// Weights and scores of all views, hops around the source down and around the target across;
// nothing where one view is all there is.
[[nodiscard]] std::optional<TextTable> viewTable(const Explanation& explanation);
// What the numbers in that table are.
[[nodiscard]] std::string viewTableTitle(const Explanation& explanation);
// The nodes of the enclosing subgraph with labels, distances and neighbours, the first few; nothing
// where the score looks at the whole graph.
[[nodiscard]] std::optional<TextTable> subgraphTable(const Explanation& explanation);
// How large it is.
[[nodiscard]] std::string subgraphTitle(const ExplainedSubgraph& subgraph);
// The neighbours that mattered most; nothing where none did, or common neighbours say the same.
[[nodiscard]] std::optional<TextTable> neighbourTable(const Explanation& explanation);
// What that table shows, or why there is none; empty where they were not asked for or common
// neighbours say the same.
[[nodiscard]] std::string neighbourTitle(const Explanation& explanation);
// The nodes between the ends, the first few; nothing where there are none.
[[nodiscard]] std::optional<TextTable> commonTable(const Explanation& explanation);

}  // namespace edgewise::app
