#include "edgewise/training/adam.h"

#include <ATen/Functions.h>

#include <cmath>
#include <vector>

#include "edgewise/util/error.h"
#include "edgewise/util/parallel.h"

namespace edgewise {
namespace {

constexpr std::size_t kBlock = 16'384;

// One step for a run of parameters that lie side by side.
template <class Real>
struct Stretch {
  Real* value;
  const Real* gradient;
  Real* first;
  Real* second;
  std::size_t count;
};

struct Coefficients {
  double step;
  double root_correction;
  double gradient_scale;
};

template <class Real>
void adamStep(const Stretch<Real>& stretch, const AdamOptions& options, const Coefficients& with) {
  const auto scale = static_cast<Real>(with.gradient_scale);
  const auto decay = static_cast<Real>(options.weight_decay);
  const auto beta1 = static_cast<Real>(options.beta1);
  const auto beta2 = static_cast<Real>(options.beta2);
  const auto rest1 = static_cast<Real>(1 - options.beta1);
  const auto rest2 = static_cast<Real>(1 - options.beta2);
  const auto step = static_cast<Real>(with.step);
  const auto root = static_cast<Real>(with.root_correction);
  const auto epsilon = static_cast<Real>(options.epsilon);
  parallelFor(
      stretch.count, kBlock,
      [&](std::size_t begin, std::size_t end) {
#pragma omp simd
        for (std::size_t i = begin; i < end; ++i) {
          const Real gradient = stretch.gradient[i] * scale + decay * stretch.value[i];
          stretch.first[i] = beta1 * stretch.first[i] + rest1 * gradient;
          stretch.second[i] = beta2 * stretch.second[i] + rest2 * gradient * gradient;
          stretch.value[i] -=
              step * stretch.first[i] / (std::sqrt(stretch.second[i]) / root + epsilon);
        }
      },
      static_cast<double>(stretch.count));
}

template <class Real>
double squares(const Real* values, std::size_t count) {
  std::vector<double> partial((count + kBlock - 1) / kBlock, 0.0);
  parallelFor(
      count, kBlock,
      [&](std::size_t begin, std::size_t end) {
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::size_t i = begin; i < end; ++i) {
          sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
        }
        partial[begin / kBlock] = sum;
      },
      0.3 * static_cast<double>(count));
  double total = 0;
  for (const double sum : partial) {
    total += sum;
  }
  return total;
}

}  // namespace

Adam::Adam(const Parameters& parameters, const AdamOptions& options)
    : options_(options),
      first_(at::zeros_like(parameters.flat())),
      second_(at::zeros_like(parameters.flat())) {}

void Adam::step(Parameters& parameters, std::span<const at::Tensor> gradients, double learning_rate,
                double gradient_scale) {
  invariant(gradients.size() == parameters.tensors().size(), "one gradient a parameter");
  const Correction correction = nextStep(learning_rate);
  const Coefficients with{.step = correction.step,
                          .root_correction = correction.root,
                          .gradient_scale = gradient_scale};
  std::int64_t offset = 0;
  for (const at::Tensor& given : gradients) {
    const at::Tensor gradient = given.contiguous();
    const auto size = static_cast<std::size_t>(gradient.numel());
    const auto run = [&]<class Real>(Real) {
      adamStep<Real>({parameters.flat().data_ptr<Real>() + offset, gradient.data_ptr<Real>(),
                      first_.data_ptr<Real>() + offset, second_.data_ptr<Real>() + offset, size},
                     options_, with);
    };
    if (gradient.scalar_type() == at::kDouble) {
      run(double{});
    } else {
      run(float{});
    }
    offset += gradient.numel();
  }
}

Adam::Correction Adam::nextStep(double learning_rate) {
  ++steps_;
  const auto count = static_cast<double>(steps_);
  return {.step = learning_rate / (1 - std::pow(options_.beta1, count)),
          .root = std::sqrt(1 - std::pow(options_.beta2, count))};
}

void Adam::restore(const at::Tensor& first, const at::Tensor& second, std::int64_t steps) {
  first_.copy_(first);
  second_.copy_(second);
  steps_ = steps;
}

double gradientNorm(std::span<const at::Tensor> gradients) {
  double total = 0;
  for (const at::Tensor& given : gradients) {
    const at::Tensor gradient = given.contiguous();
    const auto size = static_cast<std::size_t>(gradient.numel());
    total += gradient.scalar_type() == at::kDouble ? squares(gradient.data_ptr<double>(), size)
                                                   : squares(gradient.data_ptr<float>(), size);
  }
  return std::sqrt(total);
}

}  // namespace edgewise
