// What a training step on a GPU knows and leaves behind without asking the host: numbers that
// change from step to step stand in the GPU's memory, and losses add up there.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "edgewise/ops/step_values.h"

namespace edgewise {

// What steps added up since they were last asked.
struct StepSums {
  double loss = 0;
  double norm = 0;
  // The first step whose loss or gradient was not finite, counted from 1, of the model and of its
  // selector; 0: none. From there on that one was not updated.
  std::int64_t diverged = 0;
  std::int64_t selector_diverged = 0;
};

struct AdamRule {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
};

// A buffer of parameters that Adam moves, all [total].
struct AdamBuffers {
  at::Tensor value;
  at::Tensor first;
  at::Tensor second;
};

class DeviceStep {
 public:
  explicit DeviceStep(at::Device device);

  // Queued before what follows.
  void set(const StepValues& values);
  [[nodiscard]] const std::uint64_t* noiseStep() const;
  // Numbers as tensors [] of doubles.
  [[nodiscard]] at::Tensor inverseTemperature() const;
  [[nodiscard]] at::Tensor virtualStep() const;

  // One step down `gradients` (one a parameter, in order), scaled down to the norm `clip` where it
  // is positive; adds loss [] and norm up.
  void descend(const at::Tensor& loss, std::span<const at::Tensor> gradients, double clip,
               const AdamRule& rule, const AdamBuffers& buffers);
  // The same for a selector, whose loss is not added up.
  void descendSelector(const at::Tensor& loss, std::span<const at::Tensor> gradients,
                       const AdamRule& rule, const AdamBuffers& buffers);

  // Waits for all that was queued, and starts sums anew.
  [[nodiscard]] StepSums takeSums();

 private:
  void descend(const at::Tensor& loss, std::span<const at::Tensor> gradients, double clip,
               const AdamRule& rule, const AdamBuffers& buffers, std::int64_t which);

  at::Tensor numbers_;
  // Of the model and of the selector.
  at::Tensor sums_;
};

}  // namespace edgewise
