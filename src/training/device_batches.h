// Batches of a BatchStream on a GPU, the same pairs, drawn there: the host sends no more than an
// order of the edges once an epoch.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <optional>

#include "edgewise/ops/device_sampler.h"
#include "edgewise/training/batch_stream.h"
#include "edgewise/views/pair_batch.h"

namespace edgewise::detail {

// Memory that batches of one size are written to, one after another.
struct DeviceBatch {
  // Positives, then negatives, [pairs, 2]; and the positives' places among the supervision edges.
  at::Tensor ends;
  at::Tensor rows;
  at::Tensor labels;

  [[nodiscard]] at::Tensor positive() const { return ends.narrow(0, 0, rows.size(0)); }
  [[nodiscard]] at::Tensor negative() const {
    return ends.narrow(0, rows.size(0), ends.size(0) - rows.size(0));
  }
  [[nodiscard]] PairBatch pairs(std::size_t node_count) const {
    return {PairIndex::makeOnDevice(ends, node_count), labels, nullptr,
            static_cast<std::size_t>(rows.size(0))};
  }
};

class DeviceBatches {
 public:
  // Refers to the stream.
  DeviceBatches(const BatchStream& stream, at::Device device);

  // The memory for batches as large as this one; always the same.
  [[nodiscard]] const DeviceBatch& memoryFor(std::size_t number);
  // Queues the writing of a batch there.
  void fill(std::uint64_t epoch, std::size_t number);

 private:
  void copyFromHost(std::uint64_t epoch, std::size_t number, const DeviceBatch& batch);

  const BatchStream& stream_;
  at::Device device_;
  // None where negatives are so rare that the host lists them.
  std::optional<DeviceSampler> sampler_;
  std::optional<std::uint64_t> epoch_;
  std::map<std::size_t, DeviceBatch> memory_;
};

}  // namespace edgewise::detail
