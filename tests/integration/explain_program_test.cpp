// `edgewise explain` as a user meets it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/friends.h"
#include "support/program.h"

namespace edgewise {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::Outcome;
using testing::readText;
using testing::runProgram;

class ExplainProgram : public testing::FriendsProgram {
 protected:
  static nlohmann::json explained(const std::filesystem::path& run, const std::string& pair) {
    const Outcome outcome = runProgram({"explain", run.string(), "--pair", pair, "--json"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return nlohmann::json::parse(outcome.out);
  }
};

// A row of test_scores.csv: the pair as it stands there, and what follows it.
struct TestedPair {
  std::string pair;
  double score = 0;
  int hops_source = 0;
  int hops_target = 0;
};

std::vector<TestedPair> testedPairs(const std::filesystem::path& run) {
  std::istringstream rows(readText(run / "test_scores.csv"));
  std::string row;
  std::getline(rows, row);
  EXPECT_EQ(row, "source,target,link,score,hops_source,hops_target");
  std::vector<TestedPair> pairs;
  while (std::getline(rows, row)) {
    std::vector<std::string> fields;
    for (int i = 0; i < 4; ++i) {
      fields.push_back(row.substr(row.rfind(',') + 1));
      row.erase(row.rfind(','));
    }
    pairs.push_back({row, std::stod(fields[2]), std::stoi(fields[1]), std::stoi(fields[0])});
  }
  return pairs;
}

TEST_F(ExplainProgram, AgreesWithTheScoresOfTheRun) {
  for (const std::string selector : {"ps2", "rs"}) {
    const auto run = train("gae", selector);
    const std::vector<TestedPair> tested = testedPairs(run);
    for (std::size_t i = 0; i < tested.size(); i += tested.size() / 4) {
      const nlohmann::json told = explained(run, tested[i].pair);
      EXPECT_NEAR(told["score"], tested[i].score, 1e-5) << tested[i].pair;
      EXPECT_EQ(told["view"]["source"], tested[i].hops_source) << tested[i].pair;
      EXPECT_EQ(told["view"]["target"], tested[i].hops_target) << tested[i].pair;
      EXPECT_EQ(told["views"].size(), 9U);
      EXPECT_EQ(told["messages"]["left_out"], false);
    }
  }
}

TEST_F(ExplainProgram, SpeaksTheUsersIds) {
  const auto run = train("sage", "ps2");
  const Outcome told = runProgram({"explain", run.string(), "--pair", "anna 0,\"ben, the 1\""});
  ASSERT_EQ(told.code, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr("anna 0 - ben, the 1"));
  EXPECT_THAT(told.out, HasSubstr("around anna 0, "));
  EXPECT_THAT(told.out, HasSubstr("no: the data has no such edge"));
  EXPECT_THAT(told.out, HasSubstr("3 hops"));
  EXPECT_THAT(told.out, HasSubstr("%"));
  EXPECT_THAT(told.out, Not(HasSubstr("\x1b")));
  const nlohmann::json forth = explained(run, "anna 0,anna 1");
  const nlohmann::json back = explained(run, "anna 1,anna 0");
  EXPECT_EQ(forth["known"]["edge"], true);
  EXPECT_EQ(forth["known"], back["known"]);
  EXPECT_NEAR(forth["score"], back["score"], 1e-5);
  EXPECT_EQ(forth["view"]["source"], back["view"]["target"]);
  EXPECT_EQ(forth["ends"][0], back["ends"][1]);
}

TEST_F(ExplainProgram, SaysThatAKnownEdgeWasLeftOut) {
  const auto run = train("ra", "");
  const std::string text = testing::friendsText();
  std::istringstream rows(text);
  std::string row;
  std::getline(rows, row);
  std::size_t left_out = 0;
  for (int i = 0; i < 8 && std::getline(rows, row); ++i) {
    const nlohmann::json told = explained(run, row);
    const bool trained = told["known"]["parts"][0] == "train";
    EXPECT_EQ(told["messages"]["left_out"], trained);
    const Outcome shown = runProgram({"explain", run.string(), "--pair", row});
    EXPECT_THAT(shown.out, HasSubstr("a sum over the common neighbours"));
    EXPECT_EQ(shown.out.find("does not explain itself") != std::string::npos, trained);
    left_out += trained ? 1 : 0;
  }
  EXPECT_GT(left_out, 0U);
}

TEST_F(ExplainProgram, NamesTheNeighboursThatMattered) {
  const std::string run = train("gae", "").string();
  const auto svg = folder_.path() / "pair.svg";
  const Outcome told = runProgram(
      {"explain", run, "--pair", "anna 0,anna 2", "--neighbours", "3", "--svg", svg.string()});
  ASSERT_EQ(told.code, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr("the neighbours that mattered most, "));
  EXPECT_THAT(told.out, HasSubstr("left out one at a time\nneighbour"));
  EXPECT_THAT(readText(svg), HasSubstr("how the score changes without that neighbour"));
  const nlohmann::json json = explained(run, "anna 0,anna 2");
  EXPECT_EQ(json["neighbours"]["tried"], json["neighbours"]["count"]);
  EXPECT_EQ(json["neighbours"]["most"].size(), 10U);
  EXPECT_THAT(told.out, HasSubstr("\n" + json["neighbours"]["most"][0]["id"].get<std::string>()));
  EXPECT_EQ(explained(run, "anna 0,anna 2"), json) << "the same again";
  const Outcome none = runProgram({"explain", run, "--pair", "anna 0,anna 2", "--neighbours", "0"});
  EXPECT_EQ(none.code, 0) << none.err;
  EXPECT_THAT(none.out, HasSubstr("score"));
  EXPECT_THAT(none.out, Not(HasSubstr("neighbour")));
  const Outcome wrong =
      runProgram({"explain", run, "--pair", "anna 0,anna 2", "--neighbours", "-1"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--neighbours"));
}

// A formula that is a sum over common neighbours says so once.
TEST_F(ExplainProgram, DoesNotRepeatWhatCommonNeighboursSay) {
  const auto shown = [&](const std::string& model) {
    const Outcome told =
        runProgram({"explain", train(model, "").string(), "--pair", "anna 0,anna 2"});
    EXPECT_EQ(told.code, 0) << told.err;
    EXPECT_THAT(told.out, HasSubstr("common neighbour"));
    return told.out;
  };
  EXPECT_THAT(shown("ra"), Not(HasSubstr("mattered most")));
  EXPECT_THAT(shown("jaccard"), HasSubstr("mattered most"));
}

TEST_F(ExplainProgram, TeachesItsUse) {
  const Outcome help = runProgram({"explain", "--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, HasSubstr("edgewise explain runs/friends --pair ann,bob"));
  const Outcome bare = runProgram({"explain", "somewhere"});
  EXPECT_EQ(bare.code, 2);
  EXPECT_THAT(bare.err, HasSubstr("--pair"));
}

TEST_F(ExplainProgram, RefusesWhatIsNoPair) {
  const std::string run = train("cn", "").string();
  const auto refused = [&](const std::string& pair, const std::string& message,
                           const std::string& hint) {
    expectRefusal({"explain", run, "--pair", pair, "--json"}, 2, message, hint);
  };
  refused("anna 0,anna 99", "no node is called 'anna 99'", "did you mean 'anna ");
  refused("anna 0,anna 0", "two different nodes", "both ends");
  refused("anna 0", "'anna 0' is no pair of known ids", "comma between");
  refused("anna 0,", "is no pair of known ids", "comma between");
}

TEST_F(ExplainProgram, RefusesWhatIsNoFinishedRun) {
  const auto refused = [&](const std::filesystem::path& run, const std::string& message,
                           const std::string& hint) {
    expectRefusal({"explain", run.string(), "--pair", "anna 0,anna 1"}, 3, message, hint);
  };
  refused(folder_.path() / "nowhere", "no such run folder", "--out");
  refused(folder_.path(), "holds no run", "--out");
  const auto run = train("gae", "mean");
  refused(folder_.path(), "is no run itself, but holds 1 below", "gaemean");
  const std::string model = readText(run / "model.safetensors");
  std::ofstream(run / "model.safetensors", std::ios::binary) << model.substr(0, model.size() - 9);
  refused(run, "ends early", "copy");
  std::filesystem::remove(run / "model.safetensors");
  refused(run, "model.safetensors: is missing", "train again");
  std::filesystem::remove(run / "metrics.json");
  refused(run, "did not finish", "edgewise train --resume");
}

}  // namespace
}  // namespace edgewise
