#include "edgewise/sampling/subgraph_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "edgewise/util/error.h"
#include "edgewise/util/parallel.h"
#include "support/random_graphs.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::expectFailure;

TEST(SubgraphStream, GivesTheBatchesThatExtractionGives) {
  const CsrGraph graph = testing::randomGraph(300, 900, 41);
  const std::vector<Edge> pairs = testing::randomPairs(300, 250, 42);
  const std::vector<HopView> views(pairs.size(), {2, 1});
  const SubgraphExtractor extractor(graph, {.sampling = {.max_nodes = 10}});
  for (const int threads : {1, 2, 3}) {
    setThreadCount(threads);
    auto stream = streamSubgraphs(extractor, pairs, views, 60);
    std::size_t done = 0;
    while (const std::optional<SubgraphBatch> batch = stream.next()) {
      const std::size_t size = std::min<std::size_t>(60, pairs.size() - done);
      const SubgraphBatch want =
          extractor.extract(std::span(pairs).subspan(done, size), HopView{2, 1});
      EXPECT_EQ(batch->node_offsets, want.node_offsets);
      EXPECT_EQ(batch->nodes, want.nodes);
      EXPECT_EQ(batch->labels, want.labels);
      EXPECT_TRUE(std::ranges::equal(batch->graph.targets(), want.graph.targets()));
      done += size;
    }
    EXPECT_EQ(done, pairs.size());
  }
  setThreadCount(0);
}

TEST(SubgraphStream, OfNoPairsGivesNothing) {
  const CsrGraph graph = testing::randomGraph(5, 5, 1);
  const SubgraphExtractor extractor(graph);
  EXPECT_FALSE(streamSubgraphs(extractor, {}, {}, 8).next().has_value());
}

TEST(SubgraphStream, RefusesWhatDoesNotFit) {
  const CsrGraph graph = testing::randomGraph(5, 5, 1);
  const SubgraphExtractor extractor(graph);
  const std::vector<Edge> pairs = {makeEdge(0, 1), makeEdge(2, 2)};
  const std::vector<HopView> views(2);
  expectFailure<ConfigError>([&] { (void)streamSubgraphs(extractor, pairs, views, 0); }, "0 pairs");
  expectFailure<ShapeError>([&] { (void)streamSubgraphs(extractor, pairs, {}, 1); }, "0 views");
  auto stream = streamSubgraphs(extractor, pairs, views, 1);
  EXPECT_TRUE(stream.next().has_value());
  expectFailure<ShapeError>([&] { (void)stream.next(); }, "(2, 2)");
}

}  // namespace
}  // namespace edgewise
