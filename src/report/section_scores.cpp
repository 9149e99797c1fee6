#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "edgewise/report/html.h"
#include "edgewise/report/mean_text.h"
#include "edgewise/util/text.h"
#include "report/sections.h"

namespace edgewise {
namespace {

constexpr std::size_t kGridPoints = 121;

// Shares of their class, so that classes of different sizes compare.
std::vector<double> sharesOf(const std::vector<std::uint64_t>& counts) {
  const auto total = static_cast<double>(
      std::max<std::uint64_t>(1, std::accumulate(counts.begin(), counts.end(), std::uint64_t{0})));
  std::vector<double> shares;
  shares.reserve(counts.size() + 1);
  for (const std::uint64_t count : counts) {
    shares.push_back(static_cast<double>(count) / total);
  }
  // The last value ends the last bin.
  shares.push_back(shares.empty() ? 0 : shares.back());
  return shares;
}

std::string medianText(const std::optional<double>& median) {
  return median ? fmt::format("{:.4g}", *median) : "infinite";
}

Chart histogramChart(const RunGroup& group, const TestCurves& curves) {
  const ScoreHistogram& histogram = curves.histogram;
  const std::size_t bins = histogram.positives.size();
  Chart chart{
      .title = "Scores, " + group.name,
      .text = fmt::format("The median score is {} of the {} test links, {} of the {} other pairs.",
                          medianText(curves.median_positive), groupedCount(curves.positives),
                          medianText(curves.median_negative), groupedCount(curves.negatives)),
      .x_axis = {.label = "score"},
      .y_axis = {.label = "share of the class", .low = 0},
      .x = {},
      .series = {}};
  if (group.runs.size() > 1) {
    chart.text += fmt::format(" Seed {}.", group.first().metrics.seed);
  }
  for (std::size_t i = 0; i <= bins; ++i) {
    const double share =
        static_cast<double>(i) / static_cast<double>(std::max<std::size_t>(1, bins));
    chart.x.push_back(histogram.low + share * (histogram.high - histogram.low));
  }
  chart.series.push_back({"links", sharesOf(histogram.positives), ChartMark::kSteps});
  chart.series.push_back({"other pairs", sharesOf(histogram.negatives), ChartMark::kSteps});
  return chart;
}

// Corners of a curve, by rising x.
struct Corners {
  std::vector<double> x;
  std::vector<double> y;
};

Corners rocOf(const TestCurves& curves) {
  Corners corners;
  for (const RocPoint& point : curves.roc) {
    corners.x.push_back(point.false_positive_rate);
    corners.y.push_back(point.true_positive_rate);
  }
  return corners;
}

Corners recallOf(const TestCurves& curves) {
  Corners corners;
  for (const PrecisionRecallPoint& point : curves.precision_recall) {
    corners.x.push_back(point.recall);
    corners.y.push_back(point.precision);
  }
  return corners;
}

// On the straight line between the corners around x; where the curve stands upright, its upper end.
double valueAt(const Corners& corners, double x) {
  const auto after = std::ranges::upper_bound(corners.x, x) - corners.x.begin();
  const auto next = static_cast<std::size_t>(after);
  if (next == 0 || next == corners.x.size()) {
    return corners.y.empty() ? 0 : corners.y[next == 0 ? 0 : next - 1];
  }
  const double share = (x - corners.x[next - 1]) / (corners.x[next] - corners.x[next - 1]);
  return corners.y[next - 1] + share * (corners.y[next] - corners.y[next - 1]);
}

// The mean over a group's runs, at common places.
std::vector<double> meanAt(const RunGroup& group, std::span<const double> grid,
                           Corners (*corners_of)(const TestCurves&)) {
  std::vector<double> mean(grid.size(), 0.0);
  double runs = 0;
  for (const RunRecord* run : group.runs) {
    if (!run->curves) {
      continue;
    }
    const Corners corners = corners_of(*run->curves);
    ++runs;
    for (std::size_t i = 0; i < grid.size(); ++i) {
      mean[i] += valueAt(corners, grid[i]);
    }
  }
  for (double& value : mean) {
    value /= std::max(1.0, runs);
  }
  return mean;
}

bool hasCurves(const RunGroup& group) {
  return std::ranges::any_of(group.runs, [](const RunRecord* run) { return bool(run->curves); });
}

std::vector<double> gridOf(double power) {
  std::vector<double> grid;
  grid.reserve(kGridPoints);
  for (std::size_t i = 0; i < kGridPoints; ++i) {
    grid.push_back(std::pow(static_cast<double>(i) / (kGridPoints - 1), power));
  }
  return grid;
}

Chart unitChart(std::string title, std::string x_label, std::string y_label) {
  return {.title = std::move(title),
          .text = {},
          .x_axis = {.label = std::move(x_label), .low = 0, .high = 1},
          .y_axis = {.label = std::move(y_label), .low = 0, .high = 1},
          .x = {},
          .series = {}};
}

// "gae: test auc 0.9567 ± 0.0021." where the runs report it.
std::string metricText(const RunGroup& group, const char* metric) {
  const auto value =
      meanOver(group, [&](const RunRecord& run) { return run.metrics.test.find(metric); });
  return value ? fmt::format("{}: test {} {}. ", group.name, metric, meanText(*value)) : "";
}

// What a line of every group is made of, and the metric that belongs to it.
struct LineSource {
  std::span<const double> grid;
  Corners (*corners_of)(const TestCurves&);
  const char* metric;
};

void addLines(Chart& chart, RunGroups groups, const LineSource& source) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (hasCurves(groups[i])) {
      addPoints(chart, {.name = groups[i].name,
                        .x = {source.grid.begin(), source.grid.end()},
                        .y = meanAt(groups[i], source.grid, source.corners_of),
                        .colour = i});
      chart.text += metricText(groups[i], source.metric);
    }
  }
}

