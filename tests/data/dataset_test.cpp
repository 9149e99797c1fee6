#include "edgewise/data/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "support/test_support.h"

namespace edgewise {
namespace {

using ::testing::ElementsAre;
using testing::expectFailure;

DatasetParts partsOf(std::vector<Edge> edges, std::size_t nodes) {
  DatasetParts parts;
  parts.name = "tiny";
  parts.raw.table.edges = std::move(edges);
  parts.raw.ids = IdMap::numbers(nodes);
  return parts;
}

TEST(MakeDataset, CountsLoopsRepeatsAndMirrors) {
  const Dataset dataset = makeDataset(
      partsOf({makeEdge(2, 1), makeEdge(1, 2), makeEdge(0, 1), makeEdge(0, 1), makeEdge(3, 3)}, 4));
  EXPECT_THAT(dataset.edges.edges, ElementsAre(makeEdge(0, 1), makeEdge(1, 2)));
  EXPECT_EQ(dataset.notes.self_loops, 1U);
  EXPECT_EQ(dataset.notes.duplicates, 1U);
  EXPECT_EQ(dataset.notes.mirrored, 1U);
}

TEST(MakeDataset, KeepsBothDirectionsWhenDirected) {
  DatasetParts parts = partsOf({makeEdge(2, 1), makeEdge(1, 2), makeEdge(1, 2)}, 3);
  parts.direction = Direction::kDirected;
  const Dataset dataset = makeDataset(std::move(parts));
  EXPECT_THAT(dataset.edges.edges, ElementsAre(makeEdge(1, 2), makeEdge(2, 1)));
  EXPECT_EQ(dataset.notes.duplicates, 1U);
}

TEST(MakeDataset, AddsWeightsOfRepeatsButNotOfMirrorsAndKeepsTheEarliestTime) {
  DatasetParts parts = partsOf({makeEdge(0, 1), makeEdge(0, 1), makeEdge(2, 0), makeEdge(0, 2)}, 3);
  parts.raw.table.weight = {1, 2, 5, 5};
  parts.raw.table.time = {2020, 2010, 7, 8};
  DatasetParts timeless = parts;
  timeless.raw.table.time.clear();
  EXPECT_THAT(makeDataset(std::move(timeless)).edges.weight, ElementsAre(3, 5));
  const Dataset dataset = makeDataset(std::move(parts));
  EXPECT_THAT(dataset.edges.time, ElementsAre(2010, 7));
  EXPECT_THAT(dataset.edges.weight, ElementsAre(2, 5)) << "the later repeat is in the future";
}

TEST(MakeDataset, PutsItemsBehindUsers) {
  DatasetParts parts = partsOf({makeEdge(0, 0), makeEdge(1, 2)}, 2);
  parts.raw.ids = IdMap::labels({"ann", "bob"});
  parts.raw.right_ids = IdMap::labels({"tea", "milk", "salt"});
  parts.official = OfficialSplit{.train = {.edges = {makeEdge(0, 0)}},
                                 .valid = {},
                                 .test = {.edges = {makeEdge(1, 2)}},
                                 .valid_negative = {},
                                 .test_negative = {makeEdge(0, 1)}};
  const Dataset dataset = makeDataset(std::move(parts));
  EXPECT_EQ(dataset.bipartite, (BipartiteShape{.users = 2, .items = 3}));
  EXPECT_EQ(dataset.node_count, 5U);
  EXPECT_THAT(dataset.edges.edges, ElementsAre(makeEdge(0, 2), makeEdge(1, 4)));
  EXPECT_EQ(dataset.notes.self_loops, 0U) << "user 0 and item 0 are different nodes";
  EXPECT_EQ(dataset.official->test.edges.front(), makeEdge(1, 4));
  EXPECT_EQ(dataset.official->test_negative.front(), makeEdge(0, 3));
  EXPECT_EQ(dataset.nodeLabel(NodeId{1}), "bob");
  EXPECT_EQ(dataset.nodeLabel(NodeId{4}), "salt");
}

TEST(MakeDataset, ChecksFeaturesAgainstNodes) {
  const auto with = [](std::size_t rows, float value, IdMap ids) {
    DatasetParts parts = partsOf({makeEdge(0, 1)}, 2);
    parts.raw.ids = std::move(ids);
    parts.features = FeatureMatrix::dense(rows, 2, std::vector<float>(rows * 2, value));
    return makeDataset(std::move(parts));
  };
  EXPECT_EQ(with(2, 1, IdMap::numbers(2)).node_count, 2U);
  const Dataset wider = with(5, 1, IdMap::numbers(2));
  EXPECT_EQ(wider.node_count, 5U);
  EXPECT_EQ(wider.notes.remarks.size(), 1U);
  expectFailure<DataError>([&] { (void)with(1, 1, IdMap::numbers(2)); }, "1 rows but there are 2");
  expectFailure<DataError>([&] { (void)with(3, 1, IdMap::labels({"a", "b"})); },
                           "3 rows but only 2 nodes");
  expectFailure<DataError>(
      [&] { (void)with(2, std::numeric_limits<float>::quiet_NaN(), IdMap::numbers(2)); },
      "a feature of node 0 is nan");
  expectFailure<DataError>(
      [&] { (void)with(2, std::numeric_limits<float>::infinity(), IdMap::numbers(2)); }, "inf");
}

TEST(MakeDataset, RefusesAGraphWithoutEdges) {
  expectFailure<DataError>([] { (void)makeDataset(partsOf({makeEdge(1, 1)}, 2)); },
                           "no edges left after removing 1 self-loop");
}

TEST(DatasetHash, ChangesWithAnythingThatCanChangeAResult) {
  const Dataset base = makeDataset(partsOf({makeEdge(0, 1), makeEdge(1, 2)}, 3));
  EXPECT_EQ(base.hash, makeDataset(partsOf({makeEdge(2, 1), makeEdge(1, 0)}, 3)).hash);
  EXPECT_NE(base.hash, makeDataset(partsOf({makeEdge(0, 1), makeEdge(0, 2)}, 3)).hash);
  EXPECT_NE(base.hash, makeDataset(partsOf({makeEdge(0, 1), makeEdge(1, 2)}, 4)).hash);
  DatasetParts weighted = partsOf({makeEdge(0, 1), makeEdge(1, 2)}, 3);
  weighted.raw.table.weight = {1, 1};
  EXPECT_NE(base.hash, makeDataset(std::move(weighted)).hash);
}

TEST(FeatureMatrix, SortsColumnsAddsRepeatsAndDropsZeros) {
  const FeatureMatrix matrix =
      FeatureMatrix::sparse(4, {0, 4, 4}, {3, 1, 1, 2}, {1.0F, 2.0F, 3.0F, 0.0F});
  EXPECT_THAT(matrix.columnIndices(), ElementsAre(1, 3));
  EXPECT_THAT(matrix.values(), ElementsAre(5.0F, 1.0F));
  EXPECT_EQ(matrix.at(0, 1), 5.0F);
  EXPECT_EQ(matrix.at(1, 1), 0.0F);
  expectFailure<ShapeError>([] { (void)FeatureMatrix::sparse(2, {0, 1}, {2}, {1.0F}); },
                            "feature column 2 in row 0");
  expectFailure<ShapeError>([] { (void)FeatureMatrix::sparse(2, {0, 2}, {0}, {1.0F}); }, "offsets");
  expectFailure<ShapeError>([] { (void)FeatureMatrix::dense(2, 2, {1.0F}); }, "2 x 2");
}

TEST(IdMap, FindsWhatItNamed) {
  const IdMap labels = IdMap::labels({"x", "y"});
  EXPECT_EQ(labels.find("y"), NodeId{1});
  EXPECT_FALSE(labels.find("z"));
  EXPECT_EQ(labels.label(NodeId{0}), "x");
  const IdMap numbers = IdMap::numbers(3);
  EXPECT_EQ(numbers.find("2"), NodeId{2});
  EXPECT_FALSE(numbers.find("3"));
  EXPECT_FALSE(numbers.find("-1"));
  expectFailure<DataError>([] { (void)IdMap::labels({"x", "x"}); }, "'x' is given twice");
}

}  // namespace
}  // namespace edgewise
