// Where a model lives: on the processor or on a GPU. Operations look at their tensors and compute
// where those are.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>

namespace edgewise {

// "auto" (a GPU where there is one), "cpu" or "cuda". Throws ResourceError for a GPU that is not
// there, ConfigError when this program was built without CUDA or for another name.
[[nodiscard]] at::Device resolveDevice(std::string_view name);
// "cpu", or the GPU's name.
[[nodiscard]] std::string deviceName(at::Device device);

// How products of floats on a GPU are rounded: as floats, or faster with inputs of 10 bits (TF32).
enum class ProductPrecision : std::uint8_t { kFloat, kTf32 };
// "tf32" or "fp32" as an option; on a processor always floats.
[[nodiscard]] ProductPrecision precisionOn(at::Device device, std::string_view name);
void setProductPrecision(ProductPrecision precision);
[[nodiscard]] ProductPrecision productPrecision();

// Whether our own GPU kernels compute with this tensor, or with tensors there.
[[nodiscard]] bool onDevice(const at::Tensor& tensor);
[[nodiscard]] bool onDevice(at::Device device);
// Waits until the GPU has done what it was asked to; nothing on a processor.
void finishDevice(at::Device device);
// Most of the GPU's memory that libtorch held at once, what it keeps for later included, in bytes;
// 0 on a processor.
[[nodiscard]] std::size_t peakDeviceBytes(at::Device device);

// Programs built to imitate a GPU run its kernels on the processor, for tests, while one of these
// lives. Others do not notice.
class ImitatedDevice {
 public:
  ImitatedDevice();
  ImitatedDevice(const ImitatedDevice&) = delete;
  ImitatedDevice& operator=(const ImitatedDevice&) = delete;
  ImitatedDevice(ImitatedDevice&&) = delete;
  ImitatedDevice& operator=(ImitatedDevice&&) = delete;
  ~ImitatedDevice();
  // Whether this program was built so.
  [[nodiscard]] static bool available();

 private:
  bool before_;
};

}  // namespace edgewise
