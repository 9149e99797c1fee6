#include "edgewise/sampling/target_sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "edgewise/util/error.h"
#include "edgewise/util/parallel.h"

namespace edgewise {
namespace {

constexpr std::size_t kDrawGrain = 4096;
constexpr double kNanosecondsPerDraw = 60;
constexpr std::uint32_t kNoTarget = std::numeric_limits<std::uint32_t>::max();

// Pairs (source, place among the targets) that may not be drawn, sorted and without repeats.
std::vector<std::uint64_t> forbiddenKeys(std::size_t node_count,
                                         std::span<const std::uint32_t> targets,
                                         std::span<const Edge> known, Direction direction) {
  std::vector<std::uint32_t> place_of(node_count, kNoTarget);
  for (std::uint32_t place = 0; place < targets.size(); ++place) {
    place_of[targets[place]] = place;
  }
  std::vector<std::uint64_t> keys;
  keys.reserve(known.size() + targets.size());
  const auto forbid = [&](std::uint32_t source, std::uint32_t target) {
    if (place_of[target] != kNoTarget) {
      keys.push_back(static_cast<std::uint64_t>(source) << 32 | place_of[target]);
    }
  };
  for (const Edge& edge : known) {
    if (index(edge.src) >= node_count || index(edge.dst) >= node_count) {
      throw ShapeError(fmt::format("pair ({}, {}) among {} nodes", index(edge.src), index(edge.dst),
                                   node_count));
    }
    forbid(index(edge.src), index(edge.dst));
    if (direction == Direction::kUndirected) {
      forbid(index(edge.dst), index(edge.src));
    }
  }
  for (const std::uint32_t node : targets) {
    forbid(node, node);
  }
  std::ranges::sort(keys);
  const auto repeats = std::ranges::unique(keys);
  keys.erase(repeats.begin(), repeats.end());
  return keys;
}

}  // namespace

TargetSampler::TargetSampler(std::size_t node_count, std::vector<std::uint32_t> targets,
                             std::span<const Edge> known, Direction direction)
    : targets_(std::move(targets)), offsets_(node_count + 1, 0) {
  for (const std::uint32_t node : targets_) {
    if (node >= node_count) {
      throw ShapeError(fmt::format("target {} among {} nodes", node, node_count));
    }
  }
  const std::vector<std::uint64_t> keys = forbiddenKeys(node_count, targets_, known, direction);
  columns_.reserve(keys.size());
  for (const std::uint64_t key : keys) {
    ++offsets_[(key >> 32) + 1];
    columns_.push_back(static_cast<std::uint32_t>(key));
  }
  for (std::size_t node = 0; node < node_count; ++node) {
    offsets_[node + 1] += offsets_[node];
  }
}

NodeId TargetSampler::draw(NodeId source, const CounterRng& rng, std::uint64_t counter) const {
  const auto known = row(source);
  const std::uint64_t rank = rng.below(counter, targets_.size() - known.size());
  // Before known[i] stand known[i] - i targets that are missing in the row.
  std::size_t low = 0;
  std::size_t high = known.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (known[middle] - middle > rank) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return NodeId{targets_[rank + low]};
}

std::vector<Edge> TargetSampler::sample(std::span<const Edge> positives, std::size_t per_positive,
                                        const CounterRng& rng) const {
  std::vector<Edge> drawn(positives.size() * per_positive);
  parallelFor(
      drawn.size(), kDrawGrain,
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          const NodeId source = positives[i / per_positive].src;
          drawn[i] = {source, draw(source, rng, i)};
        }
      },
      kNanosecondsPerDraw * static_cast<double>(drawn.size()));
  return drawn;
}

}  // namespace edgewise
