#include "edgewise/data/feature_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "edgewise/util/error.h"
#include "edgewise/util/parallel.h"
#include "edgewise/util/rng.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using ::edgewise::testing::expectFailure;
using ::edgewise::testing::TempFolder;
using ::testing::ElementsAre;

FeatureMatrix csv(std::string_view text, const FeatureTextOptions& options = {}) {
  const TempFolder folder;
  return readFeaturesCsv(folder.write("x.csv", text), options);
}

FeatureMatrix svm(std::string_view text, const FeatureTextOptions& options = {}) {
  const TempFolder folder;
  return readFeaturesSvmlight(folder.write("x.svm", text), options);
}

std::vector<std::int32_t> labels(std::string_view text, std::size_t node_count) {
  const TempFolder folder;
  return readLabelsCsv(folder.write("y.csv", text), node_count);
}

template <class Failure = DataError>
void expectCsvRefused(std::string_view text, std::string_view fragment,
                      const FeatureTextOptions& options = {}) {
  expectFailure<Failure>([&] { (void)csv(text, options); }, fragment);
}

template <class Failure = DataError>
void expectSvmRefused(std::string_view text, std::string_view fragment,
                      const FeatureTextOptions& options = {}) {
  expectFailure<Failure>([&] { (void)svm(text, options); }, fragment);
}

TEST(FeaturesCsv, ReadsRowsInOrder) {
  for (const std::string_view text :
       {"1,2,3\n4,5,6\n", "a,b,c\n1,2,3\n4,5,6\n", "1 2 3\n4 5 6",
        "\xEF\xBB\xBF# x\r\n1;2;3\r\n4;5;6\r\n", "\"1\"\t2\t+3\n4\t5e0\t6.0\n"}) {
    const FeatureMatrix matrix = csv(text);
    EXPECT_FALSE(matrix.isSparse());
    EXPECT_EQ(matrix.rows(), 2U) << text;
    EXPECT_EQ(matrix.columns(), 3U);
    EXPECT_THAT(matrix.values(), ElementsAre(1, 2, 3, 4, 5, 6));
  }
}

TEST(FeaturesCsv, ReadsASingleColumn) {
  const FeatureMatrix matrix = csv("x\n0.5\n-1\n");
  EXPECT_EQ(matrix.rows(), 2U);
  EXPECT_EQ(matrix.columns(), 1U);
  EXPECT_THAT(matrix.values(), ElementsAre(0.5F, -1.0F));
}

