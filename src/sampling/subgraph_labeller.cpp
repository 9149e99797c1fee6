#include "sampling/subgraph_labeller.h"

#include <algorithm>

#include "edgewise/graph/bfs.h"

namespace edgewise::detail {
namespace {

constexpr std::uint32_t kSource = 0;
constexpr std::uint32_t kTarget = 1;
constexpr std::uint32_t kNobody = kUnreached;

std::uint32_t doubleRadiusLabel(std::uint64_t to_source, std::uint64_t to_target,
                                std::uint32_t max_label) {
  if (to_source == kUnreached || to_target == kUnreached) {
    return 0;
  }
  const std::uint64_t sum = to_source + to_target;
  const std::uint64_t half = sum / 2;
  const std::uint64_t label = 1 + std::min(to_source, to_target) + half * (half + sum % 2 - 1);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(label, max_label));
}

std::uint32_t cappedDistance(std::uint32_t distance, std::uint32_t max_distance) {
  return distance == kUnreached ? max_distance + 1 : std::min(distance, max_distance);
}

}  // namespace

void SubgraphLabeller::label(const LocalRows& rows, std::span<std::uint32_t> labels) {
  switch (options_.labelling) {
    case NodeLabelling::kDrnl:
      labelByDoubleRadius(rows, labels);
      return;
    case NodeLabelling::kDistances:
      labelByDistances(rows, labels);
      return;
    case NodeLabelling::kZeroOne:
      std::ranges::fill(labels, 0);
      labels[kSource] = 1;
      labels[kTarget] = 1;
  }
}

void SubgraphLabeller::labelByDoubleRadius(const LocalRows& rows, std::span<std::uint32_t> labels) {
  search(rows, kSource, kTarget, to_source_);
  search(rows, kTarget, kSource, to_target_);
  for (std::size_t place = 0; place < rows.size(); ++place) {
    labels[place] = doubleRadiusLabel(to_source_[place], to_target_[place], options_.max_label);
  }
  labels[kSource] = 1;
  labels[kTarget] = 1;
}

void SubgraphLabeller::labelByDistances(const LocalRows& rows, std::span<std::uint32_t> labels) {
  search(rows, kSource, kNobody, to_source_);
  search(rows, kTarget, kNobody, to_target_);
  for (std::size_t place = 0; place < rows.size(); ++place) {
    labels[2 * place] = cappedDistance(to_source_[place], options_.max_distance);
    labels[2 * place + 1] = cappedDistance(to_target_[place], options_.max_distance);
  }
}

void SubgraphLabeller::search(const LocalRows& rows, std::uint32_t from, std::uint32_t removed,
                              std::vector<std::uint32_t>& distances) {
  distances.assign(rows.size(), kUnreached);
  if (removed != kNobody) {
    // Looks as if it had been visited, and is never walked from.
    distances[removed] = 0;
  }
  distances[from] = 0;
  queue_.resize(rows.size() + 1);
  std::size_t tail = 0;
  queue_[tail++] = from;
  for (std::size_t head = 0; head < tail; ++head) {
    const std::uint32_t place = queue_[head];
    const std::uint32_t next_distance = distances[place] + 1;
    // Written in any case and kept only if it is new: half of all neighbours are, in no order that
    // could be guessed. Nodes are met by distance, so the smaller distance is the one that stands.
    for (const std::uint32_t next : rows.row(place)) {
      queue_[tail] = next;
      tail += distances[next] == kUnreached ? 1 : 0;
      distances[next] = std::min(distances[next], next_distance);
    }
  }
}

}  // namespace edgewise::detail
