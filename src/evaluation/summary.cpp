#include "edgewise/evaluation/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "edgewise/evaluation/accurate_sum.h"
#include "edgewise/util/error.h"

namespace edgewise {
namespace {

void requireSameMetrics(const MetricSet& first, const MetricSet& other, std::size_t run) {
  if (other.tiePolicy() != first.tiePolicy()) {
    throw DataError(fmt::format("run {} treats ties as '{}', run 0 as '{}'", run, other.tiePolicy(),
                                first.tiePolicy()),
                    "evaluate both with the same version");
  }
  for (const auto& [name, value] : first.values()) {
    if (!other.find(name)) {
      throw DataError(fmt::format("run {} lacks metric '{}', which run 0 has", run, name));
    }
  }
  for (const auto& [name, value] : other.values()) {
    if (!first.find(name)) {
      throw DataError(fmt::format("run 0 lacks metric '{}', which run {} has", name, run));
    }
  }
}

double signFlipP(std::span<const double> differences) {
  double size = 0.0;
  double seen = 0.0;
  for (const double difference : differences) {
    size += std::abs(difference);
    seen += difference;
  }
  // Sums that differ in rounding alone are as far out as one another.
  const double bar = std::abs(seen) - 1e-12 * size;
  const std::uint32_t ways = std::uint32_t{1} << differences.size();
  std::uint32_t as_far = 0;
  for (std::uint32_t flips = 0; flips < ways; ++flips) {
    double sum = 0.0;
    for (std::size_t i = 0; i < differences.size(); ++i) {
      sum += ((flips >> i) & 1U) != 0 ? -differences[i] : differences[i];
    }
    as_far += std::abs(sum) >= bar ? 1 : 0;
  }
  return static_cast<double>(as_far) / static_cast<double>(ways);
}

// The continued fraction of the incomplete beta function by Lentz's method; it converges fast for
// x < (a + 1) / (a + b + 2).
double betaFraction(double a, double b, double x) {
  constexpr int kMostTerms = 10'000;
  constexpr double kTiny = 1e-300;
  constexpr double kEnough = 1e-16;
  const auto nonzero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1.0;
  double d = 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0));
  double fraction = d;
  for (int term = 1; term <= kMostTerms; ++term) {
    const double m = term;
    const double even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
    d = 1.0 / nonzero(1.0 + even * d);
    c = nonzero(1.0 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
    d = 1.0 / nonzero(1.0 + odd * d);
    c = nonzero(1.0 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1.0) <= kEnough) {
      break;
    }
  }
  return fraction;
}

}  // namespace

MeanStd summarise(std::span<const double> values) {
  if (values.empty()) {
    throw DataError("there are no values to summarise");
  }
  AccurateSum sum;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      throw DataError(fmt::format("values[{}] is {}, not a finite number", i, values[i]));
    }
    sum.add(values[i]);
  }
  const double mean = sum.value() / static_cast<double>(values.size());
  if (values.size() == 1) {
    return {mean, 0.0, 1};
  }
  AccurateSum squares;
  for (const double value : values) {
    squares.add((value - mean) * (value - mean));
  }
  return {mean, std::sqrt(squares.value() / static_cast<double>(values.size() - 1)), values.size()};
}

std::vector<MetricSummary> summarise(std::span<const MetricSet> runs) {
  if (runs.empty()) {
    throw DataError("there are no runs to summarise");
  }
  for (std::size_t run = 1; run < runs.size(); ++run) {
    requireSameMetrics(runs.front(), runs[run], run);
  }
  std::vector<MetricSummary> summaries;
  for (const auto& [name, first_value] : runs.front().values()) {
    std::vector<double> values;
    for (const MetricSet& run : runs) {
      values.push_back(run.at(name));
    }
    summaries.push_back({name, summarise(values)});
  }
  return summaries;
}

PairedTest pairedTest(std::span<const double> first, std::span<const double> second) {
  if (first.size() != second.size()) {
    throw ShapeError(fmt::format("{} values cannot be paired with {}", first.size(), second.size()),
                     "run both methods on the same seeds");
  }
  if (first.size() < 2) {
    throw DataError(fmt::format("a paired test needs two pairs or more, not {}", first.size()),
                    "run more seeds");
  }
  std::vector<double> differences(first.size());
  std::ranges::transform(first, second, differences.begin(), std::minus<>());
  const MeanStd summary = summarise(differences);
  PairedTest test;
  test.count = first.size();
  test.mean_difference = summary.mean;
  const auto count = static_cast<double>(test.count);
  if (summary.std > 0.0) {
    test.t = summary.mean / (summary.std / std::sqrt(count));
  } else if (summary.mean != 0.0) {
    test.t = std::copysign(std::numeric_limits<double>::infinity(), summary.mean);
  }
  test.t_test_p = studentTwoSidedP(test.t, count - 1.0);
  if (test.count <= kMostPairsFlipped) {
    test.permutation_p = signFlipP(differences);
  }
  return test;
}

double studentTwoSidedP(double t, double degrees) {
  if (std::isinf(t)) {
    return 0.0;
  }
  return incompleteBeta(degrees / 2.0, 0.5, degrees / (degrees + t * t));
}

double incompleteBeta(double a, double b, double x) {
  if (x <= 0.0) {
    return 0.0;
  }
  if (x >= 1.0) {
    return 1.0;
  }
  const double log_front =
      std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x);
  const double front = std::exp(log_front);
  if (x < (a + 1.0) / (a + b + 2.0)) {
    return front * betaFraction(a, b, x) / a;
  }
  return 1.0 - front * betaFraction(b, a, 1.0 - x) / b;
}

}  // namespace edgewise
