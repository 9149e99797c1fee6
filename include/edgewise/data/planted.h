// A generated graph whose edges are known to need different views, so that a selector can be scored
// against the truth.
//
// Two kinds of nodes are to be linked, `near` and `far`, each in one of a few communities; target
// edges join nodes of the same community. Every one of them is claimed for two communities: by
// tags, its neighbours, and by beacons, two hops away behind relays. One claim is true and the
// other false; of near nodes the tags tell the truth, of far nodes the beacons. Which kind a node
// is, its badges say, two hops away as well, behind ushers: too far for an encoder of two layers to
// sort the claims by it, and just near enough for a selector. So near-near edges need view (1,1),
// far-far edges (2,2), and near-far edges one hop around one end and two around the other.
#pragma once

#include <cstdint>
#include <string>

#include "edgewise/data/dataset.h"
#include "edgewise/util/options.h"

namespace edgewise {

struct PlantedOptions {
  std::int64_t nodes = 4000;
  std::int64_t communities = 8;
  double target_degree = 2;
  double noise = 0.1;
  std::int64_t seed = 0;
  void bind(OptionSet& set);
};

// Makes the graph; the same options give the same bytes on any machine. Edge classes are near_near,
// near_far (src is the near end), far_far, and context (edges that carry messages and are never
// predicted).
[[nodiscard]] Dataset makePlanted(const PlantedOptions& options);

}  // namespace edgewise
