// Mean and standard deviation as people read them.
#pragma once

#include <string>

#include "edgewise/evaluation/summary.h"

namespace edgewise {

// "0.9567 ± 0.0021"; of a single value "0.9567".
[[nodiscard]] std::string meanText(const MeanStd& value, int decimals = 4);

}  // namespace edgewise
