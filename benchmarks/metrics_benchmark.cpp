// How long the metrics take, beside what the machine could do at best: a sort of as many doubles
// and a plain pass over the same bytes.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "edgewise/evaluation/binary_metrics.h"
#include "edgewise/evaluation/full_ranking.h"
#include "edgewise/evaluation/hits.h"
#include "edgewise/evaluation/streaming.h"
#include "edgewise/util/parallel.h"
#include "edgewise/util/rng.h"

namespace edgewise {
namespace {

constexpr std::size_t kScores = 10'000'000;
constexpr std::size_t kUsers = 1'000;
constexpr std::size_t kItems = 40'981;

enum class Layout : std::uint8_t { kRandom, kTied, kSorted };

std::vector<double> makeScores(std::size_t count, Layout layout, std::uint64_t seed) {
  const CounterRng rng(seed, "benchmark scores");
  std::vector<double> scores(count);
  parallelFor(count, std::size_t{1} << 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      scores[i] = layout == Layout::kTied ? static_cast<double>(rng.below(i, 1000)) / 1000.0
                                          : rng.uniform(i) + rng.uniform(i, 1);
    }
  });
  if (layout == Layout::kSorted) {
    std::ranges::sort(scores, std::greater<>());
  }
  return scores;
}

struct TwoClasses {
  explicit TwoClasses(Layout layout)
      : positives(makeScores(kScores / 2, layout, 1)),
        negatives(makeScores(kScores / 2, layout, 2)) {}
  std::vector<double> positives;
  std::vector<double> negatives;
};

void timeAuc(benchmark::State& state, Layout layout) {
  const TwoClasses scores(layout);
  for ([[maybe_unused]] const auto _ : state) {
    benchmark::DoNotOptimize(auc(scores.positives, scores.negatives));
  }
}

void timeAucOfFloats(benchmark::State& state) {
  const TwoClasses scores(Layout::kRandom);
  const std::vector<float> positives(scores.positives.begin(), scores.positives.end());
  const std::vector<float> negatives(scores.negatives.begin(), scores.negatives.end());
  for ([[maybe_unused]] const auto _ : state) {
    benchmark::DoNotOptimize(auc(positives, negatives));
  }
}

void timeAveragePrecision(benchmark::State& state, Layout layout) {
  const TwoClasses scores(layout);
  for ([[maybe_unused]] const auto _ : state) {
    benchmark::DoNotOptimize(averagePrecision(scores.positives, scores.negatives));
  }
}

void timeHits(benchmark::State& state) {
  const TwoClasses scores(Layout::kRandom);
  for ([[maybe_unused]] const auto _ : state) {
    benchmark::DoNotOptimize(hitsAtK(scores.positives, scores.negatives, 100));
  }
}

// A hundred thousand positives, ten million negatives in blocks of 65,536.
void timeStreaming(benchmark::State& state) {
  const std::vector<double> positives = makeScores(100'000, Layout::kRandom, 3);
  const std::vector<double> negatives = makeScores(kScores, Layout::kRandom, 4);
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  for ([[maybe_unused]] const auto _ : state) {
    StreamingRanking streaming(positives);
    for (std::size_t begin = 0; begin < negatives.size(); begin += kBlock) {
      const std::size_t size = std::min(kBlock, negatives.size() - begin);
      streaming.addNegatives(std::span(negatives).subspan(begin, size));
    }
    benchmark::DoNotOptimize(auc(streaming.ranking()));
  }
}

// The floor of the sorted metrics: both lists sorted by the standard library, one after the other.
void floorSort(benchmark::State& state, Layout layout) {
  const TwoClasses scores(layout);
  for ([[maybe_unused]] const auto _ : state) {
    state.PauseTiming();
    TwoClasses copy = scores;
    state.ResumeTiming();
    std::ranges::sort(copy.positives);
    std::ranges::sort(copy.negatives);
    benchmark::DoNotOptimize(copy.negatives.data());
  }
}

template <class T>
void passOver(benchmark::State& state, const std::vector<T>& values) {
  for ([[maybe_unused]] const auto _ : state) {
    constexpr std::size_t kGrain = std::size_t{1} << 18;
    std::vector<unsigned> partial(values.size() / kGrain + 1);
    parallelFor(values.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      unsigned above = 0;
      for (std::size_t i = begin; i < end; ++i) {
        above += values[i] > T{0.5} ? 1U : 0U;
      }
      partial[begin / kGrain] = above;
    });
    benchmark::DoNotOptimize(std::accumulate(partial.begin(), partial.end(), 0U));
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(values.size() * sizeof(T)) *
                          static_cast<std::int64_t>(state.iterations()));
}

