#include "edgewise/data/ogb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "edgewise/util/error.h"
#include "support/byte_writers.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::arrayBytes;
using ::testing::ElementsAre;
using testing::expectFailure;
using testing::gzipBytes;
using ::testing::IsEmpty;
using testing::legacyTorchBytes;
using testing::PickleWriter;
using testing::TempFolder;
using testing::zipTorchBytes;

using I64 = std::int64_t;

std::string numpyDict(std::initializer_list<std::pair<const char*, std::vector<I64>>> arrays) {
  PickleWriter pickle;
  pickle.op("}");
  for (const auto& [key, values] : arrays) {
    std::string data;
    for (const I64 value : values) {
      data += testing::littleBytes(value);
    }
    const bool is_edges = std::string_view(key).starts_with("edge");
    const auto count = static_cast<std::int32_t>(values.size());
    const std::vector<std::int32_t> shape =
        is_edges ? std::vector<std::int32_t>{count / 2, 2} : std::vector<std::int32_t>{count};
    pickle.text(key).array("i8", shape, data).op("s");
  }
  return pickle.finish();
}

// Five nodes, three training edges; collab's layout: weights, years, features, numpy arrays in
// files of the older layout.
void writeCollab(const TempFolder& folder) {
  const auto gz = [&](const char* name, std::string_view text) {
    (void)folder.write(name, gzipBytes(text));
  };
  gz("raw/num-node-list.csv.gz", "5\n");
  gz("raw/num-edge-list.csv.gz", "3\n");
  gz("raw/edge.csv.gz", "0,1\n1,2\n4,0\n");
  gz("raw/edge_weight.csv.gz", "1\n2\n1\n");
  gz("raw/edge_year.csv.gz", "1999\n2000\n2000\n");
  gz("raw/node-feat.csv.gz", "0.5,-1e-2\n1,0\n0.0,1.0\n2,3.25\n12.5,9\n");
  const auto pt = [&](const char* name, const std::string& pickle) {
    (void)folder.write(name, gzipBytes(legacyTorchBytes(pickle)));
  };
  pt("split/time/train.pt.gz",
     numpyDict(
         {{"edge", {0, 1, 1, 2, 4, 0}}, {"weight", {1, 2, 1}}, {"year", {1999, 2000, 2000}}}));
  pt("split/time/valid.pt.gz",
     numpyDict({{"edge", {2, 3}}, {"edge_neg", {0, 3, 1, 3}}, {"weight", {4}}, {"year", {2001}}}));
  pt("split/time/test.pt.gz",
     numpyDict({{"edge", {3, 4}}, {"edge_neg", {2, 4}}, {"weight", {1}}, {"year", {2002}}}));
}

// ppa's layout: no weights, one-hot features, torch tensors in zip files.
void writePpa(const TempFolder& folder) {
  (void)folder.write("raw/num-node-list.csv", "4\n");
  (void)folder.write("raw/num-edge-list.csv", "2\n");
  (void)folder.write("raw/edge.csv", "1,0\n2,3\n");
  (void)folder.write("raw/node-feat.csv", "1.0,0.0\n0.0,1.0\n1.0,0.0\n0.0,1.0\n");
  const auto pt = [&](const char* name, std::initializer_list<I64> edge, bool negatives) {
    const auto rows = static_cast<std::int32_t>(edge.size() / 2);
    const std::array<std::int32_t, 2> shape = {rows, 2};
    const std::array<std::int32_t, 2> strides = {2, 1};
    PickleWriter pickle;
    pickle.op("}").text("edge").tensor("LongStorage", "0", 2 * rows, shape, strides).op("s");
    if (negatives) {
      pickle.text("edge_neg").tensor("LongStorage", "0", 2 * rows, shape, strides).op("s");
    }
    (void)folder.write(name, zipTorchBytes(pickle.finish(), {{"0", arrayBytes<I64>(edge)}}));
  };
  pt("split/throughput/train.pt", {0, 1, 3, 2}, false);
  pt("split/throughput/valid.pt", {0, 2}, true);
  pt("split/throughput/test.pt", {1, 3}, true);
}

