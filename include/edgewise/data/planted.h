// A generated graph whose edges are known to need different views, so that a selector can be scored
// against the truth.
//
// Two kinds of nodes are to be linked, `near` and `far`, each in one of a few communities; target
// edges join nodes of the same community. A near node tells its community by its own words, but its
// bridges lead, two hops away, to beacons of some other community: beyond the direct neighbourhood
// lies noise. A far node says nothing itself and its relays lie, but behind the relays, two hops
// away, stand beacons of its true community. So near-near edges need view (1,1), far-far edges need
// the second hop, and near-far edges need both at once.
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
