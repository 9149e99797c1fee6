#include "edgewise/data/lightgcn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "support/test_support.h"

namespace edgewise {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::expectFailure;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TempFolder;

const OfficialSplit& splitOf(const DatasetParts& parts) {
  if (!parts.official) {
    throw std::logic_error("there is no official split");
  }
  return *parts.official;
}

std::size_t itemCount(const DatasetParts& parts) {
  return parts.raw.right_ids ? parts.raw.right_ids->size() : 0;
}

class ReadLightGcn : public ::testing::Test {
 protected:
  [[nodiscard]] DatasetParts read(std::string_view train, std::string_view test) const {
    (void)folder_.write("train.txt", train);
    (void)folder_.write("test.txt", test);
    return readLightGcn(folder_.path(), "tiny");
  }
  void expectBad(std::string_view train, std::string_view test, std::string_view fragment) const {
    expectFailure<DataError>([&] { (void)read(train, test); }, fragment);
  }

  TempFolder folder_;
};

TEST_F(ReadLightGcn, KeepsNumbersAndOrderOfTheFiles) {
  const DatasetParts parts = read("0 2 0\n1 1\n", "0 1\n1 0 2\n");
  EXPECT_EQ(parts.name, "tiny");
  EXPECT_EQ(parts.direction, Direction::kUndirected);
  EXPECT_EQ(parts.raw.ids.size(), 2U);
  EXPECT_EQ(itemCount(parts), 3U);
  EXPECT_THAT(splitOf(parts).train.edges,
              ElementsAre(makeEdge(0, 2), makeEdge(0, 0), makeEdge(1, 1)));
  EXPECT_TRUE(splitOf(parts).valid.empty());
  EXPECT_THAT(splitOf(parts).test.edges,
              ElementsAre(makeEdge(0, 1), makeEdge(1, 0), makeEdge(1, 2)));
  EXPECT_THAT(parts.raw.table.edges, ElementsAre(makeEdge(0, 2), makeEdge(0, 0), makeEdge(1, 1),
                                                 makeEdge(0, 1), makeEdge(1, 0), makeEdge(1, 2)));
  EXPECT_THAT(parts.raw.notes, IsEmpty());
}

TEST_F(ReadLightGcn, ItemsStandBehindUsersInTheDataset) {
  const Dataset dataset = makeDataset(read("0 2 0\n1 1\n", "0 1\n"));
  EXPECT_EQ(dataset.bipartite, (BipartiteShape{.users = 2, .items = 3}));
  EXPECT_THAT(dataset.edges.edges,
              ElementsAre(makeEdge(0, 2), makeEdge(0, 3), makeEdge(0, 4), makeEdge(1, 3)));
  ASSERT_TRUE(dataset.official.has_value());
  EXPECT_THAT(dataset.official.value_or(OfficialSplit{}).test.edges, ElementsAre(makeEdge(0, 3)));
}

TEST_F(ReadLightGcn, ToleratesBlanksEmptyLinesAndMissingLastNewline) {
  const DatasetParts parts = read("\n0 1 \t\r\n\r\n  1\t0  \n\n",
                                  "\xEF\xBB\xBF"
                                  "0 0 \r\n1 1");
  EXPECT_THAT(splitOf(parts).train.edges, ElementsAre(makeEdge(0, 1), makeEdge(1, 0)));
  EXPECT_THAT(splitOf(parts).test.edges, ElementsAre(makeEdge(0, 0), makeEdge(1, 1)));
}

TEST_F(ReadLightGcn, CountsAUserWithoutItemsAsAUser) {
  const DatasetParts parts = read("0 0\n1\n3 \n", "0 1\n");
  EXPECT_EQ(parts.raw.ids.size(), 4U);
  EXPECT_THAT(parts.raw.notes, Contains("3 users have no training items"));
}

TEST_F(ReadLightGcn, RemarksOnItemsOutsideTrainingAndNumbersBeyondIt) {
  const DatasetParts parts = read("0 0 2\n", "0 1 4\n1 0\n");
  EXPECT_EQ(itemCount(parts), 5U);
  EXPECT_THAT(parts.raw.notes,
              ElementsAre("1 users have no training items", "3 items are never seen in training",
                          "1 users are numbered beyond the last one of train.txt",
                          "2 items are numbered beyond the last one of train.txt"));
}

TEST_F(ReadLightGcn, CountsARepeatedInteractionOnceWhereItFirstStands) {
  const DatasetParts parts = read("1 5 3 5\n0 3 3 3 1\n1 3 0\n", "0 0 0\n");
  EXPECT_THAT(
      splitOf(parts).train.edges,
      ElementsAre(makeEdge(1, 5), makeEdge(1, 3), makeEdge(0, 3), makeEdge(0, 1), makeEdge(1, 0)));
  EXPECT_THAT(splitOf(parts).test.edges, ElementsAre(makeEdge(0, 0)));
  EXPECT_THAT(parts.raw.notes, Contains("4 repeated interactions dropped from train.txt"));
  EXPECT_THAT(parts.raw.notes, Contains("1 repeated interactions dropped from test.txt"));
}

TEST_F(ReadLightGcn, KeepsAnOverlapInTrainAlone) {
  const DatasetParts parts = read("0 1 2\n1 0\n", "0 2 0\n1 0 1\n");
  EXPECT_EQ(splitOf(parts).train.size(), 3U);
  EXPECT_THAT(splitOf(parts).test.edges, ElementsAre(makeEdge(0, 0), makeEdge(1, 1)));
  EXPECT_EQ(parts.raw.table.size(), 5U);
  EXPECT_THAT(parts.raw.notes,
              Contains(HasSubstr("2 interactions of test.txt stand in train.txt")));
}

TEST_F(ReadLightGcn, SaysWhenTheTestIsEmpty) {
  const DatasetParts parts = read("0 1\n", "0\n");
  EXPECT_TRUE(splitOf(parts).test.empty());
  EXPECT_THAT(parts.raw.notes, Contains("the test has no interactions"));
}

TEST_F(ReadLightGcn, RefusesWhatIsNoNumberWithItsPlace) {
  expectBad("0 1\n1 x2\n", "", "train.txt:2: item 'x2' is not a number");
  expectBad("0 1\n1 2x\n", "", "train.txt:2: item '2x' is not a number");
  expectBad("0 1\nuser 2\n", "", "train.txt:2: user 'user' is not a number");
  expectBad("0 1\n1 2.5\n", "", "item '2.5' is not a number");
  expectBad("0 1\n1 +2\n", "", "item '+2' is not a number");
  expectBad("0,1,2\n", "", "train.txt:1: user '0,1,2' is not a number");
  expectBad("0 1\n",
            "0 0\n\n1 \x01"
            "a\xff\n",
            "test.txt:3: item '?a?' is not a number");
  expectBad("0 1\n1 " + std::string(1000, 'z') + "\n", "", "zzz...' is not a number");
}

TEST_F(ReadLightGcn, RefusesNegativeNumbers) {
  expectBad("0 1\n-1 2\n", "", "train.txt:2: user '-1' is negative");
  expectBad("0 1\n", "0 -7\n", "test.txt:1: item '-7' is negative");
  expectBad("0 1\n", "0 -\n", "item '-' is not a number");
}

TEST_F(ReadLightGcn, RefusesNumbersTooLargeForANode) {
  expectBad("0 1\n4294967280 2\n", "", "train.txt:2: user '4294967280' is too large");
  expectBad("0 99999999999999999999999999\n", "",
            "item '999999999999999999999999...' is too large");
  expectBad("0 18446744073709551616\n", "", "is too large (the limit is 4294967279)");
  expectBad("4294967279 4294967279\n", "", "are more than 4294967280 nodes");
}

TEST_F(ReadLightGcn, TakesAHugeNumberWithoutMemoryForAllBelowIt) {
  const DatasetParts parts = read("0 2000000000\n", "2000000000 0\n");
  EXPECT_EQ(itemCount(parts), 2000000001U);
  EXPECT_THAT(parts.raw.notes, Contains("2,000,000,000 items are never seen in training"));
}

TEST_F(ReadLightGcn, RefusesATrainingFileWithoutInteractions) {
  expectBad("", "0 1\n", "train.txt: holds no interactions");
  expectBad("0\n1\n", "0 1\n", "train.txt: holds no interactions");
}

TEST_F(ReadLightGcn, NamesTheMissingFile) {
  (void)folder_.write("train.txt", "0 1\n");
  expectFailure<DataError>([&] { (void)readLightGcn(folder_.path(), "tiny"); },
                           "test.txt: no such file");
}

TEST(ReadLightGcnData, ReadsGowalla) {
  EDGEWISE_NEEDS_DATA(folder, "gowalla");
  const DatasetParts parts = readLightGcn(folder, "gowalla");
  EXPECT_EQ(parts.raw.ids.size(), 29858U);
  EXPECT_EQ(itemCount(parts), 40981U);
  EXPECT_EQ(splitOf(parts).train.size(), 810128U);
  EXPECT_EQ(splitOf(parts).test.size(), 217242U);
  EXPECT_THAT(parts.raw.notes, IsEmpty());
}

TEST(ReadLightGcnData, ReadsYelp) {
  EDGEWISE_NEEDS_DATA(folder, "yelp2018");
  const DatasetParts parts = readLightGcn(folder, "yelp2018");
  EXPECT_EQ(parts.raw.ids.size(), 31668U);
  EXPECT_EQ(itemCount(parts), 38048U);
  EXPECT_EQ(splitOf(parts).train.size(), 1237259U);
  EXPECT_EQ(splitOf(parts).test.size(), 324147U);
  EXPECT_THAT(parts.raw.notes, IsEmpty());
}

}  // namespace
}  // namespace edgewise
