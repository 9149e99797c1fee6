// The cutting itself: which edge gets which role, before negatives are drawn.
#pragma once

#include <cstdint>

#include "edgewise/data/dataset.h"
#include "edgewise/data/link_split.h"

namespace edgewise::detail {

// Shares after defaults: 5% and 10%, or 10% and 20% of each user's interactions.
struct SplitShares {
  double valid;
  double test;
};

// "auto" resolved: official where published, per_user for bipartite data, else random.
[[nodiscard]] std::string resolveSplitKind(const Dataset& dataset, const SplitOptions& options);
[[nodiscard]] SplitShares resolveShares(const SplitOptions& options, std::string_view kind);

// Fills every role but the negatives and the hash.
[[nodiscard]] LinkSplit cutPositives(const Dataset& dataset, const SplitOptions& options,
                                     std::uint64_t seed);

}  // namespace edgewise::detail
