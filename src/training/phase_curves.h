// How the phases of a run went, epoch by epoch, as curves.csv has it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "edgewise/training/training_state.h"

namespace edgewise::detail {

// What was learned in one phase of a run.
struct PhaseCurve {
  std::string phase;
  std::vector<CurvePoint> points;
};

// One row an epoch, all phases below each other; a metric that a phase does not know is left empty.
[[nodiscard]] std::string curvesText(std::span<const PhaseCurve> curves);

}  // namespace edgewise::detail
