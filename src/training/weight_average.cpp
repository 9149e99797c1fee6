#include "training/weight_average.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <exception>

namespace edgewise::detail {
namespace {

void averageIn(const Parameters& parameters, double share_of_past, at::Tensor& averaged) {
  if (!averaged.defined()) {
    averaged = parameters.flat().clone();
    return;
  }
  averaged.lerp_(parameters.flat(), 1 - share_of_past);
}

// Returns what was in place before.
at::Tensor putInPlace(const at::Tensor& averaged, Parameters& parameters) {
  if (!averaged.defined()) {
    return {};
  }
  at::Tensor before = parameters.flat().clone();
  parameters.flat().copy_(averaged);
  return before;
}

}  // namespace

void averageIn(TrainingState& state, double share_of_past) {
  const auto steps = static_cast<double>(state.steps);
  const double share = std::min(share_of_past, (1 + steps) / (10 + steps));
  averageIn(state.parameters, share, state.averaged);
  if (state.selector) {
    averageIn(state.selector->parameters, share, state.selector->averaged);
  }
}

AveragesInPlace::AveragesInPlace(TrainingState& state)
    : state_(state), parameters_(putInPlace(state.averaged, state.parameters)) {
  if (state.selector) {
    selector_ = putInPlace(state.selector->averaged, state.selector->parameters);
  }
}

AveragesInPlace::~AveragesInPlace() {
  try {
    if (parameters_.defined()) {
      state_.parameters.flat().copy_(parameters_);
    }
    if (selector_.defined()) {
      state_.selector->parameters.flat().copy_(selector_);
    }
  } catch (const std::exception&) {
    // A device that fails here fails whatever comes next too, where it can be told.
  }
}

}  // namespace edgewise::detail
