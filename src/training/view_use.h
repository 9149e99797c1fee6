// How chosen views are spread over test pairs.
#pragma once

#include <memory>
#include <string>

#include "edgewise/data/dataset.h"
#include "edgewise/data/edge_table.h"
#include "edgewise/training/pair_model.h"
#include "edgewise/training/run_metrics.h"
#include "edgewise/views/view_choice.h"
#include "edgewise/views/view_chooser.h"

namespace edgewise::detail {

// `choice` is that of the positives, then of the negatives. At least one positive.
[[nodiscard]] ViewUse summariseViews(const ViewChoices& choice, const PairModel& model,
                                     const EdgeTable& positive, const Dataset& dataset);

// Tells every pair's view by what is known of its ends. Throws ConfigError when the data tell
// nothing of the kind, or views deeper than `depth`.
[[nodiscard]] std::shared_ptr<const ViewChooser> oracleChooser(const Dataset& dataset,
                                                               std::size_t depth);

// One row a view: counts and shares, as views.csv has them.
[[nodiscard]] std::string viewsText(const ViewUse& use);

}  // namespace edgewise::detail
