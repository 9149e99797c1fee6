// The leading eigenvectors of a message graph: what propagation keeps longest. Nodes that hear the
// same neighbourhoods have similar rows, so they are a place to begin learning embeddings from.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "edgewise/ops/message_plan.h"
#include "edgewise/util/progress.h"

namespace edgewise {

struct LeadingVectors {
  // [nodes, width], columns of length 1 at right angles to each other.
  at::Tensor vectors;
  // [width], descending, in [-1, 1].
  at::Tensor values;
};

// The eigenvectors of the plan's operator with its `width` largest eigenvalues (all of them where
// there are fewer nodes), in double precision on `device`, by subspace iteration with Chebyshev
// polynomials from a random block. Well separated vectors come out exact, those whose eigenvalues
// lie close to the last one's mixed with their like. The plan has to be symmetric and unmasked,
// with eigenvalues in [-1, 1] (Norm::kSymmetric, kSymmetricOpen). The same seed gives the same bits
// for any number of threads. Throws InterruptedError.
[[nodiscard]] LeadingVectors leadingVectors(const std::shared_ptr<const MessagePlan>& plan,
                                            std::int64_t width, std::uint64_t seed,
                                            at::Device device = at::kCPU,
                                            ProgressSink& progress = silentProgress());

}  // namespace edgewise
