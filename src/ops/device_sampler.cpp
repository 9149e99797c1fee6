#include "edgewise/ops/device_sampler.h"

#include <ATen/Functions.h>

#include <cmath>

#include "ops/device_copy.h"
#include "ops/device_kernels.h"

namespace edgewise {
namespace {

at::Tensor endsOf(std::span<const Edge> edges, at::Device device) {
  const std::span<const std::int32_t> values(reinterpret_cast<const std::int32_t*>(edges.data()),
                                             2 * edges.size());
  return detail::copyTo(device, values, at::kInt);
}

// Draws that are enough for `count` fit ones but once in a thousand million times.
std::size_t drawsFor(std::size_t count, double fit) {
  const double mean = static_cast<double>(count) / fit;
  return static_cast<std::size_t>(mean + 6 * std::sqrt(mean * (1 - fit)) / fit + 16);
}

}  // namespace

DeviceSampler::DeviceSampler(std::span<const Edge> supervision, const DrawSpace& draw,
                             at::Device device)
    : nodes_(draw.space.node_count),
      users_(draw.space.users),
      directed_(draw.space.direction == Direction::kDirected),
      fit_(draw.fit),
      supervision_(endsOf(supervision, device)),
      order_(at::zeros({static_cast<std::int64_t>(supervision.size())},
                       at::TensorOptions(at::kInt).device(device))),
      known_offsets_(detail::copyTo(device, draw.known.offsets(), at::kLong)),
      known_columns_(detail::copyTo(device, draw.known.targets(), at::kInt)) {
  detail::requireKernels();
  if (!draw.candidates.empty()) {
    candidates_ = detail::copyTo(device, std::span<const std::uint32_t>(draw.candidates), at::kInt);
  }
}

DeviceSampler::DeviceSampler(std::span<const Edge> supervision, const TargetSampler& targets,
                             at::Device device)
    : supervision_(endsOf(supervision, device)),
      order_(at::zeros({static_cast<std::int64_t>(supervision.size())},
                       at::TensorOptions(at::kInt).device(device))),
      known_offsets_(detail::copyTo(device, targets.offsets(), at::kLong)),
      known_columns_(detail::copyTo(device, targets.columns(), at::kInt)),
      targets_(detail::copyTo(device, targets.targets(), at::kInt)) {
  detail::requireKernels();
}

void DeviceSampler::setOrder(std::span<const std::uint32_t> order) {
  order_.copy_(detail::copyTo(at::kCPU, order, at::kInt));
}

void DeviceSampler::take(std::size_t begin, const at::Tensor& rows, const at::Tensor& ends) {
  if constexpr (detail::kDeviceKernels) {
    cuda::takeEdges(detail::streamOf(ends), supervision_.data_ptr<std::int32_t>(),
                    order_.data_ptr<std::int32_t>() + begin, static_cast<std::size_t>(rows.numel()),
                    rows.data_ptr<std::int32_t>(), ends.data_ptr<std::int32_t>());
  }
}

void DeviceSampler::draw(const CounterRng& random, const at::Tensor& positive,
                         const at::Tensor& ends) {
  if (targets_.defined()) {
    drawTargets(random, positive, ends);
  } else {
    drawPairs(random, ends);
  }
}

void DeviceSampler::drawTargets(const CounterRng& random, const at::Tensor& positive,
                                const at::Tensor& ends) {
  if constexpr (detail::kDeviceKernels) {
    const auto positives = static_cast<std::size_t>(positive.size(0));
    cuda::drawTargets(detail::streamOf(ends),
                      {.key = detail::keyOf(random),
                       .known = {.count = static_cast<std::size_t>(known_offsets_.numel()) - 1,
                                 .offsets = known_offsets_.data_ptr<std::int64_t>(),
                                 .columns = known_columns_.data_ptr<std::int32_t>()},
                       .target_count = static_cast<std::size_t>(targets_.numel()),
                       .targets = targets_.data_ptr<std::int32_t>()},
                      positive.data_ptr<std::int32_t>(), positives,
                      static_cast<std::size_t>(ends.size(0)) / positives,
                      ends.data_ptr<std::int32_t>());
  }
}

void DeviceSampler::drawPairs(const CounterRng& random, const at::Tensor& ends) {
  if constexpr (detail::kDeviceKernels) {
    const auto count = static_cast<std::size_t>(ends.size(0));
    const std::size_t draws = drawsFor(count, fit_);
    const auto bytes = static_cast<std::int64_t>(cuda::drawBytes(draws));
    if (!scratch_.defined() || scratch_.numel() < bytes) {
      scratch_ = at::empty({bytes}, ends.options().dtype(at::kByte));
    }
    cuda::drawNonEdges(
        detail::streamOf(ends),
        {.key = detail::keyOf(random),
         .nodes = nodes_,
         .users = users_,
         .directed = directed_,
         .known = {.count = nodes_,
                   .offsets = known_offsets_.data_ptr<std::int64_t>(),
                   .columns = known_columns_.data_ptr<std::int32_t>()},
         .candidates = candidates_.defined() ? candidates_.data_ptr<std::int32_t>() : nullptr},
        draws, count, scratch_.data_ptr<std::uint8_t>(), static_cast<std::size_t>(bytes),
        ends.data_ptr<std::int32_t>());
  }
}

}  // namespace edgewise
