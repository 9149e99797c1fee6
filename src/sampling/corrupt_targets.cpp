#include <fmt/format.h>

#include <string>
#include <utility>

#include "edgewise/sampling/negative_sampler.h"
#include "edgewise/util/error.h"
#include "edgewise/util/interrupt.h"
#include "edgewise/util/parallel.h"
#include "edgewise/util/scratch_pool.h"

namespace edgewise {
namespace {

constexpr std::size_t kPositiveGrain = 64;
// Blind draws granted to a positive before its candidates are listed.
constexpr std::uint64_t kDrawsPerNode = 8;
constexpr std::uint64_t kDrawsAtLeast = 64;

// Draws for one positive after another; `marked` has a byte a node and is left all zero.
class TargetDraw {
 public:
  TargetDraw(const PairSpace& space, const EdgeSet& known, const CounterRng& rng,
             std::vector<std::uint8_t>& marked)
      : space_(space), known_(known), rng_(rng), marked_(marked) {}

  // Fills `out`; `number` is the positive's place in the list and names its random numbers.
  void fill(Edge positive, std::uint64_t number, std::span<NodeId> out) {
    number_ = number;
    lane_ = 0;
    mark(positive, 1);
    std::size_t count = 0;
    const std::uint64_t most = kDrawsAtLeast + kDrawsPerNode * out.size();
    while (count < out.size() && lane_ < most) {
      const NodeId node{static_cast<std::uint32_t>(firstTarget() + below(targetCount()))};
      if (fits(positive.src, node)) {
        take(node, out[count++]);
      }
    }
    if (count < out.size()) {
      count += fillFromList(positive.src, out.subspan(count));
    }
    for (const NodeId node : out.first(count)) {
      marked_[index(node)] = 0;
    }
    mark(positive, 0);
    if (count < out.size()) {
      throw DataError(
          fmt::format("node {} has only {} nodes it is not linked to, but {} were asked for",
                      index(positive.src), count, out.size()),
          "ask for fewer: negatives.per_positive");
    }
  }

 private:
  [[nodiscard]] std::size_t firstTarget() const { return space_.users; }
  [[nodiscard]] std::size_t targetCount() const { return space_.node_count - space_.users; }
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) {
    return rng_.below(number_, bound, lane_++);
  }
  [[nodiscard]] bool fits(NodeId source, NodeId node) const {
    return marked_[index(node)] == 0 && !known_.contains({source, node});
  }
  void mark(Edge positive, std::uint8_t value) {
    marked_[index(positive.src)] = value;
    marked_[index(positive.dst)] = value;
  }
  void take(NodeId node, NodeId& place) {
    place = node;
    marked_[index(node)] = 1;
  }

  // Every node left is still as likely as any other, however many blind draws failed before.
  std::size_t fillFromList(NodeId source, std::span<NodeId> out) {
    std::vector<NodeId> left;
    for (std::size_t node = firstTarget(); node < space_.node_count; ++node) {
      const NodeId candidate{static_cast<std::uint32_t>(node)};
      if (fits(source, candidate)) {
        left.push_back(candidate);
      }
    }
    std::size_t count = 0;
    while (count < out.size() && !left.empty()) {
      std::swap(left[below(left.size())], left.back());
      take(left.back(), out[count++]);
      left.pop_back();
    }
    return count;
  }

  const PairSpace& space_;
  const EdgeSet& known_;
  const CounterRng& rng_;
  std::vector<std::uint8_t>& marked_;
  std::uint64_t number_ = 0;
  std::uint64_t lane_ = 0;
};

void checkPositive(Edge positive, const PairSpace& space) {
  const bool inside = index(positive.src) < space.node_count &&
                      index(positive.dst) < space.node_count &&
                      (!space.bipartite() || index(positive.src) < space.users);
  if (!inside) {
    throw ShapeError(fmt::format(
        "positive ({}, {}) does not fit {} nodes{}", index(positive.src), index(positive.dst),
        space.node_count,
        space.bipartite() ? fmt::format(", {} of them users", space.users) : std::string()));
  }
}

}  // namespace

std::vector<NodeId> corruptTargets(std::span<const Edge> positives, std::size_t per_positive,
                                   const PairSpace& space, const EdgeSet& known,
                                   const CounterRng& rng) {
  if (known.direction() != space.direction) {
    throw ShapeError("known edges and the pairs to draw disagree on being directed");
  }
  if (space.users > space.node_count) {
    throw ShapeError(fmt::format("{} users among {} nodes", space.users, space.node_count));
  }
  for (const Edge& positive : positives) {
    checkPositive(positive, space);
  }
  if (!positives.empty() && per_positive > space.node_count - space.users) {
    throw DataError(fmt::format("{} negatives a positive were asked for among {} nodes",
                                per_positive, space.node_count - space.users),
                    "ask for fewer: negatives.per_positive");
  }
  std::vector<NodeId> targets(positives.size() * per_positive);
  ScratchPool<std::vector<std::uint8_t>> pool(
      [&] { return std::vector<std::uint8_t>(space.node_count, 0); });
  parallelFor(positives.size(), kPositiveGrain, [&](std::size_t begin, std::size_t end) {
    throwIfInterrupted();
    const auto marked = pool.borrow();
    TargetDraw draw(space, known, rng, *marked);
    for (std::size_t i = begin; i < end; ++i) {
      draw.fill(positives[i], i, std::span(targets).subspan(i * per_positive, per_positive));
    }
  });
  return targets;
}

}  // namespace edgewise
