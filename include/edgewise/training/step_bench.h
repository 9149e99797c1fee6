// Measures training steps stage by stage against their floor (step_floor.h), on graphs of the usual
// sizes that are generated, so that any machine can do it. A further kind of step brings a function
// to time, which names its stages as it goes, and the counts of those stages.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "edgewise/data/dataset.h"
#include "edgewise/data/link_split.h"
#include "edgewise/data/sized_graph.h"
#include "edgewise/ops/machine_rates.h"
#include "edgewise/training/run_options.h"
#include "edgewise/training/stage_watch.h"
#include "edgewise/training/step_floor.h"
#include "edgewise/util/options.h"
#include "edgewise/util/progress.h"

namespace edgewise {

// A graph to measure on, and the options that usually go with it.
struct BenchCase {
  SizedGraphOptions graph;
  std::vector<OptionText> settings;
  // Small enough to be measured unasked.
  bool usual = false;

  [[nodiscard]] const std::string& name() const { return graph.name; }
};
[[nodiscard]] std::span<const BenchCase> benchCases();
// Throws ConfigError with the nearest name.
[[nodiscard]] const BenchCase& findBenchCase(std::string_view name);

struct BenchEffort {
  // Steps that are measured, and those before them that are not.
  std::size_t steps = 100;
  std::size_t warm_up = 10;
  // Steps end early after this long, but not before kLeastSteps; 0: never.
  double step_seconds = 20;
  // For each of the machine's rates.
  double rate_seconds = 0.3;

  static constexpr std::size_t kLeastSteps = 5;
};

// Seconds over all measured steps.
struct StageTime {
  double median = 0;
  double low = 0;   // 10th percentile
  double high = 0;  // 90th percentile
};
// Of at least one value; percentiles are the nearest values that occurred.
[[nodiscard]] StageTime summariseTimes(std::vector<double> seconds);

// A stage that was timed.
struct TimedStage {
  std::string stage;
  StageTime time;
};
struct StepTimes {
  // In the order they first ended.
  std::vector<TimedStage> stages;
  // From beginning to end, freeing of memory included.
  StageTime whole;
  std::size_t steps = 0;
  // Processor time per thread and second while steps ran. Threads wait by spinning, so this is near
  // 1 on a machine of our own; far below, the times say more about other processes.
  double processor_share = 0;
};
// Calls step(watch) again and again. Between its steps `rest` is called, which is not timed. Throws
// InterruptedError after Ctrl-C.
[[nodiscard]] StepTimes timeSteps(const std::function<void(StageWatch&)>& step,
                                  const std::function<void()>& rest, const BenchEffort& effort,
                                  ProgressSink& progress = silentProgress());

// A timed stage beside what it is made of.
struct Stage {
  StageTime time;
  StageCounts counts;
  double floor = 0;
  [[nodiscard]] const std::string& name() const { return counts.stage; }
  [[nodiscard]] double ratio() const { return time.median / floor; }
};

// Our own product at a shape of the model's.
struct ProductRate {
  ProductShape shape;
  double flops = 0;
};

struct StepMeasurement {
  StepSizes sizes;
  StepRates rates;
  std::vector<ProductRate> products;
  std::vector<Stage> stages;
  // The step as a whole.
  Stage whole;
  std::size_t steps = 0;
  double processor_share = 0;
  // Between threads, before and after the steps: see handoverSeconds.
  double handover_before = 0;
  double handover_after = 0;
};

// What does not depend on the case.
struct MachineRates {
  ProductRate product;
  double memory = 0;  // bytes a second, beyond the caches
};
[[nodiscard]] MachineRates measureMachine(const BenchEffort& effort, at::Device device = at::kCPU);

// What to train on, and how.
struct BenchSubject {
  const Dataset& dataset;
  const TrainingEdges& training;
  const RunOptions& options;
};

// A step of LinkTrainer, the drawing of its batch included; full batches alone. Products count at
// the best rate that was seen. Streams count at the rate of arrays as large as a layer's output,
// and gathers at that of this graph's neighbours, so that small graphs are held to the speed of
// caches. Where a selector chooses views, it is one that has learned nothing: its choices cost the
// same. On a GPU steps are queued many together, as training queues them, and only their whole is
// told. Throws ConfigError for options that cannot be trained or counted.
[[nodiscard]] StepMeasurement measureTrainStep(const BenchSubject& subject,
                                               const MachineRates& machine,
                                               const BenchEffort& effort,
                                               ProgressSink& progress = silentProgress());
// A step of SearchTrainer likewise, after its warm start; only for selectors that are searched. The
// sizes are those of the lower level.
[[nodiscard]] StepMeasurement measureSearchStep(const BenchSubject& subject,
                                                const MachineRates& machine,
                                                const BenchEffort& effort,
                                                ProgressSink& progress = silentProgress());

}  // namespace edgewise
