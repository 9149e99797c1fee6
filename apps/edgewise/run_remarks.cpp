#include "run_remarks.h"

#include <fmt/format.h>

#include "edgewise/util/text.h"

namespace edgewise::app {

void warnOfCollapse(const Console& console, const RunMetrics& run) {
  constexpr double kCollapsed = 1.2;
  if (run.selector == "ps2" && run.views && run.views->effective < kCollapsed) {
    console.warn(
        fmt::format("the search collapsed: {:.2f} views in use for the test links; the "
                    "result is that of a fixed view",
                    run.views->effective));
  }
}

void noteRankedUsers(const Console& console, const RunMetrics& run) {
  for (const auto& [name, count] : run.chosen) {
    if (name == "full_ranking_users") {
      console.note(fmt::format(
          "the full ranking took {} users at random; evaluation.full_users=0 takes them all",
          groupedCount(static_cast<std::size_t>(count))));
    }
  }
}

void warnOfLeaks(const Console& console, const RunMetrics& run) {
  for (const Leak& leak : run.audit.leaks) {
    console.warn(fmt::format("leak: {} {} (for example {})", groupedCount(leak.count), leak.what,
                             joinText(leak.examples, "; ")));
  }
}

}  // namespace edgewise::app
