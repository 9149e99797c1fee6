#include "edgewise/report/mean_text.h"

#include <fmt/format.h>

namespace edgewise {

std::string meanText(const MeanStd& value, int decimals) {
  return value.count > 1
             ? fmt::format("{:.{}f} ± {:.{}f}", value.mean, decimals, value.std, decimals)
             : fmt::format("{:.{}f}", value.mean, decimals);
}

}  // namespace edgewise
