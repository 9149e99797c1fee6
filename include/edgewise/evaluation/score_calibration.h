// From a score to a probability, learned from held-out pairs whose answer is known. Links and
// non-links weigh the same in all, however many there are of each: the probability is that of a
// link where half of the pairs are links.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace edgewise {

class ScoreCalibration {
 public:
  // Platt's: a logistic curve over the scores, with his targets that keep clear of 0 and 1. For
  // scores that are logits already, or nearly. Never falls: where higher scores would mean fewer
  // links it is 1/2 everywhere.
  static ScoreCalibration platt(std::span<const double> links, std::span<const double> others);
  // Isotonic: the rising steps that fit best (equal scores on one step), straight lines between
  // their middles, kept clear of 0 and 1 by what so few pairs cannot tell. For scores of any kind.
  // Both throw DataError without links, without others, or for scores that are not finite.
  static ScoreCalibration isotonic(std::span<const double> links, std::span<const double> others);

  // Not below that of a lower score.
  [[nodiscard]] double probability(double score) const;
  // "platt" or "isotonic".
  [[nodiscard]] std::string_view method() const { return method_; }
  // How many pairs it was learned from.
  [[nodiscard]] std::size_t links() const { return links_; }
  [[nodiscard]] std::size_t others() const { return others_; }

 private:
  // A score and its probability.
  struct Knot {
    double score = 0;
    double probability = 0;
  };

  std::string method_;
  std::size_t links_ = 0;
  std::size_t others_ = 0;
  // Platt: 1 / (1 + exp(-(slope * score + offset))).
  double slope_ = 0;
  double offset_ = 0;
  // Isotonic: by score.
  std::vector<Knot> knots_;
};

}  // namespace edgewise
