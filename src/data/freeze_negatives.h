// Drawing the non-edges that validation and test are measured against.
#pragma once

#include "edgewise/data/dataset.h"
#include "edgewise/data/link_split.h"
#include "edgewise/util/progress.h"

namespace edgewise::detail {

// Fills the negatives of both held-out sets. They are drawn by exact rejection against every known
// edge, and those of the pool kind are distinct across validation and test.
void freezeNegatives(const Dataset& dataset, const NegativeSettings& settings, LinkSplit& split,
                     ProgressSink& progress);

}  // namespace edgewise::detail