TEST(ReadOgb, ReadsCollabWithItsWeightsAndYears) {
  const TempFolder folder;
  writeCollab(folder);
  const DatasetParts parts = readOgb(folder.path(), "ogbl-collab");
  EXPECT_EQ(parts.raw.ids.size(), 5U);
  EXPECT_THAT(parts.raw.table.edges, ElementsAre(makeEdge(0, 1), makeEdge(1, 2), makeEdge(4, 0),
                                                 makeEdge(2, 3), makeEdge(3, 4)));
  EXPECT_THAT(parts.raw.table.weight, ElementsAre(1, 2, 1, 4, 1));
  EXPECT_THAT(parts.raw.table.time, ElementsAre(1999, 2000, 2000, 2001, 2002));
  ASSERT_TRUE(parts.official);
  EXPECT_EQ(parts.official->train.size(), 3U);
  EXPECT_THAT(parts.official->valid.weight, ElementsAre(4));
  EXPECT_THAT(parts.official->valid_negative, ElementsAre(makeEdge(0, 3), makeEdge(1, 3)));
  EXPECT_THAT(parts.official->test.time, ElementsAre(2002));
  EXPECT_THAT(parts.official->test_negative, ElementsAre(makeEdge(2, 4)));
  EXPECT_EQ(parts.features.rows(), 5U);
  EXPECT_THAT(parts.features.values(), ElementsAre(0.5F, -0.01F, 1, 0, 0, 1, 2, 3.25F, 12.5F, 9));
  EXPECT_THAT(parts.raw.notes, IsEmpty());
}

TEST(ReadOgb, ReadsPpaFromZipFilesOfTensors) {
  const TempFolder folder;
  writePpa(folder);
  const DatasetParts parts = readOgb(folder.path(), "ogbl_ppa");
  EXPECT_THAT(parts.raw.table.edges,
              ElementsAre(makeEdge(0, 1), makeEdge(3, 2), makeEdge(0, 2), makeEdge(1, 3)));
  EXPECT_THAT(parts.raw.table.weight, IsEmpty());
  EXPECT_THAT(parts.official->valid_negative, ElementsAre(makeEdge(0, 2)));
  EXPECT_EQ(parts.features.columns(), 2U);
  EXPECT_EQ(parts.features.at(3, 1), 1.0F);
  // The split turns both edges round; they are the same undirected edges.
  EXPECT_THAT(parts.raw.notes, IsEmpty());
}

TEST(ReadOgb, LeavesFeaturesOutWhenAsked) {
  const TempFolder folder;
  writePpa(folder);
  OgbOptions options;
  options.features = false;
  EXPECT_TRUE(readOgb(folder.path(), "ogbl-ppa", options).features.empty());
}

TEST(ReadOgb, TakesWeightsFromRawFilesWhereTheSplitHasNone) {
  const TempFolder folder;
  writeCollab(folder);
  (void)folder.write("split/time/train.pt.gz",
                     legacyTorchBytes(numpyDict({{"edge", {0, 1, 1, 2, 4, 0}}})));
  const DatasetParts parts = readOgb(folder.path(), "ogbl-collab");
  EXPECT_THAT(parts.official->train.weight, ElementsAre(1, 2, 1));
  EXPECT_THAT(parts.official->train.time, ElementsAre(1999, 2000, 2000));
}

TEST(ReadOgb, RemarksOnARawFileThatDiffersFromTheSplit) {
  const TempFolder folder;
  writePpa(folder);
  (void)folder.write("raw/edge.csv", "1,0\n2,0\n");
  const DatasetParts parts = readOgb(folder.path(), "ogbl-ppa");
  EXPECT_THAT(parts.raw.notes, ElementsAre(::testing::HasSubstr("the split is used")));
}

TEST(ReadOgb, NamesWhatIsWrong) {
  struct Case {
    const char* file;
    std::string content;
    const char* message;
  };
  const std::vector<Case> cases = {
      {"raw/num-edge-list.csv", "3\n", "has 2 rows, but num-edge-list.csv says 3"},
      {"raw/num-edge-list.csv", "2\n7\n", "num-edge-list.csv:2: holds more than one count"},
      {"raw/num-node-list.csv", "0\n", "0 is no possible number of nodes"},
      {"raw/num-node-list.csv", "99999999999\n", "is no possible number of nodes"},
      {"raw/num-node-list.csv", "3\n", "node 3 in row 1 is outside 0..2"},
      {"raw/num-node-list.csv", "5\n", "has 4 rows, but num-node-list.csv says 5 nodes"},
      {"raw/edge.csv", "1,0\n2,4\n", "edge.csv:2: node 4 is outside 0..3"},
      {"raw/edge.csv", "1,0\n2\n", "edge.csv:2: the row has one cell, not two"},
      {"raw/edge.csv", "1,0\n2,3,1\n", "edge.csv:2: the row has more than two cells"},
      {"raw/edge.csv", "1,0\n2,-3\n", "edge.csv:2: '-3' is not a whole number"},
      {"raw/edge.csv", "1,0\n\n2,3\n", "edge.csv:2: '' is not a whole number"},
      {"raw/node-feat.csv", "1,0\n0\n1,0\n0,1\n", "node-feat.csv:2: the row has 1 cells"},
      {"raw/node-feat.csv", "1,0\n0,nan\n1,0\n0,1\n", "node-feat.csv:2: 'nan' is not a finite"},
      {"raw/node-feat.csv", "1,0\n0,x\n1,0\n0,1\n", "node-feat.csv:2: 'x' is not a finite"},
      {"raw/edge_weight.csv", "1\n", "edge_weight.csv: has 1 rows"},
      {"split/throughput/train.pt", "nonsense", "is not a file written by torch.save"},
      {"split/throughput/train.pt", legacyTorchBytes(numpyDict({{"other", {1}}})),
       "has no array 'edge'; it has: 'other'"},
      {"split/throughput/train.pt", legacyTorchBytes(numpyDict({{"edge", {1, -1}}})),
       "node -1 in row 0 is outside 0..3"},
      {"split/throughput/train.pt",
       legacyTorchBytes(numpyDict({{"edge", {1, 0}}, {"weight", {1, 1}}})), "2 values for 1 edges"},
      {"split/throughput/train.pt", legacyTorchBytes(numpyDict({{"edge", {}}})),
       "the training split has no edges"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.message);
    const TempFolder folder;
    writePpa(folder);
    (void)folder.write(each.file, each.content);
    expectFailure<DataError>([&] { (void)readOgb(folder.path(), "ogbl-ppa"); }, each.message);
  }
}