TEST(FeaturesCsv, KnowsNumberedColumnsAsAHeader) {
  EXPECT_EQ(csv("0,1,2,3\n5,6,7,8\n").rows(), 1U);
  EXPECT_EQ(csv("0,1,2,3\n5,6,7,8\n", {.header = HeaderRule::kNo}).rows(), 2U);
  EXPECT_EQ(csv("0,1,2\n5,6,7\n").rows(), 2U);
  const FeatureMatrix indexed = csv(",0,1,2,3\n1,5,6,7,8\n0,1,2,3,4\n");
  EXPECT_THAT(indexed.values(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
}

TEST(FeaturesCsv, PlacesRowsById) {
  const IdMap ids = IdMap::labels({"ann", "bob, jr", "cy"});
  const std::string_view text = "id,x,y\ncy,5,6\nann,1,2\n\"bob, jr\",3,4\n";
  EXPECT_THAT(csv(text, {.ids = &ids}).values(), ElementsAre(1, 2, 3, 4, 5, 6));
  // Without a header the ids of labelled nodes stand first.
  EXPECT_THAT(csv("cy,5\nann,1\n\"bob, jr\",3\n", {.ids = &ids}).values(), ElementsAre(1, 3, 5));
  EXPECT_THAT(
      csv("x,who\n5,cy\n1,ann\n3,\"bob, jr\"\n", {.ids = &ids, .id_column = "who"}).values(),
      ElementsAre(1, 3, 5));
  EXPECT_THAT(csv("5,cy\n1,ann\n3,\"bob, jr\"\n", {.ids = &ids, .id_column = "2"}).values(),
              ElementsAre(1, 3, 5));
}

TEST(FeaturesCsv, PlacesRowsByNumber) {
  const IdMap ids = IdMap::numbers(3);
  EXPECT_THAT(csv("node,x\n2,30\n0,10\n1,20\n", {.ids = &ids}).values(), ElementsAre(10, 20, 30));
  EXPECT_THAT(csv("node,x\n2,30\n0,10\n1,20\n").values(), ElementsAre(10, 20, 30));
  EXPECT_EQ(csv("node,x\n2,30\n0,10\n1,20\n", {.id_column = "none"}).columns(), 2U);
  EXPECT_EQ(csv("2,30\n0,10\n", {.ids = &ids}).columns(), 2U);
}

TEST(FeaturesCsv, RefusesIdsThatDoNotFitTheNodes) {
  const IdMap ids = IdMap::labels({"ann", "bob"});
  expectCsvRefused("id,x\nann,1\neve,2\n", "x.csv:3: unknown node id 'eve'", {.ids = &ids});
  expectCsvRefused("id,x\nann,1\n\nann,2\n",
                   "x.csv:4: node id 'ann' is repeated; it has features on line 2", {.ids = &ids});
  expectCsvRefused("id,x\nann,1\n", "node 'bob' has no row", {.ids = &ids});
  expectCsvRefused("node,x\n0,1\n2,1\n", "x.csv:3: unknown node id '2'");
  expectCsvRefused<ConfigError>("node,x\n0,1\n", "id_column is 'nodde'", {.id_column = "nodde"});
  expectCsvRefused("id\nann\nbob\n", "no features", {.ids = &ids});
}

TEST(FeaturesCsv, RefusesWhatIsNoFiniteNumber) {
  expectCsvRefused("1,2\n3,four\n", "x.csv:2: feature 'four' in column 2 is not a number");
  expectCsvRefused("a,b\n1,2\nnan,3\n", "x.csv:3: feature 'nan' in column 'a' is not finite");
  expectCsvRefused("1,2\n-inf,3\n", "x.csv:2: feature '-inf' in column 1 is not finite");
  expectCsvRefused("1,2\n1e40,3\n", "is too large for a 32-bit float");
  expectCsvRefused("1,2\n,3\n", "x.csv:2: feature '' in column 1 is empty");
  expectCsvRefused("1,2\n0x1,3\n", "is not a number");
  EXPECT_THAT(csv("1e-50,-1e-400\n").values(), ElementsAre(0.0F, 0.0F));
}

TEST(FeaturesCsv, RefusesRaggedAndEmptyFiles) {
  expectCsvRefused("1,2\n3\n", "x.csv:2: 1 fields found, 2 expected");
  expectCsvRefused("1,2\n3,4,5\n", "x.csv:2: 3 fields found, 2 expected");
  expectCsvRefused("", "the file is empty");
  expectCsvRefused("# nothing\n", "holds no rows");
  expectCsvRefused("id,x\n", "a header but no rows");
  const TempFolder folder;
  expectFailure<DataError>([&] { (void)readFeaturesCsv(folder.path() / "none.csv"); },
                           "no such file");
  expectFailure<DataError>([&] { (void)readFeaturesCsv(folder.path()); }, "is a folder");
}

// More than one piece of work, so that threads share it.
TEST(FeaturesCsv, ReadsBackAMatrixByAnyNumberOfThreads) {
  constexpr std::size_t kRows = 3000;
  constexpr std::size_t kColumns = 60;
  const CounterRng rng(5, "features");
  std::vector<float> values(kRows * kColumns);
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(rng.normal(i));
    text += fmt::format("{}{}", values[i], (i + 1) % kColumns == 0 ? '\n' : ',');
  }
  const TempFolder folder;
  const auto path = folder.write("x.csv", text);
  for (const int threads : {1, 2, 5}) {
    setThreadCount(threads);
    const FeatureMatrix matrix = readFeaturesCsv(path);
    EXPECT_EQ(matrix.rows(), kRows);
    EXPECT_TRUE(std::ranges::equal(matrix.values(), values));
  }
  std::string broken = text;
  broken.front() = 'x';
  broken[broken.rfind(',') - 1] = 'y';
  const auto broken_path = folder.write("broken.csv", broken);
  expectFailure<DataError>([&] { (void)readFeaturesCsv(broken_path, {.header = HeaderRule::kNo}); },
                           "broken.csv:1:");
  setThreadCount(0);
}

TEST(FeaturesSvmlight, ReadsIndicesFromOne) {
  const FeatureMatrix matrix = svm("# head\n+1 1:0.5 3:2 # tail\n-1\n0 qid:4 3:1 2:-1\n");
  EXPECT_TRUE(matrix.isSparse());
  EXPECT_EQ(matrix.rows(), 3U);
  EXPECT_EQ(matrix.columns(), 3U);
  EXPECT_THAT(matrix.rowOffsets(), ElementsAre(0, 2, 2, 4));
  EXPECT_THAT(matrix.columnIndices(), ElementsAre(0, 2, 1, 2));
  EXPECT_THAT(matrix.values(), ElementsAre(0.5F, 2.0F, -1.0F, 1.0F));
}

TEST(FeaturesSvmlight, FindsIndicesFromZero) {
  const FeatureMatrix matrix = svm("1 1:5\n1 0:7\n");
  EXPECT_EQ(matrix.columns(), 2U);
  EXPECT_EQ(matrix.at(0, 1), 5.0F);
  EXPECT_EQ(matrix.at(1, 0), 7.0F);
  EXPECT_EQ(svm("1 1:5\n", {.index_base = IndexBase::kZero}).columns(), 2U);
  expectSvmRefused("1 1:5\n1 0:7\n", "x.svm:2: feature index 0", {.index_base = IndexBase::kOne});
}

TEST(FeaturesSvmlight, ReadsRowsWithoutLabelsAndMultipleLabels) {
  const FeatureMatrix matrix = svm("1:5 2:6\n2,7 1:1\r\n");
  EXPECT_EQ(matrix.rows(), 2U);
  EXPECT_EQ(matrix.at(0, 1), 6.0F);
  EXPECT_EQ(matrix.at(1, 0), 1.0F);
}

TEST(FeaturesSvmlight, ObeysTheColumnCount) {
  EXPECT_EQ(svm("1 1:5\n", {.column_count = 9}).columns(), 9U);
  expectSvmRefused("1 1:5\n1 10:1\n", "x.svm:2: feature index 10 is beyond 9 columns",
                   {.column_count = 9});
  expectSvmRefused<ConfigError>("1 1:5\n", "column_count", {.column_count = std::size_t{1} << 40});
}

TEST(FeaturesSvmlight, RefusesBadEntries) {
  expectSvmRefused("1 1:5\n1 2:x\n", "x.svm:2: feature 'x' in column 2 is not a number");
  expectSvmRefused("1 1:nan\n", "x.svm:1: feature 'nan' in column 1 is not finite");
  expectSvmRefused("1 1:inf\n", "is not finite");
  expectSvmRefused("1 1:\n", "is empty");
  expectSvmRefused("1 2 3\n", "x.svm:1: '2' is not index:value");
  expectSvmRefused("1 -2:1\n", "is not index:value");
  expectSvmRefused("1 a:1\n", "is not index:value");
  expectSvmRefused("1 4294967296:1\n", "is beyond");
  expectSvmRefused("1 99999999:1\n", "is beyond");
  expectSvmRefused("1 3:1 2:1 3:2\n", "x.svm:1: feature index 3 is repeated");
  expectSvmRefused("1\n2\n", "holds no features");
  expectSvmRefused("# c\n", "holds no features");
  expectSvmRefused("", "the file is empty");
}

TEST(LabelsCsv, ReadsLabelsInAnyOrder) {
  EXPECT_THAT(labels("node,label\n2,5\n0,-1\n1,0\n", 4), ElementsAre(-1, 0, 5, -1));
  EXPECT_THAT(labels("0,3\n1,4\n", 2), ElementsAre(3, 4));
  EXPECT_THAT(labels("label,node\n7,1\n", 2), ElementsAre(-1, 7));
}

TEST(LabelsCsv, RefusesWhatDoesNotFit) {
  const auto refused = [](std::string_view text, std::string_view fragment) {
    expectFailure<DataError>([&] { (void)labels(text, 3); }, fragment);
  };
  refused("node,label\n0,1\n3,1\n", "y.csv:3: node 3 is not among the 3 nodes");
  refused("node,label\n-1,1\n", "y.csv:2: node -1");
  refused("node,label\nx,1\n", "y.csv:2: node 'x' is not an integer");
  refused("node,label\n0,1\n0,1\n", "y.csv:3: node 0 is repeated");
  refused("node,label\n0,-2\n", "y.csv:2: label '-2'");
  refused("node,label\n0,1.5\n", "y.csv:2: label '1.5'");
  refused("node,label\n0,3000000000\n", "y.csv:2: label '3000000000'");
  refused("node,label\n0\n", "y.csv:2: 1 fields found");
  refused("node\n0\n", "not node and label");
}

TEST(LabelsCsv, ReadsCora) {
  EDGEWISE_NEEDS_DATA(folder, "cora");
  const auto classes = readLabelsCsv(folder / "labels.csv", 2708);
  EXPECT_EQ(classes.front(), 3);
  EXPECT_EQ(std::ranges::count(classes, -1), 0);
  EXPECT_EQ(*std::ranges::max_element(classes), 6);
}

}  // namespace
}  // namespace edgewise
