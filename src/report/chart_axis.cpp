#include "report/chart_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace edgewise {
namespace {

std::string tickLabel(double value, double step) {
  constexpr double kLarge = 1e6;
  constexpr double kSmall = 1e-5;
  const double size = std::abs(value);
  if (size >= kLarge || step < kSmall) {
    return fmt::format("{:.3g}", value);
  }
  return fmt::format("{:.{}f}", value == 0 ? 0.0 : value, decimalsOf(step));
}

}  // namespace

double roundStep(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    // A hair of room for what division left over.
    if (factor * power >= least * (1 - 1e-9)) {
      return factor * power;
    }
  }
  return 10 * power;
}

int decimalsOf(double step) {
  return std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
}

AxisRange rangeOf(const ChartAxis& axis, std::span<const double> values) {
  AxisRange range{std::numeric_limits<double>::infinity(),
                  -std::numeric_limits<double>::infinity()};
  for (const double value : values) {
    if (std::isfinite(value)) {
      range = {std::min(range.low, value), std::max(range.high, value)};
    }
  }
  if (range.low > range.high) {
    range = {0, 1};
  }
  range = {axis.low.value_or(range.low), axis.high.value_or(range.high)};
  if (!(range.low < range.high)) {
    const double half = std::max(0.5, std::abs(range.low) * 0.05);
    range = {range.low - half, range.low + half};
  }
  return range;
}

std::vector<AxisTick> ticksOf(AxisRange range, int count) {
  const double step = roundStep((range.high - range.low) / count);
  std::vector<AxisTick> ticks;
  const double slack = step * 1e-6;
  for (double at = std::ceil((range.low - slack) / step); at * step <= range.high + slack; ++at) {
    const double value = std::abs(at) < 0.5 ? 0.0 : at * step;
    ticks.push_back({value, tickLabel(value, step)});
    if (static_cast<int>(ticks.size()) > 4 * count) {
      break;  // a range that doubles cannot tell apart
    }
  }
  return ticks;
}

}  // namespace edgewise
