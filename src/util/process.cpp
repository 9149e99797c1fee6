#include "edgewise/util/process.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

namespace edgewise {
namespace {

constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

// A file that holds one number; "max" and whatever cannot be read are unknown.
std::uint64_t numberIn(const char* path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? value : kUnknown;
}

// Of /proc/meminfo, in bytes.
std::uint64_t memInfo(const std::string& wanted) {
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::string unit;
  std::uint64_t kibibytes = 0;
  while (file >> key >> kibibytes) {
    std::getline(file, unit);
    if (key == wanted + ":") {
      return kibibytes * 1024;
    }
  }
  return kUnknown;
}

// What a container's limit leaves.
std::uint64_t leftInContainer() {
  const std::uint64_t limit = numberIn("/sys/fs/cgroup/memory.max");
  const std::uint64_t used = numberIn("/sys/fs/cgroup/memory.current");
  if (limit == kUnknown || used == kUnknown) {
    return kUnknown;
  }
  return limit > used ? limit - used : 1;
}

// What a limit on this process (ulimit -v) leaves.
std::uint64_t leftInProcess() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return kUnknown;
  }
  const std::uint64_t pages = numberIn("/proc/self/statm");
  const std::uint64_t used =
      pages == kUnknown ? 0 : pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return limit.rlim_cur > used ? limit.rlim_cur - used : 1;
}

}  // namespace

std::uint64_t peakMemoryBytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  constexpr std::uint64_t kKibibyte = 1024;
  return static_cast<std::uint64_t>(usage.ru_maxrss) * kKibibyte;
}

std::uint64_t availableMemoryBytes() {
  const std::uint64_t left =
      std::min({memInfo("MemAvailable"), leftInContainer(), leftInProcess()});
  return left == kUnknown ? 0 : left;
}

std::string processorName() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown processor";
}

double processorSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double systemLoad() {
  double load = 0;
  return ::getloadavg(&load, 1) == 1 ? load : -1;
}

}  // namespace edgewise