Chart rocChart(RunGroups groups) {
  // Most happens where false positives are few.
  const std::vector<double> grid = gridOf(2);
  Chart chart = unitChart("ROC", "false positive rate", "true positive rate");
  addLines(chart, groups, {grid, rocOf, "auc"});
  chart.text += "The dashed diagonal is chance.";
  addPoints(chart, {"chance", grid, grid, ChartMark::kGuide});
  return chart;
}

Chart recallChart(RunGroups groups) {
  const std::vector<double> grid = gridOf(1);
  Chart chart = unitChart("Precision and recall", "recall", "precision");
  addLines(chart, groups, {grid, recallOf, "ap"});
  const auto& curves = groups.front().first().curves;
  if (curves) {
    const double share = static_cast<double>(curves->positives) /
                         static_cast<double>(curves->positives + curves->negatives);
    addPoints(chart, {"chance", grid, std::vector<double>(grid.size(), share), ChartMark::kGuide});
    chart.text += fmt::format("Chance would give {:.3g} everywhere.", share);
  }
  return chart;
}

// The bins of a group's runs put together.
std::vector<CalibrationBin> pooledBins(const RunGroup& group) {
  std::vector<CalibrationBin> pooled;
  for (const RunRecord* run : group.runs) {
    if (!run->curves || !run->curves->calibration) {
      continue;
    }
    const std::vector<CalibrationBin>& bins = run->curves->calibration->test.bins;
    pooled.resize(std::max(pooled.size(), bins.size()));
    for (std::size_t i = 0; i < bins.size(); ++i) {
      const auto more = static_cast<double>(bins[i].count);
      const double all = static_cast<double>(pooled[i].count) + more;
      if (bins[i].count > 0) {
        pooled[i].mean_probability +=
            (bins[i].mean_probability - pooled[i].mean_probability) * more / all;
        pooled[i].positive_share +=
            (bins[i].positive_share - pooled[i].positive_share) * more / all;
        pooled[i].count += bins[i].count;
      }
    }
  }
  return pooled;
}

// Nothing where the run has no curves, or validation could not tell.
const TestCalibration* calibrationIn(const RunRecord& run) {
  return run.curves && run.curves->calibration ? &*run.curves->calibration : nullptr;
}

std::string calibrationText(const RunGroup& group) {
  const auto mean = meanOver(group, [](const RunRecord& run) -> std::optional<double> {
    const TestCalibration* found = calibrationIn(run);
    return found == nullptr ? std::nullopt : std::optional(100 * found->test.expected_error);
  });
  const TestCalibration* first = calibrationIn(group.first());
  if (!mean || first == nullptr) {
    return "";
  }
  return fmt::format(
      "{}: off by {} percentage points on average ({}, learned from {} validation links). ",
      group.name, meanText(*mean, 1), first->method, groupedCount(first->links));
}

Chart calibrationChart(RunGroups groups) {
  Chart chart = unitChart("Calibration", "predicted probability", "share of links");
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const RunGroup& group = groups[i];
    ChartPoints points{.name = group.name, .x = {}, .y = {}, .mark = ChartMark::kDots, .colour = i};
    for (const CalibrationBin& bin : pooledBins(group)) {
      if (bin.count > 0) {
        points.x.push_back(bin.mean_probability);
        points.y.push_back(bin.positive_share);
      }
    }
    if (!points.x.empty()) {
      addPoints(chart, points);
      chart.text += calibrationText(group);
    }
  }
  if (!chart.series.empty()) {
    addPoints(chart, {"perfect", {0, 1}, {0, 1}, ChartMark::kGuide});
    chart.text += "Links and other pairs weigh alike.";
  }
  return chart;
}

}  // namespace

std::string scoresSection(RunGroups groups, PageCharts& charts) {
  if (std::ranges::none_of(groups, hasCurves)) {
    return "";
  }
  std::string html = "<div class=\"figures\">\n";
  html += charts.add(rocChart(groups)) + charts.add(recallChart(groups));
  if (const Chart chart = calibrationChart(groups); !chart.series.empty()) {
    html += charts.add(chart);
  }
  for (const RunGroup& group : groups) {
    if (const auto& curves = group.first().curves) {
      html += charts.add(histogramChart(group, *curves));
    }
  }
  return html + "</div>\n";
}

}  // namespace edgewise
