#include "evaluation/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "edgewise/util/error.h"
#include "edgewise/util/parallel.h"

namespace edgewise {
namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;

template <class T>
void requireNumbersIn(std::span<const T> scores, std::string_view list, std::uint64_t first_index) {
  // The common case is a plain reduction; the place is looked for only when there is one.
  unsigned nan_seen = 0;
  for (const T score : scores) {
    nan_seen |= std::isnan(score) ? 1U : 0U;
  }
  if (nan_seen == 0) {
    return;
  }
  const auto found = std::ranges::find_if(scores, [](T score) { return std::isnan(score); });
  failNotANumber(list, first_index + static_cast<std::uint64_t>(found - scores.begin()));
}

}  // namespace

void failNotANumber(std::string_view list, std::uint64_t index) {
  throw DataError(fmt::format("{}[{}] is not a number (NaN), so it has no rank", list, index),
                  "a diverged model gives such scores: try a lower learning rate");
}

void requireNumbers(ScoreSpan scores, std::string_view list, std::uint64_t first_index) {
  scores.visit([&](auto values) {
    parallelFor(values.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      requireNumbersIn(values.subspan(begin, end - begin), list, first_index + begin);
    });
  });
}

void requirePositiveK(std::size_t k) {
  if (k == 0) {
    throw ConfigError("a metric at K = 0 means nothing", "choose K of at least 1");
  }
}

void requirePositives(std::uint64_t positives, std::string_view metric) {
  if (positives == 0) {
    throw DataError(fmt::format("{} needs positives and there are none", metric),
                    "check that the split has edges to evaluate");
  }
}

void requireBothClasses(const BinaryRanking& ranking, std::string_view metric) {
  requirePositives(ranking.positiveCount(), metric);
  if (ranking.negativeCount() == 0) {
    throw DataError(fmt::format("{} needs negatives and there are none", metric),
                    "draw negatives for the split");
  }
}

}  // namespace edgewise
