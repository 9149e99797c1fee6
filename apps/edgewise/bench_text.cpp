#include "bench_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "edgewise/ops/backend.h"
#include "edgewise/ops/device.h"
#include "edgewise/util/parallel.h"
#include "edgewise/util/process.h"
#include "edgewise/util/text.h"

namespace edgewise::app {
namespace {

constexpr double kPercent = 1e2;
constexpr double kMilli = 1e3;
constexpr double kNano = 1e9;
constexpr double kGiga = 1e-9;
constexpr double kMega = 1e-6;

std::string milliseconds(double seconds) { return fmt::format("{:.3f}", kMilli * seconds); }

std::string count(double value) { return groupedCount(static_cast<std::uint64_t>(value)); }

std::string shapeText(const ProductShape& shape) {
  return fmt::format("{}x{}x{}", shape.rows, shape.inner, shape.columns);
}

std::string productText(const ProductRate& product) {
  return fmt::format("{} {:.1f} GFLOP/s", shapeText(product.shape), kGiga * product.flops);
}

std::string inputText(const StepSizes& sizes) {
  std::vector<std::string> parts;
  if (sizes.feature_entries > 0) {
    parts.push_back(fmt::format("{} features with {} entries", count(sizes.features),
                                count(sizes.feature_entries)));
  } else if (sizes.features > 0) {
    parts.push_back(fmt::format("{} dense features", count(sizes.features)));
  }
  if (sizes.embedding > 0 || sizes.recommends) {
    parts.push_back(fmt::format("a learned embedding of {}",
                                count(sizes.recommends ? sizes.hidden : sizes.embedding)));
  }
  return joinText(parts, " and ");
}

// Everything of a row but its name.
std::vector<TextTable::Cell> stageCells(const std::string& name, const Stage& stage) {
  const StageCounts& counts = stage.counts;
  return {name,
          milliseconds(stage.time.median),
          milliseconds(stage.time.low),
          milliseconds(stage.time.high),
          fmt::format("{:.2f}", kMega * counts.flops),
          fmt::format("{:.2f}", kMega * counts.streamed),
          fmt::format("{:.2f}", kMega * counts.gathered),
          milliseconds(stage.floor),
          fmt::format("{:.1f}", stage.ratio())};
}

double sumOfMedians(const StepMeasurement& step) {
  double sum = 0;
  for (const Stage& stage : step.stages) {
    sum += stage.time.median;
  }
  return sum;
}

nlohmann::ordered_json stageJson(const Stage& stage) {
  return {{"ms", kMilli * stage.time.median},        {"ms_p10", kMilli * stage.time.low},
          {"ms_p90", kMilli * stage.time.high},      {"flops", stage.counts.flops},
          {"bytes_streamed", stage.counts.streamed}, {"bytes_gathered", stage.counts.gathered},
          {"floor_ms", kMilli * stage.floor},        {"ratio", stage.ratio()}};
}

nlohmann::ordered_json productJson(const ProductRate& product) {
  return {{"rows", product.shape.rows},
          {"inner", product.shape.inner},
          {"columns", product.shape.columns},
          {"gflops", kGiga * product.flops}};
}

nlohmann::ordered_json sizesJson(const StepSizes& sizes) {
  return {{"nodes", sizes.nodes},         {"message_entries", sizes.entries},
          {"features", sizes.features},   {"feature_entries", sizes.feature_entries},
          {"embedding", sizes.embedding}, {"layers", sizes.layers},
          {"hidden", sizes.hidden},       {"positives", sizes.positives},
          {"pairs", sizes.pairs},         {"scored_per_pair", sizes.scored_per_pair},
          {"predictor", sizes.predictor}, {"parameters", sizes.parameters},
          {"selector", sizes.selector}};
}

nlohmann::ordered_json resultJson(const BenchResult& result) {
  const StepMeasurement& step = result.step;
  nlohmann::ordered_json json = {
      {"case", result.name},
      {"generated", result.generated},
      {"model", result.model},
      {"selector", result.selector},
      {"work", result.work},
      {"sizes", sizesJson(step.sizes)},
      {"rates",
       {{"gflops", kGiga * step.rates.flops},
        {"stream_gb_s", kGiga * step.rates.streamed},
        {"gather_gb_s", kGiga * step.rates.gathered}}},
      {"products", nlohmann::ordered_json::array()},
      {"steps", step.steps},
      {"processor_share", step.processor_share},
      {"handover_ns", {kNano * step.handover_before, kNano * step.handover_after}},
      {"step", stageJson(step.whole)},
      {"stages_sum_ms", kMilli * sumOfMedians(step)},
      {"stages", nlohmann::ordered_json::object()}};
  for (const ProductRate& product : step.products) {
    json["products"].push_back(productJson(product));
  }
  for (const Stage& stage : step.stages) {
    json["stages"][stage.name()] = stageJson(stage);
  }
  if (result.plain_steps) {
    json["plain_steps"] = *result.plain_steps;
  }
  return json;
}

std::string deviceText(at::Device device) {
  const std::string name = deviceName(device);
  const bool rounded = productPrecision() == ProductPrecision::kTf32;
  return device.is_cpu() ? name : name + (rounded ? " (tf32)" : " (fp32)");
}

}  // namespace

BenchMachine inspectMachine(const BenchEffort& effort, at::Device device) {
  const BackendInfo backend = inspectBackend();
  return {.processor = processorName(),
          .cores = std::thread::hardware_concurrency(),
          .threads = threadCount(),
          .load = systemLoad(),
          .torch = backend.torch_version,
          .blas = backend.blas,
          .device = deviceText(device),
          .rates = measureMachine(effort, device)};
}

std::string describeMachine(const BenchMachine& machine) {
  const std::string load = machine.load < 0 ? "" : fmt::format(", load {:.1f}", machine.load);
  return fmt::format(
      "{}, {} cores, {} threads{}\nlibtorch {}, {}, on {}\nat best: products {}, memory {:.1f} "
      "GB/s",
      machine.processor, machine.cores, machine.threads, load, machine.torch, machine.blas,
      machine.device, productText(machine.rates.product), kGiga * machine.rates.memory);
}

std::string describeCase(const BenchResult& result) {
  const StepMeasurement& step = result.step;
  const StepSizes& sizes = step.sizes;
  std::vector<std::string> products;
  products.reserve(step.products.size());
  for (const ProductRate& product : step.products) {
    products.push_back(productText(product));
  }
  const std::string made = result.generated ? " (a generated graph of its sizes)" : "";
  return fmt::format(
             "{}{}, {}, selector {}, {}: {} nodes, {} message entries, {}; {} layers of {}, {} "
             "pairs\n",
             result.name, made, result.model, result.selector, result.work, count(sizes.nodes),
             count(sizes.entries), inputText(sizes), count(sizes.layers), count(sizes.hidden),
             count(sizes.pairs)) +
         fmt::format("at these sizes: {}, streams {:.1f} GB/s, gathers {:.1f} GB/s\n",
                     joinText(products, ", "), kGiga * step.rates.streamed,
                     kGiga * step.rates.gathered) +
         fmt::format(
             "{} steps with {:.0f}% of the processor time, {:.0f} then {:.0f} ns from "
             "thread to thread",
             step.steps, kPercent * step.processor_share, kNano * step.handover_before,
             kNano * step.handover_after);
}

TextTable stageTable(const BenchResult& result) {
  TextTable table({{"stage"},
                   {"ms", Align::kRight},
                   {"10%", Align::kRight},
                   {"90%", Align::kRight},
                   {"MFLOP", Align::kRight},
                   {"MB in order", Align::kRight},
                   {"MB gathered", Align::kRight},
                   {"floor ms", Align::kRight},
                   {"ratio", Align::kRight}});
  for (const Stage& stage : result.step.stages) {
    table.addRow(stageCells(stage.name(), stage));
  }
  table.addRow({"sum of stages", milliseconds(sumOfMedians(result.step))});
  table.addRow(stageCells("whole step", result.step.whole));
  return table;
}

TextTable summaryTable(std::span<const BenchResult> results) {
  TextTable table({{"case"},
                   {"model"},
                   {"selector"},
                   {"step"},
                   {"step ms", Align::kRight},
                   {"floor ms", Align::kRight},
                   {"ratio", Align::kRight},
                   {"plain steps", Align::kRight}});
  for (const BenchResult& result : results) {
    const Stage& whole = result.step.whole;
    table.addRow({result.name, result.model, result.selector, result.work,
                  milliseconds(whole.time.median), milliseconds(whole.floor),
                  fmt::format("{:.1f}", whole.ratio()),
                  result.plain_steps ? fmt::format("{:.2f}", *result.plain_steps) : ""});
  }
  return table;
}

nlohmann::ordered_json benchJson(const BenchMachine& machine,
                                 std::span<const BenchResult> results) {
  nlohmann::ordered_json json = {{"machine",
                                  {{"processor", machine.processor},
                                   {"cores", machine.cores},
                                   {"threads", machine.threads},
                                   {"load", machine.load},
                                   {"torch", machine.torch},
                                   {"blas", machine.blas},
                                   {"device", machine.device},
                                   {"product", productJson(machine.rates.product)},
                                   {"memory_gb_s", kGiga * machine.rates.memory}}},
                                 {"cases", nlohmann::ordered_json::array()}};
  for (const BenchResult& result : results) {
    json["cases"].push_back(resultJson(result));
  }
  return json;
}

}  // namespace edgewise::app
