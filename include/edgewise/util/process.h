// What this process has used so far.
#pragma once

#include <chrono>
#include <cstdint>

namespace edgewise {

// The most memory this process has held at once.
[[nodiscard]] std::uint64_t peakMemoryBytes();

// What this process could still take: what the system and its container's limit leave; 0 when that
// cannot be told.
[[nodiscard]] std::uint64_t availableMemoryBytes();

// Seconds since construction, by the steady clock.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace edgewise
