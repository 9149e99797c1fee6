// `edgewise predict` as a user meets it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
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
using ::testing::StartsWith;

using PredictProgram = testing::FriendsProgram;

std::vector<std::string> linesOf(const std::string& text) {
  std::istringstream rows(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(rows, line);) {
    lines.push_back(line);
  }
  return lines;
}

nlohmann::json answer(std::vector<std::string> words) {
  words.insert(words.begin(), "predict");
  words.emplace_back("--json");
  const Outcome outcome = runProgram(words);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return nlohmann::json::parse(outcome.out);
}

TEST_F(PredictProgram, ScoresPairsInTheUsersIds) {
  const auto run = train("gae", "ps2");
  const auto pairs = folder_.write(
      "pairs.csv", "a,b\nanna 0,anna 1\nanna 3,\"ben, the 4\"\n\"ben, the 2\",\"ben, the 3\"\n");
  const Outcome outcome = runProgram({"predict", run.string(), "--pairs", pairs.string()});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("train edges carry messages; "));
  EXPECT_THAT(outcome.err, HasSubstr("probabilities: platt on "));
  const auto lines = linesOf(outcome.out);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0], "source,target,score,rank,probability,hops_source,hops_target,known");
  EXPECT_THAT(lines[1], StartsWith("anna 0,anna 1,"));
  EXPECT_THAT(lines[2], StartsWith("anna 3,\"ben, the 4\","));
  const nlohmann::json json = answer({run.string(), "--pairs", pairs.string()});
  EXPECT_EQ(json["model"], "gae");
  EXPECT_EQ(json["selector"], "ps2");
  EXPECT_EQ(json["probability"]["method"], "platt");
  EXPECT_GT(json["messages"]["carried"]["train"], 0);
  ASSERT_EQ(json["predictions"].size(), 3U);
  std::set<int> ranks;
  for (const auto& one : json["predictions"]) {
    ranks.insert(one["rank"].get<int>());
    EXPECT_GT(one["probability"], 0);
    EXPECT_LT(one["probability"], 1);
    EXPECT_GE(one["view"]["source"], 1);
  }
  EXPECT_EQ(ranks, (std::set<int>{1, 2, 3}));
  EXPECT_TRUE(json["predictions"][1]["known"].is_null());
}

TEST_F(PredictProgram, AgreesWithTheScoresOfTheRun) {
  for (const std::string model : {"sage", "katz"}) {
    const auto run = train(model, "");
    const auto scored = answer({run.string(), "--pairs", (run / "test_scores.csv").string()});
    const auto rows = linesOf(readText(run / "test_scores.csv"));
    ASSERT_EQ(scored["predictions"].size() + 1, rows.size());
    for (std::size_t i = 1; i < rows.size(); ++i) {
      const double score = std::stod(rows[i].substr(rows[i].rfind(',') + 1));
      EXPECT_NEAR(scored["predictions"][i - 1]["score"], score, 1e-5);
    }
    EXPECT_EQ(scored["probability"]["method"], model == "sage" ? "platt" : "isotonic");
  }
}

TEST_F(PredictProgram, ReadsPairsFromStandardInput) {
  const auto run = train("cn", "");
  const auto input = folder_.write("input", "anna 0,anna 5\nanna 2,anna 9\n");
  const Outcome outcome = runProgram({"predict", run.string(), "--pairs", "-"}, [&] {
    const int file = ::open(input.c_str(), O_RDONLY);
    ::dup2(file, STDIN_FILENO);
  });
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(linesOf(outcome.out).size(), 3U);
}

TEST_F(PredictProgram, OffersANodeNothingItHas) {
  const auto run = train("gae", "mean");
  const nlohmann::json json = answer({run.string(), "--node", "anna 3", "--top", "5"});
  ASSERT_EQ(json["predictions"].size(), 5U);
  const std::string friends = testing::friendsText();
  double last = 1e30;
  for (const auto& one : json["predictions"]) {
    EXPECT_EQ(one["source"], "anna 3");
    const std::string target = one["target"];
    EXPECT_NE(target, "anna 3");
    EXPECT_EQ(friends.find("\"anna 3\",\"" + target + "\""), std::string::npos);
    EXPECT_EQ(friends.find("\"" + target + "\",\"anna 3\""), std::string::npos);
    EXPECT_LE(one["score"].get<double>(), last);
    last = one["score"];
  }
}

