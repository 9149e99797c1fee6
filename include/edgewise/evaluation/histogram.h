// How scores are spread, and whether probabilities mean what they say: for the reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "edgewise/evaluation/score_span.h"

namespace edgewise {

// Equal bins over [low, high]; the last one includes `high`. Scores beyond the ends, infinities
// too, count in the end bins, so every score is in exactly one bin.
struct ScoreHistogram {
  double low = 0.0;
  double high = 0.0;
  std::vector<std::uint64_t> positives;
  std::vector<std::uint64_t> negatives;
};

// Over the given range. Throws ConfigError for no bins or an empty or endless range, DataError for
// a score that is not a number. Either list may be empty.
[[nodiscard]] ScoreHistogram scoreHistogram(ScoreSpan positives, ScoreSpan negatives,
                                            std::size_t bins, double low, double high);
// Over the range of the finite scores (widened to one unit where they are all equal or missing).
[[nodiscard]] ScoreHistogram scoreHistogram(ScoreSpan positives, ScoreSpan negatives,
                                            std::size_t bins);

// The edges predicted with a probability in one of equal bins over [0, 1].
struct CalibrationBin {
  std::uint64_t count = 0;
  // Means over the bin; 0 where it is empty.
  double mean_probability = 0.0;
  double positive_share = 0.0;
};

struct Calibration {
  std::vector<CalibrationBin> bins;
  // The mean over edges, by their weight, of |mean_probability - positive_share| of their bin.
  double expected_error = 0.0;
  // The same, for the worst bin that is not empty.
  double largest_error = 0.0;
};

// What an edge counts in means and shares.
enum class ClassWeight {
  // All edges the same.
  kPerEdge,
  // Positives and negatives half of all each, however many there are of them: for probabilities of
  // a link where half of the pairs are links. With one class alone the same as kPerEdge.
  kAlike,
};

// Scores must be probabilities. Throws ConfigError for no bins, DataError for one outside [0, 1] or
// when both lists are empty.
[[nodiscard]] Calibration calibration(ScoreSpan positives, ScoreSpan negatives, std::size_t bins,
                                      ClassWeight weight = ClassWeight::kPerEdge);

}  // namespace edgewise
