#include "edgewise/ops/pair_index.h"

#include <ATen/Functions.h>
#include <fmt/format.h>

#include "edgewise/util/error.h"
#include "ops/device_copy.h"
#include "ops/device_kernels.h"
#include "ops/row_blocks.h"

namespace edgewise {
namespace {

constexpr std::uint64_t kBlockWork = 256;

}  // namespace

std::shared_ptr<const PairIndex> PairIndex::make(std::span<const Edge> pairs,
                                                 std::size_t node_count) {
  if (pairs.size() >= (std::size_t{1} << 31)) {
    throw ShapeError(fmt::format("{} pairs are more than one batch can hold", pairs.size()));
  }
  auto result = std::shared_ptr<PairIndex>(new PairIndex());
  result->pairs_.assign(pairs.begin(), pairs.end());
  result->size_ = pairs.size();
  result->node_count_ = node_count;
  std::vector<std::uint32_t> count(node_count, 0);
  for (const Edge& pair : pairs) {
    if (index(pair.src) >= node_count || index(pair.dst) >= node_count) {
      throw ShapeError(fmt::format("pair ({}, {}) in a graph of {} nodes", index(pair.src),
                                   index(pair.dst), node_count));
    }
    ++count[index(pair.src)];
    ++count[index(pair.dst)];
  }
  result->offsets_.push_back(0);
  // From here on `count` says where a node's next place goes.
  std::uint32_t next = 0;
  for (std::uint32_t node = 0; node < node_count; ++node) {
    if (const std::uint32_t here = count[node]; here > 0) {
      result->nodes_.push_back(node);
      count[node] = next;
      next += here;
      result->offsets_.push_back(next);
    }
  }
  result->places_.resize(2 * pairs.size());
  for (std::uint32_t i = 0; i < pairs.size(); ++i) {
    result->places_[count[index(pairs[i].src)]++] = 2 * i;
    result->places_[count[index(pairs[i].dst)]++] = 2 * i + 1;
  }
  result->blocks_ = detail::cutIntoBlocks(result->offsets_, kBlockWork);
  return result;
}

std::shared_ptr<const PairIndex> PairIndex::makeOnDevice(const at::Tensor& ends,
                                                         std::size_t node_count) {
  invariant(ends.dim() == 2 && ends.size(1) == 2 && ends.scalar_type() == at::kInt &&
                ends.is_contiguous(),
            "pairs on a device are [pairs, 2] of int32");
  invariant(ends.size(0) < (std::int64_t{1} << 30), "too many pairs for one batch");
  auto result = std::shared_ptr<PairIndex>(new PairIndex());
  result->size_ = static_cast<std::size_t>(ends.size(0));
  result->node_count_ = node_count;
  result->ends_ = ends;
  return result;
}

std::shared_ptr<const PairIndex> PairIndex::apart() const {
  const std::scoped_lock lock(mutex_);
  if (apart_) {
    return apart_;
  }
  if (onHost()) {
    std::vector<Edge> pairs(size_);
    for (std::uint32_t p = 0; p < size_; ++p) {
      pairs[p] = makeEdge(2 * p, 2 * p + 1);
    }
    apart_ = make(pairs, 2 * size_);
    return apart_;
  }
  const auto count = static_cast<std::int64_t>(2 * size_);
  const at::Tensor counted = at::arange(count + 1, ends_.options());
  const at::Tensor places = counted.narrow(0, 0, count);
  auto result = std::shared_ptr<PairIndex>(new PairIndex());
  result->size_ = size_;
  result->node_count_ = 2 * size_;
  result->ends_ = places.view({-1, 2});
  result->device_places_ = {places, counted};
  apart_ = result;
  return apart_;
}

at::Tensor PairIndex::ends(at::Device device) const {
  static_assert(sizeof(Edge) == 2 * sizeof(std::int32_t));
  const std::scoped_lock lock(mutex_);
  if (!ends_.defined()) {
    const std::span<const std::int32_t> values(reinterpret_cast<const std::int32_t*>(pairs_.data()),
                                               2 * pairs_.size());
    ends_ = detail::copyTo(device, values, at::kInt).view({-1, 2});
  }
  invariant(ends_.device() == device, "pairs stand on another device");
  return ends_;
}

at::Tensor PairIndex::endsThere() const {
  invariant(!onHost(), "the host knows these pairs");
  return ends_;
}

PairIndex::DevicePlaces PairIndex::devicePlaces(at::Device device) const {
  const at::Tensor keys = ends(device);
  const std::scoped_lock lock(mutex_);
  if constexpr (detail::kDeviceKernels) {
    if (!device_places_.places.defined()) {
      const std::size_t count = 2 * size_;
      const std::size_t bytes = cuda::sortBytes(count);
      const at::Tensor scratch =
          at::empty({static_cast<std::int64_t>(bytes)}, keys.options().dtype(at::kByte));
      const at::Tensor sorted = at::empty({static_cast<std::int64_t>(count)}, keys.options());
      DevicePlaces made{at::empty_like(sorted),
                        at::empty({static_cast<std::int64_t>(node_count_) + 1}, keys.options())};
      cuda::sortPlaces(detail::streamOf(keys), keys.data_ptr<std::int32_t>(), count, node_count_,
                       scratch.data_ptr<std::uint8_t>(), bytes, sorted.data_ptr<std::int32_t>(),
                       made.places.data_ptr<std::int32_t>(), made.offsets.data_ptr<std::int32_t>());
      device_places_ = made;
    }
  }
  return device_places_;
}

}  // namespace edgewise
