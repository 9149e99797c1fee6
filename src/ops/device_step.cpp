#include "edgewise/ops/device_step.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <cstddef>

#include "edgewise/ops/gradients.h"
#include "edgewise/util/error.h"
#include "ops/autograd_support.h"

namespace edgewise {
namespace {

// Places of StepValues as doubles.
constexpr std::int64_t kInverseTemperature =
    offsetof(StepValues, inverse_temperature) / sizeof(double);
constexpr std::int64_t kVirtualStep = offsetof(StepValues, virtual_step) / sizeof(double);
constexpr std::int64_t kNumbers = sizeof(StepValues) / sizeof(double);
constexpr std::int64_t kSums = sizeof(cuda::StepSums) / sizeof(double);

StepValues* valuesIn(const at::Tensor& tensor) {
  return reinterpret_cast<StepValues*>(tensor.data_ptr<double>());
}

}  // namespace

DeviceStep::DeviceStep(at::Device device)
    : numbers_(at::zeros({kNumbers}, at::TensorOptions(at::kDouble).device(device))),
      sums_(at::zeros({2, kSums}, at::TensorOptions(at::kDouble).device(device))) {
  detail::requireKernels();
}

void DeviceStep::set(const StepValues& values) {
  if constexpr (detail::kDeviceKernels) {
    cuda::setStepValues(detail::streamOf(numbers_), values, valuesIn(numbers_));
  }
}

const std::uint64_t* DeviceStep::noiseStep() const { return &valuesIn(numbers_)->noise_step; }
at::Tensor DeviceStep::inverseTemperature() const { return numbers_[kInverseTemperature]; }
at::Tensor DeviceStep::virtualStep() const { return numbers_[kVirtualStep]; }

void DeviceStep::descend(const at::Tensor& loss, std::span<const at::Tensor> gradients, double clip,
                         const AdamRule& rule, const AdamBuffers& buffers) {
  descend(loss, gradients, clip, rule, buffers, 0);
}

void DeviceStep::descendSelector(const at::Tensor& loss, std::span<const at::Tensor> gradients,
                                 const AdamRule& rule, const AdamBuffers& buffers) {
  descend(loss, gradients, 0, rule, buffers, 1);
}

void DeviceStep::descend(const at::Tensor& loss, std::span<const at::Tensor> gradients, double clip,
                         const AdamRule& rule, const AdamBuffers& buffers, std::int64_t which) {
  if constexpr (detail::kDeviceKernels) {
    const at::Tensor slope = flattened(gradients);
    const at::Tensor norm = normOnDevice(slope);
    const cuda::Stream stream = detail::streamOf(slope);
    StepValues* const numbers = valuesIn(numbers_);
    auto* const sums = reinterpret_cast<cuda::StepSums*>(sums_[which].data_ptr<double>());
    detail::byType("a step", slope, [&]<class Real>(Real) {
      cuda::countStep<Real>(stream, loss.data_ptr<Real>(), norm.data_ptr<double>(), clip, numbers,
                            sums);
      cuda::adam<Real>(stream,
                       {.beta1 = rule.beta1,
                        .beta2 = rule.beta2,
                        .epsilon = rule.epsilon,
                        .weight_decay = rule.weight_decay},
                       which == 0 ? &numbers->adam_step : &numbers->selector_step,
                       which == 0 ? &numbers->adam_root : &numbers->selector_root, &sums->scale,
                       slope.data_ptr<Real>(), static_cast<std::size_t>(slope.numel()),
                       buffers.value.data_ptr<Real>(), buffers.first.data_ptr<Real>(),
                       buffers.second.data_ptr<Real>());
    });
  }
}

StepSums DeviceStep::takeSums() {
  const at::Tensor host = sums_.to(at::kCPU, /*non_blocking=*/false, /*copy=*/true);
  const auto* const values = reinterpret_cast<const cuda::StepSums*>(host.data_ptr<double>());
  sums_.zero_();
  return {values[0].loss, values[0].norm, static_cast<std::int64_t>(values[0].diverged),
          static_cast<std::int64_t>(values[1].diverged)};
}

}  // namespace edgewise
