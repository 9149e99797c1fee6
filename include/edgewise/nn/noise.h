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
  // At the step that stands in a device's memory.
  Noise(std::uint64_t seed, const std::uint64_t* step_on_device)
      : active_(true), seed_(seed), step_on_device_(step_on_device) {}

  // Whether this is a pass of training.
  [[nodiscard]] bool active() const { return active_; }
  // The mask of one place of the model ("encoder.1"); the same place and step give the same mask.
  [[nodiscard]] DropoutMask mask(const std::string& place, double rate) const {
    if (!active_ || rate <= 0) {
      return {};
    }
    const CounterRng random(seed_, "dropout." + place);
    return step_on_device_ != nullptr ? DropoutMask(rate, random, step_on_device_)
                                      : DropoutMask(rate, random, step_);
  }

 private:
  bool active_ = false;
  std::uint64_t seed_ = 0;
  std::uint64_t step_ = 0;
  const std::uint64_t* step_on_device_ = nullptr;
};

}  // namespace edgewise
