// A page of documentation whose tables are made from stored results. A table stands between two
// comments, the first of which says what it is:
//
//   <!-- results: against-paper table:planetoid -->
//   ...
//   <!-- /results -->
//
// against-paper TABLE     every cell of a table of the paper beside ours with `paper` and `best`
// controls RECIPE MODEL [TABLE]   what ps2 is compared with, on the data of a table of the paper
//                         (Planetoid), and what it gains
// search MODEL            the paper's own search, its ways of application, and its leak
// mean MODEL              recipe `best` with every view by itself, averaged
// planted                 recipe `best` on the graph that is made so that views pay
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "edgewise/experiments/result_book.h"

namespace edgewise {

struct PageUpdate {
  std::string text = {};
  std::size_t blocks = 0;
  bool changed = false;
};

// The page with its tables made anew; everything else stays as it is. Throws DataError, with the
// line, for a table that is not known or does not end.
[[nodiscard]] PageUpdate updateResultsPage(const std::filesystem::path& page,
                                           const ResultBook& book);
void writeResultsPage(const std::filesystem::path& page, const PageUpdate& update);

}  // namespace edgewise
