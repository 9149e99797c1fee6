// From node representations to representations of pairs.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "edgewise/ops/pair_index.h"

namespace edgewise {

// Which layer stands for the source and which for the target, counted from 0.
struct LayerPair {
  std::uint32_t source = 0;
  std::uint32_t target = 0;
  friend auto operator<=>(const LayerPair&, const LayerPair&) = default;
};

// For each view (i, j) the products z[p] = layers[i][source of p] * layers[j][target of p],
// elementwise: one tensor [pairs, width] a view. `layers` are [nodes, width] each. Nothing is
// gathered but what is multiplied. Twice differentiable; the same bits for any number of threads.
// Throws ShapeError for sizes that disagree or a view of a layer that is not there.
[[nodiscard]] std::vector<at::Tensor> viewPairs(std::span<const at::Tensor> layers,
                                                const std::shared_ptr<const PairIndex>& pairs,
                                                std::span<const LayerPair> views);

// The sums over the columns of these, [pairs] a view, without holding the products: what the dot
// product makes of each view. The same otherwise.
[[nodiscard]] std::vector<at::Tensor> viewDots(std::span<const at::Tensor> layers,
                                               const std::shared_ptr<const PairIndex>& pairs,
                                               std::span<const LayerPair> views);

enum class PairEnd : std::uint8_t { kSource, kTarget, kBoth };

// x [nodes, width] -> [pairs, width]: the rows of one end, or [2 * pairs, width] of both, source
// and target of each pair in turn. Differentiable any number of times.
[[nodiscard]] at::Tensor gatherEnd(const at::Tensor& x,
                                   const std::shared_ptr<const PairIndex>& pairs, PairEnd end);

// The other way round: rows [2 * pairs, width] of both ends added up by node, [nodes, width].
[[nodiscard]] at::Tensor sumByNode(const at::Tensor& rows,
                                   const std::shared_ptr<const PairIndex>& pairs);

// Whether it pays to look at pairs among copies of their ends (PairIndex::apart): where a matrix of
// the graph's size is a burden and most of its rows are no ends. `width` is of a layer.
[[nodiscard]] bool nearPairsPay(std::size_t nodes, std::size_t pairs, std::int64_t width,
                                at::Device device);
[[nodiscard]] bool nearPairsPay(const PairIndex& pairs, std::int64_t width, at::Device device);

}  // namespace edgewise
