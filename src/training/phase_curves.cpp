#include "training/phase_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace edgewise::detail {
namespace {

// The metrics that phases were validated by, each once.
std::vector<std::string> metricNames(std::span<const PhaseCurve> curves) {
  std::vector<std::string> names;
  for (const PhaseCurve& curve : curves) {
    if (curve.points.empty()) {
      continue;
    }
    for (const auto& [name, value] : curve.points.front().valid.values()) {
      if (std::ranges::find(names, name) == names.end()) {
        names.push_back(name);
      }
    }
  }
  return names;
}

void addRows(const PhaseCurve& curve, std::span<const std::string> names, std::string& text) {
  for (const CurvePoint& point : curve.points) {
    text += fmt::format("{},{},{},{},{},{}", curve.phase, point.epoch, point.steps, point.loss,
                        point.learning_rate, point.gradient_norm);
    for (const std::string& name : names) {
      const std::optional<double> value = point.valid.find(name);
      text += value ? fmt::format(",{}", *value) : ",";
    }
    text += fmt::format(",{:.3f}\n", point.seconds);
  }
}

}  // namespace

std::string curvesText(std::span<const PhaseCurve> curves) {
  const std::vector<std::string> names = metricNames(curves);
  std::string text = "phase,epoch,steps,loss,lr,gradient_norm";
  for (const std::string& name : names) {
    text += ",valid_" + name;
  }
  text += ",seconds\n";
  for (const PhaseCurve& curve : curves) {
    addRows(curve, names, text);
  }
  return text;
}

}  // namespace edgewise::detail
