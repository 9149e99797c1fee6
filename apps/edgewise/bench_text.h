// What `edgewise bench` measured, as tables and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "edgewise/report/text_table.h"
#include "edgewise/training/step_bench.h"

namespace edgewise::app {

// The machine as the measurements saw it.
struct BenchMachine {
  std::string processor;
  unsigned cores = 0;
  int threads = 0;
  // When the measurements began; negative: unknown.
  double load = 0;
  std::string torch;
  std::string blas;
  // What computes: "cpu", or the GPU and how its products are rounded.
  std::string device;
  MachineRates rates;
};
// Looks and measures.
[[nodiscard]] BenchMachine inspectMachine(const BenchEffort& effort, at::Device device);

// One case with one model.
struct BenchResult {
  std::string name;
  // Not the real data, but a graph of its sizes.
  bool generated = false;
  std::string model;
  std::string selector;
  // What is done in a step: train, search (for a selector), or apply (train with its choices).
  std::string work = "train";
  StepMeasurement step;
  // Of an apply step: its time in steps without a selector, measured just before.
  std::optional<double> plain_steps = std::nullopt;
};

[[nodiscard]] std::string describeMachine(const BenchMachine& machine);
// Sizes, the rates at these sizes, and how undisturbed it was, in three lines.
[[nodiscard]] std::string describeCase(const BenchResult& result);
// One row a stage, then their sum and the whole step.
[[nodiscard]] TextTable stageTable(const BenchResult& result);
// One row a case.
[[nodiscard]] TextTable summaryTable(std::span<const BenchResult> results);
[[nodiscard]] nlohmann::ordered_json benchJson(const BenchMachine& machine,
                                               std::span<const BenchResult> results);

}  // namespace edgewise::app
