// Adam (Kingma and Ba) over a model's flat buffer, in one pass over memory: torch's own takes ten
// kernel calls a parameter, which on small graphs costs more than the model.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "edgewise/nn/parameters.h"

namespace edgewise {

struct AdamOptions {
  double learning_rate = 0.01;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  // L2 penalty, added to the gradient.
  double weight_decay = 0;
};

class Adam {
 public:
  Adam(const Parameters& parameters, const AdamOptions& options);

  // One step down `gradients` (one a parameter, in order), each scaled by `gradient_scale` first,
  // at `learning_rate`.
  void step(Parameters& parameters, std::span<const at::Tensor> gradients, double learning_rate,
            double gradient_scale = 1);

  // Counts a step that is made elsewhere; what it needs to know.
  struct Correction {
    double step = 0;
    double root = 1;
  };
  [[nodiscard]] Correction nextStep(double learning_rate);

  [[nodiscard]] const AdamOptions& options() const { return options_; }
  [[nodiscard]] std::int64_t steps() const { return steps_; }

  // What resuming needs: both moments, [total] each, and the number of steps.
  [[nodiscard]] const at::Tensor& firstMoment() const { return first_; }
  [[nodiscard]] const at::Tensor& secondMoment() const { return second_; }
  void restore(const at::Tensor& first, const at::Tensor& second, std::int64_t steps);

 private:
  AdamOptions options_;
  std::int64_t steps_ = 0;
  at::Tensor first_;
  at::Tensor second_;
};

// The Euclidean norm over all gradients, added up in a fixed order in double precision.
[[nodiscard]] double gradientNorm(std::span<const at::Tensor> gradients);

}  // namespace edgewise
