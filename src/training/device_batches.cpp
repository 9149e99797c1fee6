#include "training/device_batches.h"

#include <ATen/Functions.h>

#include <algorithm>

namespace edgewise::detail {
namespace {

at::Tensor fromHost(const void* data, std::int64_t count) {
  return at::from_blob(const_cast<void*>(data), {count}, at::kInt);
}

}  // namespace

DeviceBatches::DeviceBatches(const BatchStream& stream, at::Device device)
    : stream_(stream), device_(device) {
  if (const TargetSampler* const targets = stream.targetSampler()) {
    sampler_.emplace(stream.supervision(), *targets, device);
  } else if (const std::optional<DrawSpace> space = stream.drawSpace()) {
    sampler_.emplace(stream.supervision(), *space, device);
  }
}

const DeviceBatch& DeviceBatches::memoryFor(std::size_t number) {
  const std::size_t positives = stream_.sizeOf(number);
  const auto found = memory_.find(positives);
  if (found != memory_.end()) {
    return found->second;
  }
  const auto links = static_cast<std::int64_t>(positives);
  const auto pairs = static_cast<std::int64_t>(positives * (1 + stream_.negativesPerPositive()));
  const at::TensorOptions numbers = at::TensorOptions(at::kInt).device(device_);
  DeviceBatch batch{at::zeros({pairs, 2}, numbers), at::zeros({links}, numbers),
                    at::zeros({pairs}, numbers.dtype(at::kFloat))};
  batch.labels.narrow(0, 0, links).fill_(1);
  return memory_.emplace(positives, std::move(batch)).first->second;
}

void DeviceBatches::fill(std::uint64_t epoch, std::size_t number) {
  const DeviceBatch& batch = memoryFor(number);
  if (!sampler_) {
    copyFromHost(epoch, number, batch);
    return;
  }
  if (epoch_ != epoch) {
    sampler_->setOrder(stream_.order(epoch));
    epoch_ = epoch;
  }
  sampler_->take(stream_.beginOf(number), batch.rows, batch.positive());
  sampler_->draw(stream_.negativeNumbers(epoch, number), batch.positive(), batch.negative());
}

void DeviceBatches::copyFromHost(std::uint64_t epoch, std::size_t number,
                                 const DeviceBatch& batch) {
  const EdgeBatch host = stream_.batchOf(epoch, number);
  const auto links = static_cast<std::int64_t>(host.positive.size());
  const auto others = static_cast<std::int64_t>(host.negative.size());
  batch.rows.copy_(fromHost(host.rows.data(), links));
  batch.positive().copy_(fromHost(host.positive.data(), 2 * links).view({-1, 2}));
  batch.negative().copy_(fromHost(host.negative.data(), 2 * others).view({-1, 2}));
}

}  // namespace edgewise::detail
