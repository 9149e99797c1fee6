#include "edgewise/sampling/subgraph_stream.h"

#include <fmt/format.h>

#include <algorithm>

#include "edgewise/util/error.h"

namespace edgewise {

Prefetch<SubgraphBatch> streamSubgraphs(const SubgraphExtractor& extractor,
                                        std::span<const Edge> pairs, std::span<const HopView> views,
                                        std::size_t batch_size) {
  if (batch_size == 0) {
    throw ConfigError("batches of 0 pairs never end", "use batches of at least 1 pair");
  }
  if (views.size() != pairs.size()) {
    throw ShapeError(fmt::format("{} views for {} pairs", views.size(), pairs.size()));
  }
  const std::size_t batches = pairs.size() / batch_size + (pairs.size() % batch_size == 0 ? 0 : 1);
  return Prefetch<SubgraphBatch>(
      batches, [&extractor, pairs, views, batch_size](std::size_t number) {
        const std::size_t begin = number * batch_size;
        const std::size_t size = std::min(batch_size, pairs.size() - begin);
        return extractor.extract(pairs.subspan(begin, size), views.subspan(begin, size));
      });
}

}  // namespace edgewise
