// Several runs in a few numbers: mean and standard deviation over seeds, and whether one method
// beats another on the same seeds by more than chance.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "edgewise/evaluation/metric_set.h"

namespace edgewise {

// `std` is the sample standard deviation (n - 1); 0 for a single value.
struct MeanStd {
  double mean = 0.0;
  double std = 0.0;
  std::size_t count = 0;
};

// Throws DataError without values or for one that is not finite.
[[nodiscard]] MeanStd summarise(std::span<const double> values);

struct MetricSummary {
  std::string name;
  MeanStd value;
};

// One entry per metric, in the order of the first run. Throws DataError without runs, when a run
// lacks a metric of another, or when tie policies differ.
[[nodiscard]] std::vector<MetricSummary> summarise(std::span<const MetricSet> runs);

// The most pairs for which all sign flips are tried.
inline constexpr std::size_t kMostPairsFlipped = 12;

// Two-sided tests of "no difference" for values paired by seed. p-values near 0 speak against it.
struct PairedTest {
  std::size_t count = 0;
  // Of first - second.
  double mean_difference = 0.0;
  // Student's t of the differences; infinite when they all agree and are not 0, 0 when all are 0.
  double t = 0.0;
  double t_test_p = 1.0;
  // The share of the 2^n ways to flip the signs of the differences whose sum is at least as far
  // from 0 as the one seen. It assumes only symmetry. Nothing beyond kMostPairsFlipped pairs.
  std::optional<double> permutation_p;
};

// Throws ShapeError for different sizes, DataError for fewer than two pairs or values that are not
// finite.
[[nodiscard]] PairedTest pairedTest(std::span<const double> first, std::span<const double> second);

// P(|T| >= |t|) for Student's t with `degrees` > 0 degrees of freedom. NaN in, NaN out.
[[nodiscard]] double studentTwoSidedP(double t, double degrees);
// The regularised incomplete beta function I_x(a, b) for a, b > 0 and x in [0, 1], to about 1e-14.
[[nodiscard]] double incompleteBeta(double a, double b, double x);

}  // namespace edgewise
