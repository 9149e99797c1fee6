#include "edgewise/util/process.h"

#include <sys/resource.h>

namespace edgewise {

std::uint64_t peakMemoryBytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  constexpr std::uint64_t kKibibyte = 1024;
  return static_cast<std::uint64_t>(usage.ru_maxrss) * kKibibyte;
}

}  // namespace edgewise
