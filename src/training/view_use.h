// How chosen views are spread over test pairs.
#pragma once

#include <span>

#include "edgewise/data/dataset.h"
#include "edgewise/data/edge_table.h"
#include "edgewise/ops/view_pairs.h"
#include "edgewise/training/run_metrics.h"

namespace edgewise::detail {

// `views` are those of the positives, then of the negatives. At least one positive.
[[nodiscard]] ViewUse summariseViews(std::span<const LayerPair> views, std::size_t depth,
                                     const EdgeTable& positive, const Dataset& dataset);

// One row a view: counts and shares, as views.csv has them.
[[nodiscard]] std::string viewsText(const ViewUse& use);

}  // namespace edgewise::detail