void floorPass(benchmark::State& state) {
  passOver(state, makeScores(kScores, Layout::kRandom, 5));
}

// Scores of a user block, 30 masked and 14 test items a user.
struct UserBlock {
  explicit UserBlock(Layout layout) {
    const std::vector<double> wide = makeScores(kUsers * kItems, layout, 6);
    scores.assign(wide.begin(), wide.end());
    const CounterRng rng(7, "benchmark items");
    for (std::uint64_t user = 0; user < kUsers; ++user) {
      // Odd steps through a prime number of items never meet.
      const auto start = rng.below(user, kItems);
      auto& chosen = items.emplace_back();
      for (std::uint64_t i = 0; i < 44; ++i) {
        chosen.push_back(static_cast<std::uint32_t>((start + i * 887) % kItems));
      }
    }
    for (const auto& chosen : items) {
      users.push_back({std::span(chosen).first(30), std::span(chosen).last(14)});
    }
  }
  std::vector<float> scores;
  std::vector<std::vector<std::uint32_t>> items;
  std::vector<UserItems> users;
};

void timeFullRanking(benchmark::State& state, Layout layout) {
  const UserBlock block(layout);
  for ([[maybe_unused]] const auto _ : state) {
    FullRankingAccumulator ranking(kItems, {20, 50});
    ranking.add(block.scores, block.users);
    benchmark::DoNotOptimize(ranking.result());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(block.scores.size() * sizeof(float)) *
                          static_cast<std::int64_t>(state.iterations()));
}

// Each row copied and cut at its 50th best: what a selection that forgets nothing costs.
void floorSelection(benchmark::State& state) {
  const UserBlock block(Layout::kRandom);
  for ([[maybe_unused]] const auto _ : state) {
    parallelFor(kUsers, 8, [&](std::size_t begin, std::size_t end) {
      std::vector<float> row(kItems);
      for (std::size_t user = begin; user < end; ++user) {
        std::ranges::copy(std::span(block.scores).subspan(user * kItems, kItems), row.begin());
        std::ranges::nth_element(row, row.begin() + 49, std::greater<>());
        benchmark::DoNotOptimize(row[49]);
      }
    });
  }
}

void floorUserPass(benchmark::State& state) { passOver(state, UserBlock(Layout::kRandom).scores); }

// Wall clock decides; the processor time of all threads beside it tells a busy machine from slow
// code.
void inMilliseconds(benchmark::internal::Benchmark* timed) {
  timed->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();
}

BENCHMARK_CAPTURE(timeAuc, random, Layout::kRandom)->Apply(inMilliseconds);
BENCHMARK_CAPTURE(timeAuc, tied, Layout::kTied)->Apply(inMilliseconds);
BENCHMARK_CAPTURE(timeAuc, sorted, Layout::kSorted)->Apply(inMilliseconds);
BENCHMARK(timeAucOfFloats)->Apply(inMilliseconds);
BENCHMARK_CAPTURE(timeAveragePrecision, random, Layout::kRandom)->Apply(inMilliseconds);
BENCHMARK_CAPTURE(timeAveragePrecision, tied, Layout::kTied)->Apply(inMilliseconds);
BENCHMARK_CAPTURE(timeAveragePrecision, sorted, Layout::kSorted)->Apply(inMilliseconds);
BENCHMARK(timeHits)->Apply(inMilliseconds);
BENCHMARK(timeStreaming)->Apply(inMilliseconds);
BENCHMARK_CAPTURE(floorSort, random, Layout::kRandom)->Apply(inMilliseconds);
BENCHMARK_CAPTURE(floorSort, tied, Layout::kTied)->Apply(inMilliseconds);
BENCHMARK_CAPTURE(floorSort, sorted, Layout::kSorted)->Apply(inMilliseconds);
BENCHMARK(floorPass)->Apply(inMilliseconds);
BENCHMARK_CAPTURE(timeFullRanking, random, Layout::kRandom)->Apply(inMilliseconds);
BENCHMARK_CAPTURE(timeFullRanking, tied, Layout::kTied)->Apply(inMilliseconds);
BENCHMARK_CAPTURE(timeFullRanking, sorted, Layout::kSorted)->Apply(inMilliseconds);
BENCHMARK(floorSelection)->Apply(inMilliseconds);
BENCHMARK(floorUserPass)->Apply(inMilliseconds);

}  // namespace
}  // namespace edgewise

BENCHMARK_MAIN();