TEST_F(PredictProgram, SaysWhenNothingIsLeftToOffer) {
  // A hub that is linked with everyone, on a ring.
  std::string edges = "source,target\n";
  for (int i = 1; i <= 12; ++i) {
    edges += fmt::format("hub,n{}\nn{},n{}\n", i, i, i % 12 + 1);
  }
  const auto out = folder_.path() / "run";
  ASSERT_EQ(
      runProgram({"train", "--edges", folder_.write("hub.csv", edges).string(), "--model", "cn",
                  "--out", out.string(), "--quiet", "--set", "split.valid=0.1", "split.test=0.1"})
          .code,
      0);
  const Outcome none = runProgram({"predict", out.string(), "--node", "hub", "--messages", "all"});
  EXPECT_EQ(none.code, 0) << none.err;
  EXPECT_EQ(std::ranges::count(none.out, '\n'), 1) << "the header alone";
  EXPECT_THAT(none.err, HasSubstr("nothing is left to offer hub"));
}

TEST_F(PredictProgram, AnswersForAllNodesAsForEach) {
  for (const std::string selector : {"none", "ps2"}) {
    const auto run = train("gae", selector);
    const auto out = folder_.path() / "answers" / "all.csv";
    const Outcome outcome =
        runProgram({"predict", run.string(), "--all", "--top", "3", "--out", out.string()});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("written to "));
    const auto lines = linesOf(readText(out));
    EXPECT_EQ(lines.size(), 32U * 3 + 1);
    for (const std::string node : {"anna 7", "ben, the 0"}) {
      const Outcome one =
          runProgram({"predict", run.string(), "--node", node, "--top", "3", "--quiet"});
      EXPECT_EQ(one.err, "");
      for (const std::string& line : linesOf(one.out)) {
        // Up to the rank; scores are the same but for rounding.
        const std::string start = line.substr(0, line.find(',', line.find("\",") + 1));
        EXPECT_NE(std::ranges::count_if(
                      lines, [&](const std::string& other) { return other.starts_with(start); }),
                  0)
            << line;
      }
    }
    const auto json_out = folder_.path() / "all.json";
    ASSERT_EQ(runProgram({"predict", run.string(), "--all", "--out", json_out.string()}).code, 0);
    EXPECT_EQ(nlohmann::json::parse(readText(json_out))["predictions"].size(), 32U * 10);
  }
}

TEST_F(PredictProgram, ForecastsWithoutScoring) {
  for (const auto& run : {train("ra", ""), train("gae", "ps2")}) {
    const Outcome told = runProgram({"predict", run.string(), "--all", "--dry-run"});
    EXPECT_EQ(told.code, 0);
    EXPECT_THAT(told.out, HasSubstr("496 pairs to score: about "));
  }
}

TEST_F(PredictProgram, LetsAllKnownEdgesCarry) {
  const auto run = train("cn", "");
  const Outcome told =
      runProgram({"predict", run.string(), "--node", "anna 0", "--messages", "all"});
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_THAT(told.err, HasSubstr(" test edges carry messages\n"));
  expectRefusal({"predict", run.string(), "--node", "anna 0", "--messages", "none"}, 2,
                "no edges are called 'none'", "train+valid");
}

TEST_F(PredictProgram, WarnsOfPairsThatScoreThemselves) {
  const auto run = train("ra", "");
  const Outcome told = runProgram(
      {"predict", run.string(), "--pairs", (folder_.path() / "friends.csv").string(), "--quiet"});
  EXPECT_EQ(told.code, 0);
  EXPECT_THAT(told.err, HasSubstr("carried messages themselves"));
  EXPECT_THAT(told.out, HasSubstr(",train\n"));
  EXPECT_THAT(told.out, HasSubstr(",valid\n"));
  EXPECT_THAT(told.out, HasSubstr(",test\n"));
}

