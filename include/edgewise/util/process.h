// What this process has used so far, and what it runs on.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace edgewise {

// The most memory this process has held at once.
[[nodiscard]] std::uint64_t peakMemoryBytes();

// What this process could still take: what the system and its container's limit leave; 0 when that
// cannot be told.
[[nodiscard]] std::uint64_t availableMemoryBytes();

// The processor as its maker calls it; "unknown processor" when the system does not tell.
[[nodiscard]] std::string processorName();

// Processes that wanted to run during the last minute, on average; negative when unknown. What is
// timed beside others' work says less.
[[nodiscard]] double systemLoad();

// Seconds of processor time that all threads of this process have had so far.
[[nodiscard]] double processorSeconds();

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
