#include "edgewise/ops/device.h"

#include <ATen/Context.h>
#include <fmt/format.h>

#include <atomic>
#include <cstdlib>

#include "edgewise/ops/backend.h"
#include "edgewise/util/error.h"
#include "ops/device_kernels.h"
#include "ops/torch_compat.h"

#ifdef EDGEWISE_CUDA
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace edgewise {
namespace {

// Programs built to imitate a GPU can be told to from outside.
bool toldToImitate() {
  const char* const told = std::getenv("EDGEWISE_IMITATE_CUDA");
  return ImitatedDevice::available() && told != nullptr && std::string_view(told) == "1";
}

std::atomic<bool> imitating = toldToImitate();
std::atomic<ProductPrecision> precision = ProductPrecision::kFloat;

#ifdef EDGEWISE_CUDA
// Of the first GPU, 90 for 9.0.
int capability() {
  const auto* const properties = at::cuda::getDeviceProperties(0);
  return 10 * properties->major + properties->minor;
}
#else
constexpr const char* kHowToBuild =
    "leave --device out or use --device cpu; for a GPU build with `cmake --preset cuda`";
#endif

}  // namespace

at::Device resolveDevice(std::string_view name) {
  if (name != "auto" && name != "cpu" && name != "cuda") {
    throw ConfigError(fmt::format("run.device: no device is called '{}'", name),
                      "known: auto, cpu, cuda");
  }
  if (name == "cpu") {
    return at::kCPU;
  }
#ifdef EDGEWISE_CUDA
  const bool there = torch::cuda::is_available();
  if (there && capability() >= EDGEWISE_LEAST_GPU) {
    return at::Device(at::kCUDA, 0);
  }
  if (name == "cuda" && there) {
    throw ResourceError(
        fmt::format(
            "--device cuda: this edgewise has kernels for GPUs of compute capability {:.1f} "
            "and more, the one here has {:.1f}",
            EDGEWISE_LEAST_GPU / 10.0, capability() / 10.0),
        "build with -DEDGEWISE_GPU=... for it, or use --device cpu");
  }
  if (name == "cuda") {
    throw ResourceError("--device cuda: no GPU that libtorch can use is here",
                        "leave --device out, or use --device cpu");
  }
#else
  if (name == "cuda" && imitating) {
    return at::kCPU;
  }
  if (name == "cuda") {
    throw ConfigError("--device cuda: this edgewise was built without CUDA", kHowToBuild);
  }
#endif
  return at::kCPU;
}

std::string deviceName(at::Device device) {
  if (device.is_cpu()) {
    return "cpu";
  }
  const BackendInfo info = inspectBackend();
  const auto index = static_cast<std::size_t>(device.has_index() ? device.index() : 0);
  return index < info.cuda_devices.size() ? info.cuda_devices[index] : device.str();
}

ProductPrecision precisionOn(at::Device device, std::string_view name) {
  return !device.is_cpu() && name == "tf32" ? ProductPrecision::kTf32 : ProductPrecision::kFloat;
}

void setProductPrecision(ProductPrecision wanted) {
  precision = wanted;
  torch_compat::allowTf32(wanted == ProductPrecision::kTf32);
}

ProductPrecision productPrecision() { return precision; }

bool onDevice(const at::Tensor& tensor) { return onDevice(tensor.device()); }

bool onDevice([[maybe_unused]] at::Device device) {
  if constexpr (detail::kDeviceKernels) {
    return imitating || !device.is_cpu();
  }
  return false;
}

void finishDevice(at::Device device) {
  if (!device.is_cpu()) {
    torch::cuda::synchronize(device.has_index() ? device.index() : -1);
  }
}

std::size_t peakDeviceBytes([[maybe_unused]] at::Device device) {
#ifdef EDGEWISE_CUDA
  if (!device.is_cpu()) {
    const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(device.index());
    return static_cast<std::size_t>(stats.reserved_bytes[0].peak);
  }
#endif
  return 0;
}

ImitatedDevice::ImitatedDevice() : before_(imitating) { imitating = available(); }
ImitatedDevice::~ImitatedDevice() { imitating = before_; }

bool ImitatedDevice::available() {
#ifdef EDGEWISE_IMITATE_CUDA
  return true;
#else
  return false;
#endif
}

namespace detail {

cuda::Stream streamOf([[maybe_unused]] const at::Tensor& tensor) {
#ifdef EDGEWISE_CUDA
  if (tensor.is_cuda()) {
    return {c10::cuda::getCurrentCUDAStream(tensor.device().index()).stream()};
  }
#endif
  return {};
}

}  // namespace detail
}  // namespace edgewise