TEST_F(PredictProgram, RefusesUnclearQuestions) {
  const std::string run = train("cn", "").string();
  expectRefusal({"predict", run}, 2, "nothing to predict", "--pairs FILE, --node ID and --all");
  expectRefusal({"predict", run, "--all", "--node", "x"}, 2, "more than one", "one of");
  expectRefusal({"predict", run, "--all", "--features", "x"}, 2, "--graph FILE", "new graph");
  expectRefusal({"predict", run, "--node", "anna 77", "--quiet"}, 2, "no node is called 'anna 77'",
                "did you mean 'anna 7'");
  const auto pairs = folder_.write("pairs.csv", "anna 0,anna 1\nanna 0,nobody\n");
  expectRefusal({"predict", run, "--pairs", pairs.string(), "--quiet"}, 3,
                "pairs.csv, pair 2: no node is called 'nobody'", "ids");
}

TEST_F(PredictProgram, ScoresNewNodesByTheirFeatures) {
  std::string edges = "source,target\n";
  std::string features = "id,x,y\n";
  for (int i = 0; i < 24; ++i) {
    features += fmt::format("p{},{},{}\n", i, i % 3, i % 5);
    for (const int step : {1, 3, 4}) {
      edges += fmt::format("p{},p{}\n", i, (i + step) % 24);
    }
  }
  const auto known_edges = folder_.write("papers.csv", edges);
  const auto known_features = folder_.write("papers_x.csv", features);
  const auto run = folder_.path() / "papers";
  const Outcome trained = runProgram(
      {"train", "--edges", known_edges.string(), "--features", known_features.string(), "--model",
       "sage", "--out", run.string(), "--quiet", "--set", "model.hidden=8", "training.epochs=3"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto fresh = folder_.write("new.csv", "source,target\nn1,n2\nn2,n3\nn3,n4\nn4,n5\n");
  const auto fresh_x =
      folder_.write("new_x.csv", "id,x,y\nn5,1,2\nn1,0,4\nn2,1,1\nn3,2,0\nn4,2,2\n");
  const nlohmann::json json = answer({run.string(), "--graph", fresh.string(), "--features",
                                      fresh_x.string(), "--all", "--top", "2"});
  ASSERT_EQ(json["predictions"].size(), 10U);
  EXPECT_EQ(json["messages"]["carried"]["graph"], 4);
  EXPECT_EQ(json["probability"]["method"], "platt");
  expectRefusal({"predict", run.string(), "--graph", fresh.string(), "--all", "--quiet"}, 2,
                "have no features", "--features FILE");
  std::filesystem::remove(known_edges);
  const Outcome bare = runProgram({"predict", run.string(), "--graph", fresh.string(), "--features",
                                   fresh_x.string(), "--node", "n1"});
  EXPECT_EQ(bare.code, 0) << bare.err;
  EXPECT_THAT(bare.err, HasSubstr("scores come without probabilities"));
  EXPECT_THAT(bare.out, StartsWith("source,target,score,rank\n"));
  const auto embedded = train("gae", "");
  expectRefusal({"predict", embedded.string(), "--graph", fresh.string(), "--features",
                 fresh_x.string(), "--all", "--quiet"},
                2, "learned an embedding of each node", "model.features=given");
}

// Each way in which a run or its answer can be lost: one clear error, and nothing half-written.
TEST_F(PredictProgram, RefusesDamagedRuns) {
  const auto run = train("gae", "ps2");
  const auto model = run / "model.safetensors";
  const std::string whole = readText(model);
  const auto refused = [&](const std::string& message, const std::string& hint) {
    expectRefusal({"predict", run.string(), "--node", "anna 0", "--quiet"}, 3, message, hint);
  };
  const auto write = [](const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  };
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{7}, std::size_t{100}, whole.size() / 2, whole.size() - 1}) {
    write(model, whole.substr(0, size));
    refused("model.safetensors", "");
  }
  std::string noise = whole;
  std::fill(noise.begin() + 8, noise.begin() + 40, '\xff');
  write(model, noise);
  refused("model.safetensors", "");
  write(model, whole);
  const std::string options = readText(run / "options.json");
  nlohmann::ordered_json newer = nlohmann::ordered_json::parse(options);
  newer["format"] = 99;
  newer["version"] = "9.0.0";
  write(run / "options.json", newer.dump());
  refused("was written by a newer edgewise (9.0.0)", "update edgewise");
  newer["format"] = 1;
  newer["options"]["model"]["telepathy"] = true;
  write(run / "options.json", newer.dump());
  refused("telepathy", "another version");
  write(run / "options.json", options.substr(0, options.size() / 2));
  refused("is not valid JSON", "run the training again");
  write(run / "options.json", options);
  const std::string metrics = readText(run / "metrics.json");
  write(run / "metrics.json", "{}");
  refused("metrics.json: is damaged", "run the training again");
  write(run / "metrics.json", metrics);
  EXPECT_EQ(runProgram({"predict", run.string(), "--node", "anna 0"}).code, 0)
      << "nothing of the run was touched";
}

