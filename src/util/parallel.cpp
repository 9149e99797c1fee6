#include "edgewise/util/parallel.h"

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

#include "edgewise/util/error.h"

namespace edgewise {
namespace {

// A loop that takes less than this on one core gains nothing from a second.
constexpr double kSmallWork = 150'000;

int usableCores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) {
    return std::max(1, omp_get_num_procs());
  }
  return std::max(1, CPU_COUNT(&cores));
}

// Keeps the exception of the lowest block, so that the error a user sees does not depend on
// scheduling.
class FirstException {
 public:
  void keep(std::size_t block) {
    const std::lock_guard lock(mutex_);
    if (!exception_ || block < block_) {
      exception_ = std::current_exception();
      block_ = block;
    }
    lowest_.store(block_, std::memory_order_relaxed);
  }
  // Blocks after a failed one need not run; blocks before it must, since they may fail earlier.
  [[nodiscard]] bool makesUseless(std::size_t block) const {
    return block > lowest_.load(std::memory_order_relaxed);
  }
  void rethrow() const {
    if (exception_) {
      std::rethrow_exception(exception_);
    }
  }

 private:
  std::mutex mutex_;
  std::exception_ptr exception_;
  std::size_t block_ = 0;
  std::atomic<std::size_t> lowest_{static_cast<std::size_t>(-1)};
};

}  // namespace

int threadCount() { return omp_get_max_threads(); }

void setThreadCount(int threads) { omp_set_num_threads(threads > 0 ? threads : usableCores()); }

void parallelFor(std::size_t count, std::size_t grain,
                 const std::function<void(std::size_t, std::size_t)>& body, double nanoseconds) {
  invariant(grain > 0, "parallelFor needs a positive grain");
  const std::size_t blocks = (count + grain - 1) / grain;
  const auto run_block = [&](std::size_t block) {
    body(block * grain, std::min(count, (block + 1) * grain));
  };
  if (blocks <= 1 || nanoseconds < kSmallWork || threadCount() == 1 || omp_in_parallel() != 0) {
    for (std::size_t block = 0; block < blocks; ++block) {
      run_block(block);
    }
    return;
  }
  FirstException failure;
#pragma omp parallel for schedule(dynamic, 1)
  for (std::size_t block = 0; block < blocks; ++block) {
    if (failure.makesUseless(block)) {
      continue;
    }
    try {
      run_block(block);
    } catch (...) {
      failure.keep(block);
    }
  }
  failure.rethrow();
}

}  // namespace edgewise
