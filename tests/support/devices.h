// The device that tests compare the processor with: a GPU where this build has one, else the
// imitation of one.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "edgewise/ops/device.h"
#include "support/tensors.h"

namespace edgewise::testing {

inline at::Device deviceUnderTest() {
  return ImitatedDevice::available() ? at::Device(at::kCPU) : resolveDevice("auto");
}

inline bool hasDevice() { return ImitatedDevice::available() || !deviceUnderTest().is_cpu(); }

#define EDGEWISE_NEEDS_DEVICE()                                    \
  if (!::edgewise::testing::hasDevice()) {                         \
    GTEST_SKIP() << "left out: no GPU here, and none is imitated"; \
  }

// What `run` gives on the processor, and what it gives on the device, brought back.
struct BothPlaces {
  Tensors processor;
  Tensors device;
};

inline BothPlaces runOnBoth(const std::function<Tensors(at::Device)>& run) {
  BothPlaces both;
  both.processor = run(at::kCPU);
  const ImitatedDevice imitated;
  for (const at::Tensor& tensor : run(deviceUnderTest())) {
    both.device.push_back(tensor.to(at::kCPU));
  }
  return both;
}

}  // namespace edgewise::testing
