// Ctrl-C without losing work: the signal sets a flag, long loops ask for it at points where
// stopping is safe.
#pragma once

namespace edgewise {

// Installs handlers for SIGINT and SIGTERM. A second signal ends the process at once.
void installInterruptHandler();
[[nodiscard]] bool interruptRequested() noexcept;
// For tests and embedding programs.
void requestInterrupt() noexcept;
void clearInterrupt() noexcept;
// Throws InterruptedError when a stop was asked for.
void throwIfInterrupted();

}  // namespace edgewise
