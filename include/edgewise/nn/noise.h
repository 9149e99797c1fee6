// The random part of a forward pass: which elements dropout takes at this step.
#pragma once

#include <cstdint>
#include <string>

#include "edgewise/ops/dropout.h"
#include "edgewise/util/rng.h"

namespace edgewise {

class Noise {
 public:
  // None: as for evaluation.
  Noise() = default;
  Noise(std::uint64_t seed, std::uint64_t step) : active_(true), seed_(seed), step_(step) {}

  // The mask of one place of the model ("encoder.1"); the same place and step give the same mask.
  [[nodiscard]] DropoutMask mask(const std::string& place, double rate) const {
    return active_ && rate > 0 ? DropoutMask(rate, CounterRng(seed_, "dropout." + place), step_)
                               : DropoutMask();
  }

 private:
  bool active_ = false;
  std::uint64_t seed_ = 0;
  std::uint64_t step_ = 0;
};

}  // namespace edgewise