TEST(ReadOgb, NamesTheMissingFile) {
  const TempFolder folder;
  writePpa(folder);
  std::filesystem::remove(folder.path() / "split/throughput/test.pt");
  expectFailure<DataError>([&] { (void)readOgb(folder.path(), "ogbl-ppa"); },
                           "test.pt: no such file, plain or as .gz");
}

TEST(ReadOgb, AsksForASplitTypeOfAnUnknownDataset) {
  const TempFolder folder;
  writePpa(folder);
  expectFailure<ConfigError>([&] { (void)readOgb(folder.path(), "ogbl-pppa"); },
                             "unknown OGB link dataset 'ogbl-pppa'");
  OgbOptions options;
  options.split_type = "throughput";
  EXPECT_EQ(readOgb(folder.path(), "mine", options).raw.table.size(), 4U);
}

TEST(ReadOgbCsv, CountsNodesByTheLargestIdWithoutACountFile) {
  const TempFolder folder;
  (void)folder.write("train_pos.csv", "src,dst\n0,1\r\n1,2\r\n");
  (void)folder.write("valid_pos.csv", "src,dst\n0,2\n");
  (void)folder.write("test_pos.csv", "src,dst\n");
  (void)folder.write("test_neg.csv", "src,dst\n0,6\n");
  const DatasetParts parts = readOgbCsv(folder.path(), "mine");
  EXPECT_EQ(parts.raw.ids.size(), 7U);
  EXPECT_EQ(parts.raw.table.size(), 3U);
  EXPECT_THAT(parts.official->test_negative, ElementsAre(makeEdge(0, 6)));
  EXPECT_EQ(parts.raw.notes.size(), 1U);
  (void)folder.write("valid_pos.csv", "src,dst\n0,2\n5\n");
  expectFailure<DataError>([&] { (void)readOgbCsv(folder.path(), "mine"); },
                           "valid_pos.csv:3: the row has one cell");
}

TEST(OgbData, DdiHasItsPublishedCountsAndEqualsItsCsvTwin) {
  EDGEWISE_NEEDS_DATA(folder, "ogbl_ddi");
  const DatasetParts parts = readOgb(folder, "ogbl-ddi");
  ASSERT_TRUE(parts.official);
  const OfficialSplit& split = *parts.official;
  EXPECT_EQ(parts.raw.ids.size(), 4267U);
  EXPECT_EQ(split.train.size(), 1067911U);
  EXPECT_EQ(split.valid.size(), 133489U);
  EXPECT_EQ(split.test.size(), 133489U);
  EXPECT_EQ(split.valid_negative.size(), 101882U);
  EXPECT_EQ(split.test_negative.size(), 95599U);
  EXPECT_THAT(parts.raw.notes, IsEmpty());
  const DatasetParts twin = readOgbCsv(folder, "ogbl-ddi");
  ASSERT_TRUE(twin.official);
  EXPECT_EQ(twin.raw.ids.size(), parts.raw.ids.size());
  EXPECT_TRUE(twin.raw.table.edges == parts.raw.table.edges);
  EXPECT_TRUE(twin.official->train.edges == split.train.edges);
  EXPECT_TRUE(twin.official->valid.edges == split.valid.edges);
  EXPECT_TRUE(twin.official->test.edges == split.test.edges);
  EXPECT_TRUE(twin.official->valid_negative == split.valid_negative);
  EXPECT_TRUE(twin.official->test_negative == split.test_negative);
}

}  // namespace
}  // namespace edgewise
