// A batch of node pairs as kernels want it: the ends side by side, and for each node the places
// where it occurs, so that gradients are gathered by node in a fixed order instead of scattered.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "edgewise/graph/types.h"

namespace edgewise {

class PairIndex {
 public:
  // Throws ShapeError for an end >= node_count, or 2^31 pairs and more.
  static std::shared_ptr<const PairIndex> make(std::span<const Edge> pairs, std::size_t node_count);

  // Pairs that stand on a device, [pairs, 2] of int32, contiguous; the host does not know them.
  static std::shared_ptr<const PairIndex> makeOnDevice(const at::Tensor& ends,
                                                       std::size_t node_count);

  // As many pairs, each between two nodes of its own: 2 * p and 2 * p + 1. Where these pairs stand,
  // and made once.
  [[nodiscard]] std::shared_ptr<const PairIndex> apart() const;

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t nodeCount() const { return node_count_; }
  // Whether the host knows the pairs; only then the spans below are there.
  [[nodiscard]] bool onHost() const { return pairs_.size() == size_; }
  [[nodiscard]] std::span<const Edge> pairs() const { return pairs_; }

  // The nodes that occur, ascending.
  [[nodiscard]] std::span<const std::uint32_t> nodes() const { return nodes_; }
  // Where the i-th of them occurs, ascending: 2 * pair for a source, 2 * pair + 1 for a target.
  [[nodiscard]] std::span<const std::uint32_t> places(std::size_t i) const {
    return std::span(places_).subspan(offsets_[i], offsets_[i + 1] - offsets_[i]);
  }
  // First of nodes() of consecutive blocks of about equal work, with their number at the end.
  [[nodiscard]] std::span<const std::uint32_t> blocks() const { return blocks_; }

  // [pairs, 2] of int32 on a device; and where they are, of pairs that only a device knows.
  [[nodiscard]] at::Tensor ends(at::Device device) const;
  [[nodiscard]] at::Tensor endsThere() const;
  // There too: all places in the order of their nodes, [2 * pairs], and where each node's begin,
  // [nodes + 1], of int32.
  struct DevicePlaces {
    at::Tensor places;
    at::Tensor offsets;
  };
  [[nodiscard]] DevicePlaces devicePlaces(at::Device device) const;

 private:
  PairIndex() = default;

  std::vector<Edge> pairs_;
  std::size_t node_count_ = 0;
  std::vector<std::uint32_t> nodes_;
  std::vector<std::uint64_t> offsets_;
  std::vector<std::uint32_t> places_;
  std::vector<std::uint32_t> blocks_;
  std::size_t size_ = 0;
  // Made when first asked for.
  mutable std::mutex mutex_;
  mutable at::Tensor ends_;
  mutable DevicePlaces device_places_;
  mutable std::shared_ptr<const PairIndex> apart_;
};

}  // namespace edgewise
