#include "edgewise/ops/backend.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <malloc.h>

#include <array>
#include <filesystem>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include "edgewise/util/error.h"
#include "edgewise/util/parallel.h"
#include "ops/loaded_function.h"
#include "ops/page_allocator.h"
#include "ops/torch_compat.h"

namespace edgewise {
namespace {

using detail::loadedFunction;

std::string pathOfBlas() {
  auto* const sgemm = loadedFunction<void()>("sgemm_");
  Dl_info where{};
  if (sgemm == nullptr || ::dladdr(reinterpret_cast<void*>(sgemm), &where) == 0) {
    return {};
  }
  std::error_code failed;
  const std::filesystem::path real = std::filesystem::canonical(where.dli_fname, failed);
  return failed ? std::string(where.dli_fname) : real.string();
}

// libtorch may carry its BLAS inside itself; then only its build settings tell.
std::string blasNameFromBuildSettings() {
  const std::string settings = at::show_config();
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kNames = {
      {{"BLAS_INFO=mkl", "MKL"},
       {"BLAS_INFO=open", "OpenBLAS"},
       {"BLAS_INFO=accelerate", "Accelerate"},
       {"BLAS_INFO=nvpl", "NVPL"}}};
  for (const auto& [setting, name] : kNames) {
    if (settings.find(setting) != std::string::npos) {
      return std::string(name);
    }
  }
  return "unknown";
}

BlasThreading openBlasThreading() {
  auto* const parallel = loadedFunction<int()>("openblas_get_parallel");
  switch (parallel == nullptr ? -1 : parallel()) {
    case 0:
      return BlasThreading::kSequential;
    case 1:
      return BlasThreading::kPthreads;
    case 2:
      return BlasThreading::kOpenMp;
    default:
      return BlasThreading::kUnknown;
  }
}

void describeBlas(BackendInfo& info) {
  info.blas_path = pathOfBlas();
  info.blas = blasNameFromPath(info.blas_path);
  if (info.blas == "unknown") {
    info.blas = blasNameFromBuildSettings();
  }
  info.blas_is_reference = info.blas == "reference BLAS";
  if (info.blas == "OpenBLAS") {
    info.blas_threading = openBlasThreading();
    if (auto* const config = loadedFunction<char*()>("openblas_get_config"); config != nullptr) {
      info.blas = config();
    }
  } else if (info.blas == "MKL") {
    info.blas_threading = BlasThreading::kOpenMp;
  } else if (info.blas_is_reference) {
    info.blas_threading = BlasThreading::kSequential;
  }
}

// Asked of the driver itself, whose interface is stable, so that CUDA's headers are not needed to
// build.
std::vector<std::string> cudaDeviceNames(std::size_t count) {
  std::vector<std::string> names;
  void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY);
  if (driver == nullptr) {
    return std::vector<std::string>(count, "CUDA device");
  }
  auto* const start = reinterpret_cast<int (*)(unsigned)>(::dlsym(driver, "cuInit"));
  auto* const device = reinterpret_cast<int (*)(int*, int)>(::dlsym(driver, "cuDeviceGet"));
  auto* const name_of =
      reinterpret_cast<int (*)(char*, int, int)>(::dlsym(driver, "cuDeviceGetName"));
  const bool usable = start != nullptr && device != nullptr && name_of != nullptr && start(0) == 0;
  for (std::size_t i = 0; i < count; ++i) {
    int handle = 0;
    std::array<char, 256> name{};
    const bool named = usable && device(&handle, static_cast<int>(i)) == 0 &&
                       name_of(name.data(), static_cast<int>(name.size()) - 1, handle) == 0;
    names.emplace_back(named ? name.data() : "CUDA device");
  }
  ::dlclose(driver);
  return names;
}

}  // namespace

std::string blasNameFromPath(const std::string& path) {
  const std::filesystem::path file(path);
  const std::string name = file.filename().string();
  // Debian keeps every BLAS under the same file name in a folder of its own.
  const std::string folder = file.parent_path().filename().string();
  const auto tells = [&](std::string_view word) {
    return name.find(word) != std::string::npos || folder.find(word) != std::string::npos;
  };
  for (const auto& [word, blas] : {std::pair{"openblas", "OpenBLAS"}, std::pair{"mkl", "MKL"},
                                   std::pair{"blis", "BLIS"}, std::pair{"atlas", "ATLAS"}}) {
    if (tells(word)) {
      return blas;
    }
  }
  return name.starts_with("libblas.") ? "reference BLAS" : "unknown";
}

BackendInfo inspectBackend() {
  BackendInfo info;
  info.torch_version = torch_compat::versionName();
  describeBlas(info);
  info.torch_threads = at::get_num_threads();
  info.cuda_available = torch::cuda::is_available();
  if (info.cuda_available) {
    info.cuda_devices = cudaDeviceNames(torch_compat::cudaDeviceCount());
  }
  return info;
}

void setBackendThreads(int threads) {
  if (threads < 0) {
    throw ConfigError(fmt::format("the number of threads cannot be {}", threads),
                      "0 means all cores");
  }
  // BLAS runs one piece of a product on one thread (cpu_gemm.h cuts the pieces): its own cuts would
  // depend on the number of threads, and so would the results' last bits. First, because an
  // OpenBLAS on OpenMP hands what it is told on to OpenMP.
  for (const char* name : {"openblas_set_num_threads", "MKL_Set_Num_Threads"}) {
    if (auto* const set = loadedFunction<void(int)>(name); set != nullptr) {
      set(1);
    }
  }
  setThreadCount(threads);
  // libtorch may bring an OpenMP runtime of its own, which the setting above does not reach.
  at::set_num_threads(threadCount());
}

void keepFreedMemory() {
#ifdef __GLIBC__
  // Larger blocks than this would leave gaps that the next do not fit.
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  ::mallopt(M_TOP_PAD, 64 << 20);
#endif
  detail::useKeptPages();
}

void releaseFreedMemory() { detail::releaseKeptPages(); }

std::optional<std::string> blasWarning(const BackendInfo& info) {
  if (info.blas_is_reference) {
    return fmt::format(
        "libtorch runs on the reference BLAS ({}), which is far slower than an optimised one; on "
        "Debian: apt-get install libopenblas-openmp-dev",
        info.blas_path);
  }
  if (info.blas_threading == BlasThreading::kPthreads) {
    return fmt::format(
        "OpenBLAS ({}) runs threads of its own, which compete with OpenMP's; on Debian: apt-get "
        "install libopenblas-openmp-dev, and select it with update-alternatives",
        info.blas_path);
  }
  return std::nullopt;
}

}  // namespace edgewise
