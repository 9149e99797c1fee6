// Enclosing subgraphs of many pairs without holding them all: batch after batch, the next one made
// in the background while the present one is in use.
#pragma once

#include <cstddef>
#include <span>

#include "edgewise/graph/types.h"
#include "edgewise/sampling/enclosing_subgraph.h"
#include "edgewise/util/prefetch.h"

namespace edgewise {

// Batches of `batch_size` consecutive pairs, the last one with what is left. Two batches exist at
// most, the caller's and the next. Extractor, pairs and views are referred to and must outlive the
// stream. Throws ConfigError for a batch size of 0, ShapeError when there are not as many views as
// pairs; what SubgraphExtractor::extract throws comes out of Prefetch::next.
[[nodiscard]] Prefetch<SubgraphBatch> streamSubgraphs(const SubgraphExtractor& extractor,
                                                      std::span<const Edge> pairs,
                                                      std::span<const HopView> views,
                                                      std::size_t batch_size);

}  // namespace edgewise
