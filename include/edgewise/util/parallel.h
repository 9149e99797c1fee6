// Data-parallel loops over fixed blocks. The blocks depend on the amount of work alone, never on
// the number of threads, so a reduction that combines per-block results in block order gives the
// same bits on any machine. One thread setting for the whole process: OpenMP's, which OpenBLAS
// (openmp flavour) shares.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>

namespace edgewise {

// Threads that parallel loops may use; at least 1.
[[nodiscard]] int threadCount();
// Sets it for the whole process; 0 means all cores this process may run on.
void setThreadCount(int threads);

// Work of a loop whose size nobody estimated.
inline constexpr double kUnknownWork = std::numeric_limits<double>::infinity();

// Calls body(begin, end) for consecutive blocks of `grain` items covering [0, count). Small work
// and nested calls run serially, block after block, so that results stay the same. `nanoseconds` is
// about what the whole loop takes on one core: waking another costs tens of microseconds where
// cores share no cache. An exception stops further blocks and the one of the lowest block is
// rethrown.
void parallelFor(std::size_t count, std::size_t grain,
                 const std::function<void(std::size_t begin, std::size_t end)>& body,
                 double nanoseconds = kUnknownWork);

}  // namespace edgewise
