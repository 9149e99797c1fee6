// Round numbers along an axis.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "edgewise/report/chart.h"

namespace edgewise {

struct AxisRange {
  double low = 0;
  double high = 1;
};

// The ends that the axis names, else those of the finite values; never empty.
[[nodiscard]] AxisRange rangeOf(const ChartAxis& axis, std::span<const double> values);

struct AxisTick {
  double value = 0;
  std::string label;
};

// 1, 2 or 5 times a power of ten, not below `least`; and the decimals that tell its multiples
// apart.
[[nodiscard]] double roundStep(double least);
[[nodiscard]] int decimalsOf(double step);

// Round values within the range, about `count` of them, with as many decimals as tell them apart.
[[nodiscard]] std::vector<AxisTick> ticksOf(AxisRange range, int count);

}  // namespace edgewise
