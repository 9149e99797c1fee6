#include "edgewise/serving/node_ids.h"

#include <gtest/gtest.h>

#include "support/test_support.h"

namespace edgewise {
namespace {

Dataset named(std::vector<std::string> labels) {
  Dataset dataset;
  dataset.node_count = labels.size();
  dataset.ids = IdMap::labels(std::move(labels));
  return dataset;
}

Dataset shop() {
  Dataset dataset;
  dataset.node_count = 5;
  dataset.bipartite = BipartiteShape{.users = 2, .items = 3};
  dataset.ids = IdMap::labels({"ann", "bob"});
  dataset.item_ids = IdMap::labels({"tea", "milk", "ann"});
  return dataset;
}

// The hint of what `findPair` throws; fails unless its message holds `fragment`.
std::string hintOf(const Dataset& dataset, std::string_view text, std::string_view fragment) {
  try {
    (void)findPair(dataset, text);
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string_view(error.what()).find(fragment), std::string_view::npos)
        << error.what();
    return error.hint();
  }
  ADD_FAILURE() << "'" << text << "' was taken for a pair";
  return {};
}

TEST(FindPair, FindsNamesAndNumbers) {
  EXPECT_EQ(findPair(named({"ann", "bob", "cat"}), "cat,ann"), makeEdge(2, 0));
  EXPECT_EQ(findPair(named({"ann", "bob"}), " ann , bob "), makeEdge(0, 1));
  Dataset numbers;
  numbers.node_count = 12;
  numbers.ids = IdMap::numbers(12);
  EXPECT_EQ(findPair(numbers, "11,0"), makeEdge(11, 0));
}

TEST(FindPair, TakesIdsThatHoldCommasAndQuotes) {
  const Dataset dataset = named({"smith, ann", "bob", "the \"cat\"", "jones, x, jr"});
  EXPECT_EQ(findPair(dataset, "smith, ann,bob"), makeEdge(0, 1));
  EXPECT_EQ(findPair(dataset, "\"smith, ann\",bob"), makeEdge(0, 1));
  EXPECT_EQ(findPair(dataset, "jones, x, jr,smith, ann"), makeEdge(3, 0));
  EXPECT_EQ(findPair(dataset, "\"the \"\"cat\"\"\",bob"), makeEdge(2, 1));
}

TEST(FindPair, SaysWhenAPairCanBeReadTwoWays) {
  const Dataset dataset = named({"a", "b", "a,b", "b,c", "c"});
  EXPECT_EQ(hintOf(dataset, "a,b,c", "two different pairs"),
            "put ids that hold commas in double quotes");
  EXPECT_EQ(findPair(dataset, "\"a,b\",c"), makeEdge(2, 4));
}

TEST(FindPair, PutsUsersFirst) {
  EXPECT_EQ(findPair(shop(), "bob,milk"), makeEdge(1, 3));
  EXPECT_EQ(findPair(shop(), "ann,ann"), makeEdge(0, 4)) << "a user and an item of the same name";
  EXPECT_EQ(hintOf(shop(), "milk,bob", "no user is called 'milk'"),
            "the user stands first: bob,milk");
  EXPECT_EQ(hintOf(shop(), "bob,milc", "no item is called 'milc'"), "did you mean 'milk'?");
}

TEST(FindPair, HelpsWithWhatIsNotThere) {
  const Dataset dataset = named({"annabel", "robert", "x,y"});
  EXPECT_EQ(hintOf(dataset, "anabel,robert", "no node is called 'anabel'"),
            "did you mean 'annabel'?");
  EXPECT_EQ(hintOf(dataset, "annabel,zzzzzz", "no node is called 'zzzzzz'"),
            "give ids as they stand in the data, such as 'annabel'");
  Dataset numbers;
  numbers.ids = IdMap::numbers(12);
  EXPECT_EQ(hintOf(numbers, "3,12", "no node is called '12'"), "nodes are numbered 0 to 11");
  for (const char* text : {"annabel", "", ",", "annabel,", ",robert", "annabel;robert", "p,q,r"}) {
    EXPECT_EQ(hintOf(dataset, text, "is no pair of known ids"),
              "write two ids as they stand in the data with a comma between, such as annabel,x,y")
        << text;
  }
  (void)hintOf(dataset, "robert,robert", "two different nodes, not 'robert' twice");
}

TEST(FindNode, FindsUsersBeforeItems) {
  EXPECT_EQ(findNode(named({"ann", "bob"}), "bob"), NodeId{1});
  EXPECT_EQ(findNode(shop(), "ann"), NodeId{0});
  EXPECT_EQ(findNode(shop(), "milk"), NodeId{3});
  testing::expectFailure<ConfigError>([] { (void)findNode(shop(), "beer"); },
                                      "no user is called 'beer'");
}

TEST(ReadPairs, ReadsWhatEdgeListsLookLike) {
  const testing::TempFolder files;
  const Dataset dataset = named({"ann", "bob", "smith, cat", "7"});
  const std::vector<Edge> expected = {makeEdge(1, 0), makeEdge(0, 2), makeEdge(1, 0),
                                      makeEdge(3, 1)};
  const std::string rows = "bob,ann\nann,\"smith, cat\"\nbob,ann\n7,bob\n";
  EXPECT_EQ(readPairs(dataset, files.write("bare.csv", rows)), expected);
  EXPECT_EQ(readPairs(dataset, files.write("head.csv", "source,target\n" + rows)), expected);
  EXPECT_EQ(readPairs(dataset, files.write("odd.csv", "who,whom\n" + rows)), expected);
  EXPECT_EQ(readPairs(dataset, files.write("spaces.txt", "bob ann\n# a remark\n7 bob\n")),
            (std::vector<Edge>{makeEdge(1, 0), makeEdge(3, 1)}));
  EXPECT_EQ(
      readPairs(dataset, files.write("scored.csv", "source,target,score,rank\nann,bob,1.5,1\n")),
      (std::vector<Edge>{makeEdge(0, 1)}));
  EXPECT_EQ(readPairs(dataset, files.write("turned.csv", "score,source,target\n1.5,ann,bob\n")),
            (std::vector<Edge>{makeEdge(0, 1)}));
  EXPECT_EQ(readPairs(shop(), files.write("shop.csv", "ann,ann\nbob,tea\n")),
            (std::vector<Edge>{makeEdge(0, 4), makeEdge(1, 2)}));
}

TEST(ReadPairs, SaysWhichPairIsWrong) {
  const testing::TempFolder files;
  const Dataset dataset = named({"ann", "bob"});
  const auto refused = [&](const std::string& text, std::string_view fragment) {
    testing::expectFailure<DataError>(
        [&] { (void)readPairs(dataset, files.write("pairs.csv", text)); }, fragment);
  };
  refused("ann,bob\nbob,carl\n", "pairs.csv, pair 2: no node is called 'carl'");
  refused("ann,bob\nbob,bob\n", "pair 2: 'bob' stands on both sides");
  refused("dan,carl\n", "pair 1: no node is called 'dan'");
  testing::expectFailure<DataError>([&] { (void)readPairs(dataset, files.path() / "none.csv"); },
                                    "no such file");
}

}  // namespace
}  // namespace edgewise
