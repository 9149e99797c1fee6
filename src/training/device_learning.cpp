#include "training/device_learning.h"

#include <fmt/format.h>

#include <utility>

#include "edgewise/ops/gradients.h"
#include "edgewise/util/error.h"

namespace edgewise::detail {
namespace {

void addMemory(const Parameters& parameters, const Adam& adam, std::vector<const void*>& memory) {
  for (const at::Tensor& tensor : {parameters.flat(), adam.firstMoment(), adam.secondMoment()}) {
    memory.push_back(tensor.data_ptr());
  }
}

std::vector<const void*> memoryOf(const TrainingState& state) {
  std::vector<const void*> memory;
  addMemory(state.parameters, state.adam, memory);
  if (state.selector) {
    addMemory(state.selector->parameters, state.selector->adam, memory);
  }
  return memory;
}

}  // namespace

void DeviceLearning::learn(TrainingState& state, std::uint64_t key, bool replayable,
                           const std::function<void()>& fill, const std::function<void()>& body) {
  if (std::vector<const void*> memory = memoryOf(state); memory != moved_) {
    graphs_.clear();
    moved_ = std::move(memory);
  }
  if (replayable) {
    graphs_.run(key, fill, body);
  } else {
    fill();
    body();
  }
  ++state.steps;
}

void DeviceLearning::descend(TrainingState& state, const at::Tensor& loss, double clip) {
  step_.descend(loss, gradients(loss, state.parameters.tensors()), clip, ruleOf(state.adam),
                buffersOf(state.parameters, state.adam));
}

void DeviceLearning::settle(TrainingState& state) {
  const StepSums sums = step_.takeSums();
  if (sums.selector_diverged > 0) {
    throw Error(fmt::format("the search diverged at step {}: a loss or gradient is not a number",
                            sums.selector_diverged),
                "lower selector.lr, or raise selector.tau", ExitCode::kFailure);
  }
  if (sums.diverged > 0) {
    throw Error(fmt::format("training diverged at step {}: its loss or gradient is not a number",
                            sums.diverged),
                "lower training.lr, or set training.clip", ExitCode::kFailure);
  }
  state.loss_sum += sums.loss;
  state.norm_sum += sums.norm;
}

AdamRule ruleOf(const Adam& adam) {
  const AdamOptions& options = adam.options();
  return {.beta1 = options.beta1,
          .beta2 = options.beta2,
          .epsilon = options.epsilon,
          .weight_decay = options.weight_decay};
}

AdamBuffers buffersOf(const Parameters& parameters, const Adam& adam) {
  return {parameters.flat(), adam.firstMoment(), adam.secondMoment()};
}

}  // namespace edgewise::detail
