// What computes: libtorch, the BLAS under it, devices, threads. A program should say when it runs
// on a BLAS that is a hundred times slower than it need be, and one thread setting has to reach
// all the libraries that keep their own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace edgewise {

// How a BLAS runs in parallel. kPthreads keeps a pool beside OpenMP's, and the two fight for cores.
enum class BlasThreading : std::uint8_t { kUnknown, kSequential, kPthreads, kOpenMp };

struct BackendInfo {
  std::string torch_version;       // "1.13.0"
  std::string blas;                // "OpenBLAS 0.3.21 ...", "MKL", "reference BLAS", "unknown"
  std::string blas_path;           // file that provides sgemm; empty when it cannot be told
  bool blas_is_reference = false;  // the unoptimised BLAS of netlib
  BlasThreading blas_threading = BlasThreading::kUnknown;
  int torch_threads = 1;
  bool cuda_available = false;            // a device that libtorch can use is present
  std::vector<std::string> cuda_devices;  // their names in libtorch's order; empty without one
};

// Looks at the running process. Costs some milliseconds; starts CUDA only when libtorch knows it.
[[nodiscard]] BackendInfo inspectBackend();

// One setting for edgewise's own loops and libtorch's; BLAS is kept to one thread a call, since our
// own loops call it from many. 0 means all cores this process may
// run on. Not to be called while other threads compute. Throws ConfigError for a negative number.
void setBackendThreads(int threads);

// Keeps memory that was freed for the next tensors instead of handing it back to the system, whose
// page faults cost as much as the arithmetic or more. For programs, once, at the start.
void keepFreedMemory();

// Hands large blocks that are kept to the system after all. For the end of work whose results are
// of other sizes than what follows.
void releaseFreedMemory();

// A sentence for the user when the BLAS costs much of the speed, with what to install; nothing when
// all is well.
[[nodiscard]] std::optional<std::string> blasWarning(const BackendInfo& info);

// The library behind the file (symbolic links resolved) that provides sgemm, told by its path:
// "OpenBLAS", "MKL", "BLIS", "ATLAS", "reference BLAS", or "unknown".
[[nodiscard]] std::string blasNameFromPath(const std::string& path);

}  // namespace edgewise
