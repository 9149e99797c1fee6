// Runs that differ in nothing but their seed, under a name that tells them from the others.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "edgewise/evaluation/summary.h"
#include "edgewise/report/run_record.h"

namespace edgewise {

struct RunGroup {
  // "gae ps2"; with the dataset and the options that differ where that is not enough.
  std::string name;
  // At least one.
  std::vector<const RunRecord*> runs;

  [[nodiscard]] const RunRecord& first() const { return *runs.front(); }
};

// In the order of their first runs. The records must outlive them.
[[nodiscard]] std::vector<RunGroup> groupRuns(std::span<const RunRecord> records);

// Mean and standard deviation over a group of what `value` finds; nothing unless every run has it.
[[nodiscard]] std::optional<MeanStd> meanOver(
    const RunGroup& group, const std::function<std::optional<double>(const RunRecord&)>& value);

// Why results of one dataset's name do not compare, a sentence each: they are of different data, or
// of different splits under the same seed.
[[nodiscard]] std::vector<std::string> whyNotCompared(std::span<const RunGroup> groups);

// "3 seeds: 0, 1, 2".
[[nodiscard]] std::string seedsText(const RunGroup& group);

}  // namespace edgewise
