#include "edgewise/evaluation/score_calibration.h"

#include <algorithm>
#include <cmath>

#include "edgewise/util/error.h"

namespace edgewise {
namespace {

// A held-out pair: its score, what the fit aims at, and what it counts for.
struct Sample {
  double score = 0;
  double target = 0;
  double weight = 0;
};

void requireScores(std::span<const double> scores, const char* what) {
  if (scores.empty()) {
    throw DataError(std::string("scores cannot be calibrated without ") + what);
  }
  if (!std::ranges::all_of(scores, [](double score) { return std::isfinite(score); })) {
    throw DataError("scores that are not finite cannot be calibrated");
  }
}

void requireScores(std::span<const double> links, std::span<const double> others) {
  requireScores(links, "links");
  requireScores(others, "non-links");
}

// Links and others weigh 1/2 in all.
std::vector<Sample> samplesOf(std::span<const double> links, std::span<const double> others,
                              double link_target, double other_target) {
  std::vector<Sample> samples;
  samples.reserve(links.size() + others.size());
  for (const double score : links) {
    samples.push_back({score, link_target, 0.5 / static_cast<double>(links.size())});
  }
  for (const double score : others) {
    samples.push_back({score, other_target, 0.5 / static_cast<double>(others.size())});
  }
  return samples;
}

// Mean 0, deviation 1; says how it was done.
struct Scale {
  double middle = 0;
  double unit = 1;
};

Scale standardise(std::vector<Sample>& samples) {
  Scale scale;
  for (const Sample& sample : samples) {
    scale.middle += sample.weight * sample.score;
  }
  double square = 0;
  for (const Sample& sample : samples) {
    square += sample.weight * (sample.score - scale.middle) * (sample.score - scale.middle);
  }
  scale.unit = square > 0 ? std::sqrt(square) : 1;
  for (Sample& sample : samples) {
    sample.score = (sample.score - scale.middle) / scale.unit;
  }
  return scale;
}

// log(1 + exp(x)) without overflow.
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

double crossEntropy(std::span<const Sample> samples, double slope, double offset) {
  double loss = 0;
  for (const Sample& sample : samples) {
    const double logit = slope * sample.score + offset;
    loss += sample.weight * (softplus(logit) - sample.target * logit);
  }
  return loss;
}

struct Line {
  double slope = 0;
  double offset = 0;
};

// One step of Newton's method, halved until the loss falls; false when it no longer does.
bool improve(std::span<const Sample> samples, Line& line) {
  constexpr double kRidge = 1e-12;
  constexpr double kLeastFall = 1e-15;
  double by_slope = 0;
  double by_offset = 0;
  double slope_slope = kRidge;
  double slope_offset = 0;
  double offset_offset = kRidge;
  for (const Sample& sample : samples) {
    const double share = 1 / (1 + std::exp(-(line.slope * sample.score + line.offset)));
    const double error = sample.weight * (share - sample.target);
    const double bend = sample.weight * share * (1 - share);
    by_slope += error * sample.score;
    by_offset += error;
    slope_slope += bend * sample.score * sample.score;
    slope_offset += bend * sample.score;
    offset_offset += bend;
  }
  const double determinant = slope_slope * offset_offset - slope_offset * slope_offset;
  if (determinant <= 0) {
    return false;
  }
  const Line step{(offset_offset * by_slope - slope_offset * by_offset) / determinant,
                  (slope_slope * by_offset - slope_offset * by_slope) / determinant};
  // Half of this is what the loss would fall by; below its rounding there is nothing to look for.
  if (by_slope * step.slope + by_offset * step.offset < kLeastFall) {
    return false;
  }
  const double before = crossEntropy(samples, line.slope, line.offset);
  constexpr int kHalvings = 34;
  double length = 1;
  for (int i = 0; i < kHalvings; ++i, length /= 2) {
    const Line next{line.slope - length * step.slope, line.offset - length * step.offset};
    if (crossEntropy(samples, next.slope, next.offset) < before) {
      line = next;
      return true;
    }
  }
  return false;
}

// Every n-th score, where there are more than two numbers need to be found.
std::vector<double> thinned(std::span<const double> scores) {
  constexpr std::size_t kEnough = 1'000'000;
  const std::size_t apart = (scores.size() + kEnough - 1) / kEnough;
  std::vector<double> some;
  some.reserve(scores.size() / apart + 1);
  for (std::size_t i = 0; i < scores.size(); i += apart) {
    some.push_back(scores[i]);
  }
  return some;
}

// A step of the isotonic fit.
struct Step {
  double weight = 0;
  double target_sum = 0;
  double score_sum = 0;

  [[nodiscard]] double height() const { return target_sum / weight; }
  void add(const Step& other) {
    weight += other.weight;
    target_sum += other.target_sum;
    score_sum += other.score_sum;
  }
};

std::vector<Step> risingSteps(std::vector<Sample> samples) {
  std::ranges::sort(samples, {}, &Sample::score);
  std::vector<Step> steps;
  for (std::size_t i = 0; i < samples.size();) {
    Step step;
    const double score = samples[i].score;
    for (; i < samples.size() && samples[i].score == score; ++i) {
      step.add(
          {samples[i].weight, samples[i].weight * samples[i].target, samples[i].weight * score});
    }
    while (!steps.empty() && steps.back().height() >= step.height()) {
      step.add(steps.back());
      steps.pop_back();
    }
    steps.push_back(step);
  }
  return steps;
}

}  // namespace

ScoreCalibration ScoreCalibration::platt(std::span<const double> links,
                                         std::span<const double> others) {
  requireScores(links, others);
  const std::vector<double> some_links = thinned(links);
  const std::vector<double> some_others = thinned(others);
  const auto link_count = static_cast<double>(some_links.size());
  const auto other_count = static_cast<double>(some_others.size());
  std::vector<Sample> samples = samplesOf(
      some_links, some_others, (link_count + 1) / (link_count + 2), 1 / (other_count + 2));
  const Scale scale = standardise(samples);
  Line line;
  constexpr int kMostSteps = 100;
  for (int i = 0; i < kMostSteps && improve(samples, line); ++i) {
  }
  ScoreCalibration calibration;
  calibration.method_ = "platt";
  calibration.links_ = some_links.size();
  calibration.others_ = some_others.size();
  if (line.slope > 0) {
    calibration.slope_ = line.slope / scale.unit;
    calibration.offset_ = line.offset - line.slope * scale.middle / scale.unit;
  }
  return calibration;
}

ScoreCalibration ScoreCalibration::isotonic(std::span<const double> links,
                                            std::span<const double> others) {
  requireScores(links, others);
  ScoreCalibration calibration;
  calibration.method_ = "isotonic";
  calibration.links_ = links.size();
  calibration.others_ = others.size();
  const auto count = static_cast<double>(links.size() + others.size());
  const double least = 1 / (count + 2);
  for (const Step& step : risingSteps(samplesOf(links, others, 1, 0))) {
    calibration.knots_.push_back(
        {step.score_sum / step.weight, std::clamp(step.height(), least, 1 - least)});
  }
  return calibration;
}

double ScoreCalibration::probability(double score) const {
  if (knots_.empty()) {
    return 1 / (1 + std::exp(-(slope_ * score + offset_)));
  }
  const auto above = std::ranges::upper_bound(knots_, score, {}, &Knot::score);
  if (above == knots_.begin()) {
    return knots_.front().probability;
  }
  const Knot& low = *(above - 1);
  if (above == knots_.end()) {
    return low.probability;
  }
  const double along = (score - low.score) / (above->score - low.score);
  return low.probability + along * (above->probability - low.probability);
}

}  // namespace edgewise
