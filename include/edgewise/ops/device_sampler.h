// Batches drawn on a GPU: the same pairs that BatchStream draws on the host.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "edgewise/graph/csr_graph.h"
#include "edgewise/sampling/negative_sampler.h"
#include "edgewise/sampling/target_sampler.h"
#include "edgewise/util/rng.h"

namespace edgewise {

// What pairs are drawn from. `known` and the drawn pairs are numbered among `candidates`; empty:
// they are nodes.
struct DrawSpace {
  PairSpace space;
  CsrGraph known;
  std::vector<std::uint32_t> candidates;
  // Share of draws that are no known edge.
  double fit = 1;
};

class DeviceSampler {
 public:
  DeviceSampler(std::span<const Edge> supervision, const DrawSpace& draw, at::Device device);
  // Of negatives that keep their positive's source.
  DeviceSampler(std::span<const Edge> supervision, const TargetSampler& targets, at::Device device);

  // The order that `take` counts in.
  void setOrder(std::span<const std::uint32_t> order);
  // Supervision edges order[begin ..] -> ends [count, 2], and which they are -> rows [count].
  void take(std::size_t begin, const at::Tensor& rows, const at::Tensor& ends);
  // Non-edges -> ends [count, 2]; `positive` [positives, 2] are those they go with.
  void draw(const CounterRng& random, const at::Tensor& positive, const at::Tensor& ends);

 private:
  void drawPairs(const CounterRng& random, const at::Tensor& ends);
  void drawTargets(const CounterRng& random, const at::Tensor& positive, const at::Tensor& ends);

  std::size_t nodes_ = 0;
  std::size_t users_ = 0;
  bool directed_ = false;
  double fit_ = 1;
  at::Tensor supervision_;
  at::Tensor order_;
  at::Tensor known_offsets_;
  at::Tensor known_columns_;
  at::Tensor candidates_;
  // Where negatives keep the source.
  at::Tensor targets_;
  at::Tensor scratch_;
};

}  // namespace edgewise
