#include "edgewise/ops/machine_rates.h"

#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "edgewise/util/error.h"
#include "edgewise/util/parallel.h"
#include "edgewise/util/process.h"
#include "ops/cpu_gemm.h"
#include "ops/cpu_row_sum.h"

namespace edgewise {
namespace {

// One timed repeat moves about this much, so that the clock and the start of threads do not count.
constexpr std::size_t kBytesPerRepeat = std::size_t{64} << 20;
constexpr std::size_t kLeastRepeats = 3;
// Rows summed into one: about a node's degree.
constexpr std::size_t kPicksPerSum = 16;

template <class Work>
double leastSeconds(double budget, const Work& work) {
  work();
  const Stopwatch all;
  double least = 0;
  for (std::size_t i = 0; i < kLeastRepeats || all.seconds() < budget; ++i) {
    const Stopwatch one;
    work();
    const double seconds = one.seconds();
    least = i == 0 ? seconds : std::min(least, seconds);
  }
  return std::max(least, 1e-9);
}

std::size_t passesFor(std::size_t bytes) {
  return std::max<std::size_t>(1, kBytesPerRepeat / std::max<std::size_t>(1, bytes));
}

// One piece a thread: each then comes back to data of its own.
std::size_t perThread(std::size_t count) {
  const auto threads = static_cast<std::size_t>(threadCount());
  return (count + threads - 1) / threads;
}

void triad(std::span<float> a, std::span<const float> b, std::span<const float> c, float scale) {
#pragma omp simd
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = b[i] + scale * c[i];
  }
}

// Waits without giving the core away, unless that takes so long that the other thread may need it.
void awaitTurn(const std::atomic<int>& turn, int mine) {
  constexpr int kSpins = 100'000;
  for (int spin = 1; turn.load(std::memory_order_acquire) != mine; ++spin) {
    if (spin % kSpins == 0) {
      ::sched_yield();
    }
  }
}

// Two threads of the team that runs our loops pass a number to and fro. False when there is one.
bool passToAndFro(int rounds) {
  alignas(64) std::atomic<int> turn{0};
  bool both = false;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_num_threads() == 2) {
      const int me = omp_get_thread_num();
      for (int round = 0; round < rounds; ++round) {
        awaitTurn(turn, 2 * round + me);
        turn.store(2 * round + me + 1, std::memory_order_release);
      }
#pragma omp master
      both = true;
    }
  }
  return both;
}

}  // namespace

ProductShape largeProduct() {
  constexpr std::size_t kSide = 1024;
  constexpr std::size_t kRowsPerThread = 512;
  return {std::max(kSide, kRowsPerThread * static_cast<std::size_t>(threadCount())), kSide, kSide};
}

double productRate(const ProductShape& shape, double seconds) {
  const std::vector<float> a(shape.rows * shape.inner, 0.5F);
  const std::vector<float> b(shape.inner * shape.columns, 0.25F);
  std::vector<float> out(shape.rows * shape.columns);
  const double flops = 2.0 * static_cast<double>(shape.rows) * static_cast<double>(shape.inner) *
                       static_cast<double>(shape.columns);
  const double least = leastSeconds(seconds, [&] {
    detail::multiply<float>({a.data(), shape.rows, shape.inner},
                            {b.data(), shape.inner, shape.columns}, out.data(), false);
  });
  return flops / least;
}

std::size_t beyondCaches() {
  constexpr long kLeast = 64L << 20;
  constexpr long kMost = 512L << 20;
#ifdef _SC_LEVEL3_CACHE_SIZE
  const long cache = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
#else
  const long cache = 0;
#endif
  return static_cast<std::size_t>(std::clamp(2 * cache, kLeast, kMost));
}

double streamRate(std::size_t array_bytes, double seconds) {
  const std::size_t bytes = std::min(array_bytes, beyondCaches());
  const std::size_t count = std::max<std::size_t>(1, bytes / sizeof(float));
  std::vector<float> a(count);
  const std::vector<float> b(count, 1.0F);
  const std::vector<float> c(count, 2.0F);
  const std::size_t passes = passesFor(3 * bytes);
  const double least = leastSeconds(seconds, [&] {
    parallelFor(count, perThread(count), [&](std::size_t begin, std::size_t end) {
      for (std::size_t pass = 0; pass < passes; ++pass) {
        // Another scale each time, or a compiler could leave passes out.
        triad(std::span(a).subspan(begin, end - begin), std::span(b).subspan(begin, end - begin),
              std::span(c).subspan(begin, end - begin), static_cast<float>(pass));
      }
    });
  });
  return 3.0 * sizeof(float) * static_cast<double>(count * passes) / least;
}

double gatherRate(std::span<const std::uint32_t> picks, std::size_t rows, std::size_t width,
                  double seconds) {
  invariant(!picks.empty() && std::ranges::max(picks) < rows, "picks of rows that are not there");
  const std::vector<float> table(rows * width, 1.0F);
  const std::size_t sums = (picks.size() + kPicksPerSum - 1) / kPicksPerSum;
  const std::size_t passes = passesFor(picks.size() * width * sizeof(float));
  const std::size_t asked = detail::liesFar<float>(rows, width) ? picks.size() : 0;
  const double least = leastSeconds(seconds, [&] {
    parallelFor(sums, perThread(sums), [&](std::size_t begin, std::size_t end) {
      // Overwritten again and again: only reading is to be measured.
      std::vector<float> out(width);
      for (std::size_t i = begin * passes; i < end * passes; ++i) {
        const std::size_t first = (begin + i % (end - begin)) * kPicksPerSum;
        const auto mine = picks.subspan(first, std::min(kPicksPerSum, picks.size() - first));
        detail::sumRow(table.data(), width, 1.0F, out.data(), [&](auto& strip) {
          for (std::size_t k = 0; k < mine.size(); ++k) {
            if (first + k + detail::kRowsAhead < asked) {
              strip.fetch(picks[first + k + detail::kRowsAhead]);
            }
            strip.add(mine[k], 1.0F);
          }
        });
      }
    });
  });
  return sizeof(float) * static_cast<double>(picks.size() * passes * width) / least;
}

double handoverSeconds(double seconds) {
  constexpr int kRounds = 2000;
  if (threadCount() < 2 || !passToAndFro(1)) {
    return 0;
  }
  return leastSeconds(seconds, [] { passToAndFro(kRounds); }) / (2.0 * kRounds);
}

}  // namespace edgewise
