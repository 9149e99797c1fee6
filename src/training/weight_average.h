// A running average of a model's weights: what it makes of noisy late steps is steadier than any
// one of them.
#pragma once

#include "edgewise/training/training_state.h"

namespace edgewise::detail {

// Takes what a step has left into the state's averages. Young averages forget faster: the share of
// the past is at most (1 + steps) / (10 + steps).
void averageIn(TrainingState& state, double share_of_past);

// While it lives, the state's parameters are their averages, where there are any.
class AveragesInPlace {
 public:
  explicit AveragesInPlace(TrainingState& state);
  AveragesInPlace(const AveragesInPlace&) = delete;
  AveragesInPlace& operator=(const AveragesInPlace&) = delete;
  AveragesInPlace(AveragesInPlace&&) = delete;
  AveragesInPlace& operator=(AveragesInPlace&&) = delete;
  ~AveragesInPlace();

 private:
  TrainingState& state_;
  at::Tensor parameters_;
  at::Tensor selector_;
};

}  // namespace edgewise::detail
