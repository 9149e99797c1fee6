#include "edgewise/training/test_curves.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "edgewise/evaluation/binary_ranking.h"
#include "edgewise/training/run_options.h"
#include "edgewise/util/error.h"

namespace edgewise {
namespace {

constexpr int kFormat = 1;
constexpr std::size_t kHistogramBins = 40;
constexpr std::size_t kCurvePoints = 200;
constexpr std::size_t kCalibrationBins = 10;

// Scores of held-out pairs by class.
struct HeldOutScores {
  std::span<const double> links;
  std::span<const double> others;
  [[nodiscard]] bool oneClass() const { return links.empty() || others.empty(); }
};

HeldOutScores byClass(std::span<const double> scores, std::size_t links) {
  links = std::min(links, scores.size());
  return {scores.first(links), scores.subspan(links)};
}

bool allFinite(std::span<const double> scores) {
  return std::ranges::all_of(scores, [](double score) { return std::isfinite(score); });
}

std::vector<double> probabilities(const ScoreCalibration& by, std::span<const double> scores) {
  std::vector<double> result;
  result.reserve(scores.size());
  for (const double score : scores) {
    result.push_back(by.probability(score));
  }
  return result;
}

// The mean of the two in the middle where their number is even. At least one.
std::optional<double> medianOf(std::span<const double> scores) {
  std::vector<double> values(scores.begin(), scores.end());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  double median = *middle;
  if (values.size() % 2 == 0) {
    median = median / 2 + *std::max_element(values.begin(), middle) / 2;
  }
  return std::isfinite(median) ? std::optional(median) : std::nullopt;
}

std::optional<TestCalibration> calibrationOf(const RunMetrics& run, const HeldOutScores& test) {
  const HeldOutScores valid = byClass(run.valid_scores, run.split.valid);
  if (valid.oneClass() || !allFinite(run.valid_scores) || !allFinite(run.test_scores)) {
    return std::nullopt;
  }
  const ScoreCalibration learned = calibrationFor(run.model, valid.links, valid.others);
  return TestCalibration{
      .method = std::string(learned.method()),
      .links = learned.links(),
      .others = learned.others(),
      .test = calibration(probabilities(learned, test.links), probabilities(learned, test.others),
                          kCalibrationBins, ClassWeight::kAlike)};
}

nlohmann::ordered_json calibrationJson(const TestCalibration& calibration) {
  nlohmann::ordered_json bins = nlohmann::ordered_json::array();
  for (const CalibrationBin& bin : calibration.test.bins) {
    bins.push_back({{"count", bin.count},
                    {"mean_probability", bin.mean_probability},
                    {"positive_share", bin.positive_share}});
  }
  return {{"method", calibration.method},
          {"links", calibration.links},
          {"others", calibration.others},
          {"expected_error", calibration.test.expected_error},
          {"largest_error", calibration.test.largest_error},
          {"bins", bins}};
}

TestCalibration calibrationFrom(const nlohmann::ordered_json& json) {
  TestCalibration result{.method = json.at("method"),
                         .links = json.at("links"),
                         .others = json.at("others"),
                         .test = {.bins = {},
                                  .expected_error = json.at("expected_error"),
                                  .largest_error = json.at("largest_error")}};
  for (const auto& bin : json.at("bins")) {
    result.test.bins.push_back({.count = bin.at("count"),
                                .mean_probability = bin.at("mean_probability"),
                                .positive_share = bin.at("positive_share")});
  }
  return result;
}

// Numbers by name, two lists of the same length.
struct Columns {
  std::vector<double> first;
  std::vector<double> second;
};

Columns columnsFrom(const nlohmann::ordered_json& json, const char* first, const char* second) {
  Columns columns{json.at(first).get<std::vector<double>>(),
                  json.at(second).get<std::vector<double>>()};
  if (columns.first.size() != columns.second.size()) {
    throw DataError(std::string(first) + " and " + second + " differ in length");
  }
  return columns;
}

template <class Point>
std::vector<double> columnOf(const std::vector<Point>& points, double Point::* field) {
  std::vector<double> values;
  values.reserve(points.size());
  for (const Point& point : points) {
    values.push_back(point.*field);
  }
  return values;
}

}  // namespace

ScoreCalibration calibrationFor(std::string_view model, std::span<const double> links,
                                std::span<const double> others) {
  return isHeuristic(model) ? ScoreCalibration::isotonic(links, others)
                            : ScoreCalibration::platt(links, others);
}

std::optional<TestCurves> testCurvesOf(const RunMetrics& run) {
  const HeldOutScores test = byClass(run.test_scores, run.split.test);
  if (test.oneClass()) {
    return std::nullopt;
  }
  const BinaryRanking ranking(test.links, test.others);
  return TestCurves{.positives = test.links.size(),
                    .negatives = test.others.size(),
                    .median_positive = medianOf(test.links),
                    .median_negative = medianOf(test.others),
                    .histogram = scoreHistogram(test.links, test.others, kHistogramBins),
                    .roc = rocCurve(ranking, kCurvePoints),
                    .precision_recall = precisionRecallCurve(ranking, kCurvePoints),
                    .calibration = calibrationOf(run, test)};
}

nlohmann::ordered_json TestCurves::toJson() const {
  nlohmann::ordered_json json;
  json["format"] = kFormat;
  json["positives"] = positives;
  json["negatives"] = negatives;
  const auto or_null = [](const std::optional<double>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
  };
  json["median_positive"] = or_null(median_positive);
  json["median_negative"] = or_null(median_negative);
  json["histogram"] = {{"low", histogram.low},
                       {"high", histogram.high},
                       {"positives", histogram.positives},
                       {"negatives", histogram.negatives}};
  json["roc"] = {{"false_positive_rate", columnOf(roc, &RocPoint::false_positive_rate)},
                 {"true_positive_rate", columnOf(roc, &RocPoint::true_positive_rate)}};
  json["precision_recall"] = {
      {"recall", columnOf(precision_recall, &PrecisionRecallPoint::recall)},
      {"precision", columnOf(precision_recall, &PrecisionRecallPoint::precision)}};
  if (calibration) {
    json["calibration"] = calibrationJson(*calibration);
  }
  return json;
}

TestCurves TestCurves::fromJson(const nlohmann::ordered_json& json) {
  if (json.at("format").get<int>() > kFormat) {
    throw DataError("was written by a newer edgewise", "update edgewise to read it");
  }
  TestCurves curves;
  curves.positives = json.at("positives");
  curves.negatives = json.at("negatives");
  const auto number_or_null = [&](const char* key) {
    return json.at(key).is_null() ? std::nullopt : std::optional(json.at(key).get<double>());
  };
  curves.median_positive = number_or_null("median_positive");
  curves.median_negative = number_or_null("median_negative");
  const auto& histogram = json.at("histogram");
  curves.histogram = {.low = histogram.at("low"),
                      .high = histogram.at("high"),
                      .positives = histogram.at("positives").get<std::vector<std::uint64_t>>(),
                      .negatives = histogram.at("negatives").get<std::vector<std::uint64_t>>()};
  if (curves.histogram.positives.size() != curves.histogram.negatives.size()) {
    throw DataError("the histograms of positives and negatives differ in length");
  }
  const Columns roc = columnsFrom(json.at("roc"), "false_positive_rate", "true_positive_rate");
  for (std::size_t i = 0; i < roc.first.size(); ++i) {
    curves.roc.push_back({roc.first[i], roc.second[i], 0.0});
  }
  const Columns recall = columnsFrom(json.at("precision_recall"), "recall", "precision");
  for (std::size_t i = 0; i < recall.first.size(); ++i) {
    curves.precision_recall.push_back({recall.first[i], recall.second[i], 0.0});
  }
  if (json.contains("calibration")) {
    curves.calibration = calibrationFrom(json.at("calibration"));
  }
  return curves;
}

}  // namespace edgewise
