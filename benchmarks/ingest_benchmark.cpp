// From an edge list on disk to a graph in memory, at the size of ogbl-ppa (576,289 nodes, 30
// million edges), beside the floor: looking at every byte of the same file for line ends.
//
// EDGEWISE_BENCH_EDGES sets the number of edges. The file is made once in the system's temporary
// folder and kept for later runs.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "edgewise/data/edge_list.h"
#include "edgewise/graph/csr_graph.h"
#include "edgewise/util/atomic_file.h"
#include "edgewise/util/file.h"
#include "edgewise/util/parallel.h"
#include "edgewise/util/rng.h"
#include "edgewise/util/text.h"

namespace edgewise {
namespace {

constexpr std::uint64_t kNodes = 576289;

std::uint64_t benchEdges() {
  constexpr std::int64_t kDefault = 30'000'000;
  const char* wanted = std::getenv("EDGEWISE_BENCH_EDGES");
  const auto number = wanted == nullptr ? kDefault : parseInteger(wanted).value_or(kDefault);
  return static_cast<std::uint64_t>(std::max<std::int64_t>(number, 1));
}

// Ends drawn with a square bias towards low numbers, so that degrees differ as in real graphs.
std::uint32_t drawEnd(const CounterRng& rng, std::uint64_t edge, std::uint64_t lane) {
  const double uniform = rng.uniform(edge, lane);
  return static_cast<std::uint32_t>(uniform * uniform * static_cast<double>(kNodes));
}

const std::filesystem::path& benchFile() {
  static const std::filesystem::path path = [] {
    std::filesystem::path target = std::filesystem::temp_directory_path() /
                                   fmt::format("edgewise-ingest-{}.csv", benchEdges());
    if (std::filesystem::exists(target)) {
      return target;
    }
    const CounterRng rng(1, "ingest-benchmark");
    AtomicFile file(target);
    file.write("src,dst\n");
    fmt::memory_buffer row;
    for (std::uint64_t edge = 0; edge < benchEdges(); ++edge) {
      row.clear();
      fmt::format_to(std::back_inserter(row), "{},{}\n", drawEnd(rng, edge, 0),
                     drawEnd(rng, edge, 1));
      file.write({row.data(), row.size()});
    }
    file.commit();
    return target;
  }();
  return path;
}

double megabytes() { return static_cast<double>(std::filesystem::file_size(benchFile())) * 1e-6; }

// The most memory this process has held so far, in GiB.
double peakMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) {
      const std::string_view number = trimmed(std::string_view(line).substr(6));
      const auto kibibytes = parseInteger(number.substr(0, number.find(' ')));
      return static_cast<double>(kibibytes.value_or(0)) / (1024.0 * 1024.0);
    }
  }
  return 0;
}

void setRates(benchmark::State& state) {
  const auto runs = static_cast<double>(state.iterations());
  state.counters["MB/s"] = benchmark::Counter(megabytes() * runs, benchmark::Counter::kIsRate);
  state.counters["edges/s"] =
      benchmark::Counter(static_cast<double>(benchEdges()) * runs, benchmark::Counter::kIsRate);
  state.counters["peak_GiB"] = peakMemory();
  state.counters["threads"] = threadCount();
}

void scanForLineEnds(benchmark::State& state) {
  const auto& path = benchFile();
  while (state.KeepRunning()) {
    const FileBytes bytes = FileBytes::map(path);
    std::size_t lines = 0;
    const char* at = bytes.view().data();
    const char* end = at + bytes.view().size();
    while (at < end) {
      const void* found = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
      at = found == nullptr ? end : static_cast<const char*>(found) + 1;
      ++lines;
    }
    benchmark::DoNotOptimize(lines);
  }
  setRates(state);
}

void readEdges(benchmark::State& state) {
  const auto& path = benchFile();
  while (state.KeepRunning()) {
    benchmark::DoNotOptimize(readEdgeList(path));
  }
  setRates(state);
}

void readLabelledEdges(benchmark::State& state) {
  const auto& path = benchFile();
  while (state.KeepRunning()) {
    benchmark::DoNotOptimize(readEdgeList(path, {.ids = IdRule::kLabel}));
  }
  setRates(state);
}

void readEdgesIntoGraph(benchmark::State& state) {
  const auto& path = benchFile();
  while (state.KeepRunning()) {
    const RawEdges raw = readEdgeList(path);
    const CsrGraph graph = CsrGraph::fromEdges(raw.ids.size(), raw.table.edges);
    state.counters["entries"] = static_cast<double>(graph.entryCount());
  }
  setRates(state);
}

// Once each: a single pass takes seconds. Peak memory only rises, so the order is by appetite.
BENCHMARK(scanForLineEnds)->Iterations(1)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(readEdges)->Iterations(1)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(readEdgesIntoGraph)->Iterations(1)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(readLabelledEdges)->Iterations(1)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace edgewise
