// The Planetoid citation graphs (Cora, CiteSeer, PubMed) in the form they were published: eight
// files ind.<name>.*, seven of them Python 2 pickles.
#pragma once

#include <filesystem>
#include <string>

#include "edgewise/data/dataset.h"

namespace edgewise {

// Reads ind.<name>.{x,tx,allx,y,ty,ally,graph,test.index}, each plain or as .gz, from `folder` or
// its subfolder raw.
//
// Rows of tx and ty go to the nodes that test.index names. Nodes without features (CiteSeer has
// some) get an empty row and the label -1. The adjacency lists name every edge at both of its ends,
// a self-loop twice at its one node; each edge becomes one raw row here, once for every time the
// lists repeat it, sorted by (src, dst) with src <= dst. Throws DataError for a missing or damaged
// file, or files that do not fit together.
[[nodiscard]] DatasetParts readPlanetoid(const std::filesystem::path& folder,
                                         const std::string& name);

}  // namespace edgewise
