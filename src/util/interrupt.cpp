#include "edgewise/util/interrupt.h"

#include <atomic>
#include <csignal>

#include "edgewise/util/error.h"

namespace edgewise {
namespace {

// A signal handler can reach only static storage; this flag is the process's one mutable global.
std::atomic<bool> interrupted{false};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
static_assert(std::atomic<bool>::is_always_lock_free);

void onSignal(int number) {
  if (interrupted.exchange(true)) {
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
}

}  // namespace

void installInterruptHandler() {
  std::signal(SIGINT, onSignal);
  std::signal(SIGTERM, onSignal);
}

bool interruptRequested() noexcept { return interrupted.load(std::memory_order_relaxed); }
void requestInterrupt() noexcept { interrupted.store(true); }
void clearInterrupt() noexcept { interrupted.store(false); }

void throwIfInterrupted() {
  if (interruptRequested()) {
    throw InterruptedError("interrupted");
  }
}

}  // namespace edgewise
