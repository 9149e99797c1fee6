#include "edgewise/data/sized_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "edgewise/util/parallel.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::expectFailure;

SizedGraphOptions coraSized() {
  return {.name = "cora",
          .nodes = 2708,
          .edges = 5278,
          .features = 1433,
          .feature_entries = 49'216,
          .seed = 0};
}

std::vector<std::size_t> degreesOf(const Dataset& dataset) {
  std::vector<std::size_t> degrees(dataset.node_count, 0);
  for (const Edge& edge : dataset.edges.edges) {
    ++degrees[index(edge.src)];
    ++degrees[index(edge.dst)];
  }
  return degrees;
}

TEST(SizedGraph, HasExactlyTheSizesAskedFor) {
  const Dataset dataset = makeSizedGraph(coraSized());
  EXPECT_EQ(dataset.name, "cora");
  EXPECT_EQ(dataset.node_count, 2708U);
  EXPECT_EQ(dataset.edges.size(), 5278U);
  EXPECT_TRUE(dataset.features.isSparse());
  EXPECT_EQ(dataset.features.rows(), 2708U);
  EXPECT_EQ(dataset.features.columns(), 1433U);
  EXPECT_EQ(dataset.features.nonzeroCount(), 49'216U);
}

// makeDataset would count what it had to mend.
TEST(SizedGraph, IsSimple) {
  const Dataset dataset = makeSizedGraph(coraSized());
  EXPECT_EQ(dataset.notes.self_loops, 0U);
  EXPECT_EQ(dataset.notes.duplicates, 0U);
  EXPECT_EQ(dataset.notes.mirrored, 0U);
  for (const Edge& edge : dataset.edges.edges) {
    ASSERT_LT(edge.src, edge.dst);
    ASSERT_LT(index(edge.dst), dataset.node_count);
  }
}

TEST(SizedGraph, SpreadsEntriesEvenlyOverRows) {
  const Dataset dataset = makeSizedGraph(coraSized());
  const auto offsets = dataset.features.rowOffsets();
  for (std::size_t row = 0; row < dataset.node_count; ++row) {
    const std::uint64_t length = offsets[row + 1] - offsets[row];
    ASSERT_TRUE(length == 18 || length == 19) << row;
  }
}

TEST(SizedGraph, HasHubsAmongManySmallNodes) {
  const Dataset dataset = makeSizedGraph({.nodes = 10'000, .edges = 50'000});
  std::vector<std::size_t> degrees = degreesOf(dataset);
  // The expected share of the first node is 1 / sqrt(nodes) of all ends: 1000.
  EXPECT_GT(*std::ranges::max_element(degrees), 500U);
  // Node numbers do not follow degrees.
  const auto half = degrees.begin() + 5000;
  const auto in_first = std::accumulate(degrees.begin(), half, std::size_t{0});
  EXPECT_NEAR(static_cast<double>(in_first), 50'000, 10'000);
  std::ranges::sort(degrees);
  EXPECT_LT(degrees[5000], 10U);
}

TEST(SizedGraph, IsTheSameForTheSameOptionsAndAnyThreads) {
  const SizedGraphOptions dense{.nodes = 3000, .edges = 9000, .features = 64};
  const int before = threadCount();
  setThreadCount(1);
  const std::string sparse_hash = makeSizedGraph(coraSized()).hash;
  const std::string dense_hash = makeSizedGraph(dense).hash;
  setThreadCount(4);
  EXPECT_EQ(makeSizedGraph(coraSized()).hash, sparse_hash);
  EXPECT_EQ(makeSizedGraph(dense).hash, dense_hash);
  setThreadCount(before);
  SizedGraphOptions other = coraSized();
  other.seed = 1;
  EXPECT_NE(makeSizedGraph(other).hash, sparse_hash);
}

TEST(SizedGraph, DrawsDenseValuesFromMinusOneToOne) {
  const Dataset dataset = makeSizedGraph({.nodes = 1000, .edges = 2000, .features = 100});
  EXPECT_FALSE(dataset.features.isSparse());
  ASSERT_EQ(dataset.features.values().size(), 100'000U);
  const auto [least, most] = std::ranges::minmax_element(dataset.features.values());
  EXPECT_GE(*least, -1.0F);
  EXPECT_LT(*least, -0.999F);
  EXPECT_LE(*most, 1.0F);
  EXPECT_GT(*most, 0.999F);
}

TEST(SizedGraph, FillsUpACompleteGraphAndFullRows) {
  const Dataset dataset =
      makeSizedGraph({.nodes = 40, .edges = 780, .features = 7, .feature_entries = 280});
  EXPECT_EQ(dataset.edges.size(), 780U);
  EXPECT_EQ(dataset.features.nonzeroCount(), 280U);
  for (const std::size_t degree : degreesOf(dataset)) {
    EXPECT_EQ(degree, 39U);
  }
}

TEST(SizedGraph, RefusesSizesThatNoGraphHas) {
  expectFailure<ConfigError>([] { (void)makeSizedGraph({.nodes = 4, .edges = 7}); },
                             "7 edges among 4 nodes");
  expectFailure<ConfigError>([] { (void)makeSizedGraph({.nodes = 4, .edges = 0}); }, "0 edges");
  expectFailure<ConfigError>(
      [] { (void)makeSizedGraph({.nodes = 4, .edges = 3, .features = 2, .feature_entries = 9}); },
      "9 feature entries");
}

TEST(SizedGraph, HasUsersAndItemsWhereAskedTo) {
  const SizedGraphOptions options{.name = "shop", .nodes = 300, .edges = 4000, .users = 100};
  const Dataset dataset = makeSizedGraph(options);
  ASSERT_TRUE(dataset.bipartite.has_value());
  EXPECT_EQ(*dataset.bipartite, (BipartiteShape{.users = 100, .items = 200}));
  EXPECT_EQ(dataset.edges.size(), 4000U);
  EXPECT_EQ(dataset.notes.duplicates, 0U);
  for (const Edge& edge : dataset.edges.edges) {
    EXPECT_LT(index(edge.src), 100U);
    EXPECT_GE(index(edge.dst), 100U);
  }
  // All there is room for, and no more.
  EXPECT_EQ(makeSizedGraph({.nodes = 7, .edges = 12, .users = 3}).edges.size(), 12U);
  expectFailure<ConfigError>([] { (void)makeSizedGraph({.nodes = 7, .edges = 13, .users = 3}); },
                             "1 to 12");
  expectFailure<ConfigError>([] { (void)makeSizedGraph({.nodes = 7, .edges = 1, .users = 7}); },
                             "1 to 0");
  const SizedGraphOptions& gowalla = findSizes("gowalla");
  EXPECT_EQ(gowalla.users, 29'858U);
  EXPECT_EQ(gowalla.nodes - gowalla.users, 40'981U);
}

}  // namespace
}  // namespace edgewise
