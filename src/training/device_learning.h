// What trainers share when they learn on a GPU: the step's numbers, its replay, its sums.
#pragma once

#include <functional>
#include <vector>

#include "edgewise/ops/device_step.h"
#include "edgewise/ops/step_graph.h"
#include "edgewise/training/link_trainer.h"
#include "edgewise/training/training_state.h"
#include "training/device_batches.h"

namespace edgewise::detail {

class DeviceLearning {
 public:
  DeviceLearning(const BatchStream& batches, at::Device device)
      : batches_(batches, device), step_(device), graphs_(device) {}

  [[nodiscard]] DeviceBatches& batches() { return batches_; }
  [[nodiscard]] DeviceStep& step() { return step_; }

  // One step on the batch that the state stands at. `fill` queues what is new; `body` does the rest
  // and is replayed where `replayable`; steps of one key are alike.
  void learn(TrainingState& state, std::uint64_t key, bool replayable,
             const std::function<void()>& fill, const std::function<void()>& body);
  // Moves the model's weights down the gradient of `loss`.
  void descend(TrainingState& state, const at::Tensor& loss, double clip);
  // Takes over what steps have added up. Throws Error when they diverged.
  void settle(TrainingState& state);

 private:
  DeviceBatches batches_;
  DeviceStep step_;
  StepGraphs graphs_;
  // The memory that replays move.
  std::vector<const void*> moved_;
};

[[nodiscard]] AdamRule ruleOf(const Adam& adam);
[[nodiscard]] AdamBuffers buffersOf(const Parameters& parameters, const Adam& adam);

}  // namespace edgewise::detail
