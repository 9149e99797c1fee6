#include "edgewise/evaluation/histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "edgewise/evaluation/accurate_sum.h"
#include "edgewise/util/error.h"
#include "evaluation/checks.h"

namespace edgewise {
namespace {

void requireBins(std::size_t bins) {
  if (bins == 0) {
    throw ConfigError("a histogram needs at least one bin");
  }
}

std::size_t binOf(double score, double low, double high, std::size_t bins) {
  if (!(score > low)) {
    return 0;
  }
  if (score >= high) {
    return bins - 1;
  }
  // Halves keep the difference of very large ends finite.
  const double share = (score / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
  return std::min(bins - 1, static_cast<std::size_t>(share * static_cast<double>(bins)));
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void widenBy(ScoreSpan scores) {
    scores.visit([&](auto values) {
      for (const double score : values) {
        if (std::isfinite(score)) {
          low = std::min(low, score);
          high = std::max(high, score);
        }
      }
    });
  }
};

std::vector<std::uint64_t> countBins(ScoreSpan scores, std::size_t bins, double low, double high) {
  std::vector<std::uint64_t> counts(bins, 0);
  scores.visit([&](auto values) {
    for (const double score : values) {
      ++counts[binOf(score, low, high, bins)];
    }
  });
  return counts;
}

struct BinSums {
  std::uint64_t count = 0;
  AccurateSum weight;
  AccurateSum positives;
  AccurateSum probability;
};

// What one edge of each class counts.
struct EdgeWeights {
  double positive = 1.0;
  double negative = 1.0;
};

EdgeWeights weightsOf(std::size_t positives, std::size_t negatives, ClassWeight weight) {
  if (weight == ClassWeight::kPerEdge || positives == 0 || negatives == 0) {
    return {};
  }
  const double half = static_cast<double>(positives + negatives) / 2;
  return {half / static_cast<double>(positives), half / static_cast<double>(negatives)};
}

// Probabilities of one class.
struct ClassProbabilities {
  ScoreSpan values;
  std::string_view name;
  bool positive = false;
  double weight = 1.0;
};

void addProbabilities(const ClassProbabilities& list, std::vector<BinSums>& bins) {
  for (std::size_t i = 0; i < list.values.size(); ++i) {
    const double probability = list.values[i];
    if (std::isnan(probability) || probability < 0.0 || probability > 1.0) {
      throw DataError(fmt::format("{}[{}] is {}, not a probability", list.name, i, probability),
                      "turn scores into probabilities first (a sigmoid of the logits)");
    }
    BinSums& bin = bins[binOf(probability, 0.0, 1.0, bins.size())];
    ++bin.count;
    bin.weight.add(list.weight);
    bin.positives.add(list.positive ? list.weight : 0.0);
    bin.probability.add(list.weight * probability);
  }
}

}  // namespace

ScoreHistogram scoreHistogram(ScoreSpan positives, ScoreSpan negatives, std::size_t bins,
                              double low, double high) {
  requireBins(bins);
  if (!std::isfinite(low) || !std::isfinite(high) || !(low < high)) {
    throw ConfigError(fmt::format("a histogram from {} to {} has no width", low, high));
  }
  requireNumbers(positives, "positives");
  requireNumbers(negatives, "negatives");
  return {low, high, countBins(positives, bins, low, high), countBins(negatives, bins, low, high)};
}

ScoreHistogram scoreHistogram(ScoreSpan positives, ScoreSpan negatives, std::size_t bins) {
  Range range;
  range.widenBy(positives);
  range.widenBy(negatives);
  if (range.low > range.high) {
    range = {0.0, 1.0};
  } else if (range.low == range.high) {
    // Half a unit is nothing beside a huge score, so the ends move by its own size there.
    const double half = std::max(0.5, std::abs(range.low) * 1e-9);
    range = {std::max(range.low - half, std::numeric_limits<double>::lowest()),
             std::min(range.high + half, std::numeric_limits<double>::max())};
  }
  return scoreHistogram(positives, negatives, bins, range.low, range.high);
}

Calibration calibration(ScoreSpan positives, ScoreSpan negatives, std::size_t bins,
                        ClassWeight weight) {
  requireBins(bins);
  const std::size_t total = positives.size() + negatives.size();
  if (total == 0) {
    throw DataError("there are no probabilities to judge");
  }
  const EdgeWeights weights = weightsOf(positives.size(), negatives.size(), weight);
  std::vector<BinSums> sums(bins);
  addProbabilities({positives, "positives", true, weights.positive}, sums);
  addProbabilities({negatives, "negatives", false, weights.negative}, sums);
  Calibration result;
  AccurateSum error;
  for (const BinSums& bin : sums) {
    CalibrationBin& entry = result.bins.emplace_back();
    if (bin.count == 0) {
      continue;
    }
    const double whole = bin.weight.value();
    entry = {bin.count, bin.probability.value() / whole, bin.positives.value() / whole};
    const double gap = std::abs(entry.mean_probability - entry.positive_share);
    error.add(gap * whole);
    result.largest_error = std::max(result.largest_error, gap);
  }
  result.expected_error = error.value() / static_cast<double>(total);
  return result;
}

}  // namespace edgewise
