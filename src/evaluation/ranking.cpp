#include "edgewise/evaluation/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "edgewise/evaluation/accurate_sum.h"
#include "edgewise/util/error.h"
#include "edgewise/util/parallel.h"
#include "evaluation/checks.h"

namespace edgewise {
namespace {

constexpr std::size_t kGrain = std::size_t{1} << 15;

template <class T>
RankCounts countBlock(double positive, std::span<const T> negatives) {
  // 32-bit counters keep the loop in vector registers; a block is far shorter than they can count.
  std::uint32_t greater = 0;
  std::uint32_t equal = 0;
  for (const T negative : negatives) {
    greater += static_cast<double>(negative) > positive ? 1U : 0U;
    equal += static_cast<double>(negative) == positive ? 1U : 0U;
  }
  return {greater, equal};
}

RankCounts countAll(double positive, ScoreSpan negatives) {
  return negatives.visit([&](auto scores) {
    if (scores.size() <= kGrain) {
      return countBlock(positive, scores);
    }
    std::vector<RankCounts> partial((scores.size() + kGrain - 1) / kGrain);
    parallelFor(scores.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      partial[begin / kGrain] = countBlock(positive, scores.subspan(begin, end - begin));
    });
    RankCounts total;
    for (const RankCounts& counts : partial) {
      total += counts;
    }
    return total;
  });
}

// The sum of 1/r for r in (from, to], where from is large enough for the asymptotic expansion of
// harmonic numbers: H(n) = ln n + gamma + 1/2n - 1/12n^2 + 1/120n^4 - 1/252n^6 + ...
double harmonicTail(double from, double to) {
  const auto correction = [](double n) {
    const double square = 1.0 / (n * n);
    return square * (-1.0 / 12.0 + square * (1.0 / 120.0 - square / 252.0));
  };
  const double gap = to - from;
  return std::log1p(gap / from) - gap / (2.0 * from * to) + (correction(to) - correction(from));
}

// The sum of 1/r for the `count` ranks after `first`.
double reciprocalSum(std::uint64_t first, std::uint64_t count) {
  // From here on the expansion's next term is below 2^-53, and below it a loop is short.
  constexpr std::uint64_t kExpansionStart = 64;
  const std::uint64_t last = first + count;
  const bool short_sum = count <= kExpansionStart;
  const std::uint64_t summed_to = short_sum ? last : std::max(first, kExpansionStart);
  double sum =
      short_sum ? 0.0 : harmonicTail(static_cast<double>(summed_to), static_cast<double>(last));
  for (std::uint64_t rank = summed_to; rank > first; --rank) {
    sum += 1.0 / static_cast<double>(rank);
  }
  return sum;
}

template <class Value>
double meanOver(std::span<const RankCounts> ranks, std::string_view metric, const Value& value) {
  requirePositives(ranks.size(), metric);
  AccurateSum sum;
  for (const RankCounts& counts : ranks) {
    sum.add(value(counts));
  }
  return sum.value() / static_cast<double>(ranks.size());
}

template <class Value>
double meanOver(const BinaryRanking& ranking, std::string_view metric, const Value& value) {
  requirePositives(ranking.positiveCount(), metric);
  AccurateSum sum;
  for (const PositiveGroup& group : ranking.groups()) {
    sum.add(static_cast<double>(group.positives) * value(RankCounts{group.greater, group.equal}));
  }
  return sum.value() / static_cast<double>(ranking.positiveCount());
}

}  // namespace

RankCounts rankCounts(double positive, ScoreSpan negatives) {
  requireNumbers(std::span<const double>(&positive, 1), "positives");
  requireNumbers(negatives, "negatives");
  return countAll(positive, negatives);
}

std::vector<RankCounts> rankCounts(ScoreSpan positives, ScoreSpan negatives,
                                   std::size_t per_positive) {
  const bool fits = per_positive == 0 ? negatives.empty()
                                      : negatives.size() % per_positive == 0 &&
                                            negatives.size() / per_positive == positives.size();
  if (!fits) {
    throw ShapeError(fmt::format("{} negatives are not {} for each of {} positives",
                                 negatives.size(), per_positive, positives.size()));
  }
  requireNumbers(positives, "positives");
  requireNumbers(negatives, "negatives");
  std::vector<RankCounts> ranks(positives.size());
  const std::size_t rows =
      std::max<std::size_t>(1, kGrain / std::max<std::size_t>(1, per_positive));
  parallelFor(positives.size(), rows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      ranks[row] = countAll(positives[row], negatives.subspan(row * per_positive, per_positive));
    }
  });
  return ranks;
}

double expectedHit(RankCounts counts, std::size_t k) {
  if (counts.greater >= k) {
    return 0.0;
  }
  const std::uint64_t places = counts.equal + 1;
  const std::uint64_t within = std::min<std::uint64_t>(k - counts.greater, places);
  return static_cast<double>(within) / static_cast<double>(places);
}

double expectedNdcg(RankCounts counts, std::size_t k) {
  const std::uint64_t places = counts.equal + 1;
  const std::uint64_t last = std::min<std::uint64_t>(counts.greater + places, k);
  double sum = 0.0;
  for (std::uint64_t rank = counts.greater + 1; rank <= last; ++rank) {
    sum += 1.0 / std::log2(static_cast<double>(rank) + 1.0);
  }
  return sum / static_cast<double>(places);
}

double expectedReciprocalRank(RankCounts counts) {
  const std::uint64_t places = counts.equal + 1;
  return reciprocalSum(counts.greater, places) / static_cast<double>(places);
}

double meanHit(std::span<const RankCounts> ranks, std::size_t k) {
  requirePositiveK(k);
  return meanOver(ranks, "Hit@K", [&](RankCounts counts) { return expectedHit(counts, k); });
}

double meanNdcg(std::span<const RankCounts> ranks, std::size_t k) {
  requirePositiveK(k);
  return meanOver(ranks, "NDCG@K", [&](RankCounts counts) { return expectedNdcg(counts, k); });
}

double meanReciprocalRank(std::span<const RankCounts> ranks) {
  return meanOver(ranks, "MRR", expectedReciprocalRank);
}

double meanHit(const BinaryRanking& ranking, std::size_t k) {
  requirePositiveK(k);
  return meanOver(ranking, "Hit@K", [&](RankCounts counts) { return expectedHit(counts, k); });
}

double meanNdcg(const BinaryRanking& ranking, std::size_t k) {
  requirePositiveK(k);
  return meanOver(ranking, "NDCG@K", [&](RankCounts counts) { return expectedNdcg(counts, k); });
}

double meanReciprocalRank(const BinaryRanking& ranking) {
  return meanOver(ranking, "MRR", expectedReciprocalRank);
}

}  // namespace edgewise
