// Learned models through the program: killed, interrupted, resumed, on any number of threads, on
// graphs that users bring.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "edgewise/util/process.h"
#include "edgewise/util/rng.h"
#include "support/program.h"

namespace edgewise {
namespace {

using ::testing::HasSubstr;
using testing::metricsOf;
using testing::Outcome;
using testing::ProgramRun;
using testing::readText;
using testing::runProgram;
using testing::TempFolder;

// Some seconds of training on the graph that comes with the program.
std::vector<std::string> trainWords(const std::filesystem::path& out,
                                    std::vector<std::string> more = {}) {
  std::vector<std::string> words = {"train",
                                    "--dataset",
                                    "planted",
                                    "--model",
                                    "sage",
                                    "--out",
                                    out.string(),
                                    "--set",
                                    "planted.nodes=600",
                                    "training.epochs=40",
                                    "training.batch_size=128",
                                    "training.patience=0",
                                    "training.checkpoint_seconds=0",
                                    "model.hidden=32"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(TrainProgram, ComesOutTheSameAfterTenKills) {
  const TempFolder folder;
  const std::string epochs = "training.epochs=200";
  const Stopwatch watch;
  ASSERT_EQ(runProgram(trainWords(folder.path() / "whole", {epochs})).code, 0);
  // At least three parts, however fast the machine.
  const double longest_part = 0.35 * watch.seconds();
  const auto broken = folder.path() / "broken";
  RngStream random(7, "kills");
  int kills = 0;
  int resumed = 0;
  bool finished = false;
  while (kills < 10 && !finished) {
    const bool begun = std::filesystem::exists(broken / "options.json");
    resumed += std::filesystem::exists(broken / "checkpoint.safetensors") ? 1 : 0;
    ProgramRun run(begun ? std::vector<std::string>{"train", "--resume", broken.string()}
                         : trainWords(broken, {epochs}));
    if (run.endedWithin(longest_part * (0.5 + 0.5 * random.uniform()))) {
      finished = true;
    } else {
      ::kill(run.child(), SIGKILL);
      run.wait();
      ++kills;
    }
  }
  EXPECT_GT(resumed, 0);
  const bool begun = std::filesystem::exists(broken / "options.json");
  const Outcome last =
      runProgram(begun ? std::vector<std::string>{"train", "--resume", broken.string()}
                       : trainWords(broken, {epochs}));
  EXPECT_EQ(last.code, 0) << last.err;
  EXPECT_EQ(metricsOf(broken)["test"], metricsOf(folder.path() / "whole")["test"]);
  EXPECT_EQ(metricsOf(broken)["valid"], metricsOf(folder.path() / "whole")["valid"]);
  EXPECT_EQ(readText(broken / "model.safetensors"),
            readText(folder.path() / "whole" / "model.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(broken / "checkpoint.safetensors"));
}

TEST(TrainProgram, LeavesAResumableRunOnCtrlC) {
  const TempFolder folder;
  const auto out = folder.path() / "run";
  ProgramRun run(trainWords(out, {"training.epochs=100000"}));
  while (run.running() && !std::filesystem::exists(out / "checkpoint.safetensors")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ::kill(run.child(), SIGINT);
  const Outcome stopped = run.wait();
  EXPECT_EQ(stopped.code, 130);
  EXPECT_THAT(stopped.err, HasSubstr("--resume"));
  EXPECT_FALSE(std::filesystem::exists(out / "metrics.json"));
  const Outcome evaluated = runProgram({"evaluate", out.string()});
  EXPECT_EQ(evaluated.code, 3);
  EXPECT_THAT(evaluated.err, HasSubstr("--resume"));
}

TEST(TrainProgram, ResumesTheSeedsThatAreLeft) {
  const TempFolder folder;
  const auto out = folder.path() / "runs";
  auto words = trainWords(out, {"training.epochs=3"});
  words.insert(words.begin() + 1, {"--seeds", "3"});
  ASSERT_EQ(runProgram(words).code, 0);
  const nlohmann::json before = metricsOf(out / "seed-1");
  std::filesystem::remove(out / "seed-1" / "metrics.json");
  std::filesystem::remove(out / "seed-1" / "model.safetensors");
  const Outcome resumed = runProgram({"train", "--resume", out.string(), "--json"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(metricsOf(out / "seed-1")["test"], before["test"]);
  EXPECT_EQ(nlohmann::json::parse(resumed.out)["sage"]["test"]["auc"]["count"], 3);
  EXPECT_EQ(runProgram({"evaluate", out.string()}).code, 0);
}

TEST(TrainProgram, GivesTheSameBitsForAnyThreadCount) {
  const TempFolder folder;
  for (const std::string selector : {"none", "mean"}) {
    std::vector<nlohmann::json> results;
    for (const std::string threads : {"1", "2", "3"}) {
      const auto out = folder.path() / (selector + threads);
      auto words = trainWords(out, {"training.epochs=1", "model.norm=layer",
                                    "model.input_dropout=0.3", "model.hidden=80"});
      words.insert(words.begin() + 1, {"--threads", threads, "--selector", selector});
      ASSERT_EQ(runProgram(words).code, 0);
      results.push_back(metricsOf(out));
    }
    for (const nlohmann::json& result : results) {
      EXPECT_EQ(result["test"], results[0]["test"]);
      EXPECT_EQ(result["valid"], results[0]["valid"]);
    }
  }
}

// Two circles of friends; the weights are the times they met.
std::string friends() {
  std::string text = "who,whom,times\n";
  for (const std::string_view circle : {"anna", "ben, the"}) {
    for (int i = 0; i < 16; ++i) {
      for (int j = i + 1; j < 16; ++j) {
        if ((i * 7 + j * 3) % 4 != 0) {
          text += fmt::format("\"{} {}\",\"{} {}\",{}\n", circle, i, circle, j, 1 + (i + j) % 5);
        }
      }
    }
  }
  return text;
}

TEST(TrainProgram, LearnsFromAnEdgeListOfNamesAndSpeaksInThem) {
  const TempFolder folder;
  const std::string edges = folder.write("friends.csv", friends()).string();
  std::vector<nlohmann::json> results;
  for (const std::string weights : {"true", "false"}) {
    const auto out = folder.path() / ("out" + weights);
    const Outcome run =
        runProgram({"train", "--edges", edges, "--model", "gae", "--out", out.string(), "--set",
                    "data.weight_column=times", "model.edge_weights=" + weights,
                    "model.embedding=16", "training.epochs=30", "training.batch_size=32"});
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("a learned embedding of 16"));
    const std::string scores = readText(out / "test_scores.csv");
    EXPECT_THAT(scores, HasSubstr("source,target,link,score\n"));
    EXPECT_THAT(scores, HasSubstr("\"ben, the "));
    results.push_back(metricsOf(out));
    EXPECT_GT(results.back()["test"]["auc"].get<double>(), 0.7);
    EXPECT_EQ(results.back()["learning"]["input"], "a learned embedding of 16");
  }
  EXPECT_NE(results[0]["test"], results[1]["test"]);
}

// Where pairs are known to need different views, a selector finds them, and it pays.
TEST(TrainProgram, PicksTheViewsThatWerePlanted) {
  testing::TempFolder folder;
  const auto trained = [&](const std::string& selector) {
    const auto out = folder.path() / selector;
    const Outcome run =
        runProgram({"train", "--dataset", "planted", "--model", "gae", "--selector", selector,
                    "--recipe", "best", "--seed", "1", "--out", out.string()});
    EXPECT_EQ(run.code, 0) << run.err;
    return metricsOf(out);
  };
  const nlohmann::json picked = trained("ps2");
  const double best_fixed = std::max(trained("fixed:1,2")["test"]["auc"].get<double>(),
                                     trained("fixed:2,2")["test"]["auc"].get<double>());
  EXPECT_GT(picked["test"]["auc"].get<double>(), best_fixed + 0.02);
  ASSERT_EQ(picked["views"]["agreement"].size(), 3U);
  for (const auto& [name, share] : picked["views"]["agreement"].items()) {
    EXPECT_GT(share.get<double>(), 0.8) << name;
  }
}

TEST(TrainProgram, SaysWhatDoesNotGoTogether) {
  const TempFolder folder;
  const auto out = folder.path() / "run";
  const auto refused = [&](std::vector<std::string> more, const std::string& part, int code) {
    const Outcome run = runProgram(trainWords(out, std::move(more)));
    EXPECT_EQ(run.code, code) << run.err;
    EXPECT_THAT(run.err, HasSubstr(part));
    EXPECT_FALSE(std::filesystem::exists(out));
  };
  refused({"selector.kind=fixed:4,1"}, "looks deeper", 2);
  refused({"selector.kind=fixed:x"}, "fixed:I,J", 2);
  refused({"selector.kind=nonne"}, "no selector", 2);
  refused({"model.hidden=4096", "training.batch_size=16777216", "training.negatives=1000",
           "selector.kind=mean"},
          "GiB of memory", 4);
#ifndef EDGEWISE_BUILT_FOR_GPUS
  refused({"run.device=cuda"}, "built without CUDA", 2);
#endif
}

TEST(TrainProgram, TellsADamagedModelApart) {
  const TempFolder folder;
  const auto out = folder.path() / "run";
  ASSERT_EQ(runProgram(trainWords(out, {"training.epochs=1"})).code, 0);
  const std::string model = readText(out / "model.safetensors");
  std::ofstream(out / "model.safetensors", std::ios::binary) << model.substr(0, model.size() / 2);
  const Outcome run = runProgram({"evaluate", out.string()});
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.err, HasSubstr("model.safetensors"));
}

}  // namespace
}  // namespace edgewise
