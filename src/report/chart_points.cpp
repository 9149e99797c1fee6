#include <algorithm>
#include <limits>

#include "edgewise/report/chart.h"

namespace edgewise {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// The values that stood at `from`, at the places of the same numbers in `to`.
std::vector<double> moved(const std::vector<double>& values, const std::vector<double>& from,
                          const std::vector<double>& to) {
  std::vector<double> result(to.size(), kNone);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto place = std::ranges::lower_bound(to, from[i]) - to.begin();
    result[static_cast<std::size_t>(place)] = values[i];
  }
  return result;
}

}  // namespace

void addPoints(Chart& chart, const ChartPoints& points) {
  if (chart.x != points.x) {
    std::vector<double> all = chart.x;
    all.insert(all.end(), points.x.begin(), points.x.end());
    std::ranges::sort(all);
    const auto repeats = std::ranges::unique(all);
    all.erase(repeats.begin(), repeats.end());
    for (ChartSeries& series : chart.series) {
      series.y = moved(series.y, chart.x, all);
    }
    chart.x = std::move(all);
  }
  chart.series.push_back(
      {points.name, moved(points.y, points.x, chart.x), points.mark, points.colour});
}

}  // namespace edgewise
