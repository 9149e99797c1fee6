// What an edge reader hands on: the rows of the file as they stand (repeats, loops and all),
// numbered, with the map back to the user's ids. Cleaning is the next step's (makeDataset).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "edgewise/data/edge_table.h"
#include "edgewise/data/id_map.h"

namespace edgewise {

struct RawEdges {
  EdgeTable table;
  // Ids of the nodes; in a bipartite list, of the left column (users).
  IdMap ids;
  // Bipartite lists only: ids of the right column. Then `dst` counts from 0 within the right side.
  std::optional<IdMap> right_ids;
  // Remarks for the user ("third column ignored"), each one line.
  std::vector<std::string> notes;
};

}  // namespace edgewise
