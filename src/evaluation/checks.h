// The checks that metrics share, so that the same mistake reads the same everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "edgewise/evaluation/binary_ranking.h"
#include "edgewise/evaluation/score_span.h"

namespace edgewise {

// Throws DataError "negatives[3] is not a number ...", counting indices from `first_index`.
void requireNumbers(ScoreSpan scores, std::string_view list, std::uint64_t first_index = 0);

// Throws that DataError.
[[noreturn]] void failNotANumber(std::string_view list, std::uint64_t index);

// Throws ConfigError for k = 0.
void requirePositiveK(std::size_t k);

// Each throws a DataError that names the metric and the missing class.
void requirePositives(std::uint64_t positives, std::string_view metric);
void requireBothClasses(const BinaryRanking& ranking, std::string_view metric);

}  // namespace edgewise