TEST_F(PredictProgram, LeavesNothingHalfWritten) {
  const auto run = train("cn", "");
  const auto out = folder_.path() / "kept.csv";
  std::ofstream(out) << "an earlier answer\n";
  // No file may grow beyond a kilobyte: a full disk, as far as writing goes.
  const auto full_disk = [] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1024, 1024};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  };
  const std::vector<std::string> all = {"predict", run.string(), "--all",
                                        "--out",   out.string(), "--quiet"};
  const Outcome full = runProgram(all, full_disk);
  EXPECT_EQ(full.code, 4) << full.err;
  EXPECT_EQ(readText(out), "an earlier answer\n");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    files += entry.is_regular_file() ? 1 : 0;
  }
  EXPECT_EQ(files, 2U) << "no temporary file stays";
  const Outcome device = runProgram({"predict", run.string(), "--node", "anna 0"}, [] {
    const int file = ::open("/dev/full", O_WRONLY);
    ::dup2(file, STDOUT_FILENO);
  });
  EXPECT_EQ(device.code, 4);
  EXPECT_THAT(device.err, HasSubstr("cannot write to standard output"));
  const Outcome to_device =
      runProgram({"predict", run.string(), "--node", "anna 0", "--out", "/dev/full", "--quiet"});
  EXPECT_EQ(to_device.code, 4) << to_device.err;
  EXPECT_THAT(to_device.err, HasSubstr("/dev/full: cannot write"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

// A search that takes seconds, interrupted as soon as it has begun its file.
TEST_F(PredictProgram, LeavesNothingBehindWhenInterrupted) {
  const auto run = folder_.path() / "planted";
  const Outcome trained =
      runProgram({"train", "--dataset", "planted", "--model", "gae", "--selector", "ps2", "--out",
                  run.string(), "--quiet", "--set", "training.epochs=1", "selector.epochs=2",
                  "training.max_steps=2"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto answers = folder_.path() / "answers";
  std::filesystem::create_directory(answers);
  testing::ProgramRun search(
      {"predict", run.string(), "--all", "--out", (answers / "all.csv").string(), "--quiet"});
  while (std::filesystem::is_empty(answers)) {
    ASSERT_TRUE(search.running()) << "it ended before it began its file";
  }
  ::kill(search.child(), SIGINT);
  const Outcome outcome = search.wait();
  EXPECT_EQ(outcome.code, 130) << outcome.err;
  EXPECT_TRUE(std::filesystem::is_empty(answers));
}

TEST_F(PredictProgram, ReadsARunThatCannotBeWritten) {
  const auto run = train("gae", "");
  const auto guarded = [&](bool locked) {
    for (const auto& entry : std::filesystem::directory_iterator(run)) {
      std::filesystem::permissions(
          entry, locked ? std::filesystem::perms(0444) : std::filesystem::perms(0644));
    }
    std::filesystem::permissions(
        run, locked ? std::filesystem::perms(0555) : std::filesystem::perms(0755));
  };
  guarded(true);
  const Outcome read = runProgram({"predict", run.string(), "--node", "anna 0", "--quiet"});
  EXPECT_EQ(read.code, 0) << read.err;
  // The superuser may write anywhere.
  if (::geteuid() != 0) {
    expectRefusal({"predict", run.string(), "--node", "anna 0", "--quiet", "--out",
                   (run / "out.csv").string()},
                  3, "cannot write (Permission denied)", "writable");
  }
  guarded(false);
}

TEST_F(PredictProgram, TeachesItsUse) {
  const Outcome help = runProgram({"predict", "--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, HasSubstr("edgewise predict runs/friends --node ann --top 5"));
  EXPECT_THAT(help.out, HasSubstr("Platt"));
}

}  // namespace
}  // namespace edgewise
