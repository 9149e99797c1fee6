// SEAL through the program: every selector, stopped and resumed, and its subgraphs explained.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

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

// Two circles of friends, each a ring in which everyone knows the next three.
std::string friends() {
  std::string text = "who,whom\n";
  for (const std::string_view circle : {"ann", "ben"}) {
    for (int i = 0; i < 30; ++i) {
      for (int step = 1; step <= 3; ++step) {
        text += fmt::format("{}{},{}{}\n", circle, i, circle, (i + step) % 30);
      }
    }
  }
  return text;
}

class SealProgram : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> words(const std::filesystem::path& out,
                                               const std::string& selector,
                                               const std::vector<std::string>& more = {}) {
    std::vector<std::string> all = {"train",
                                    "--edges",
                                    folder_.write("friends.csv", friends()).string(),
                                    "--model",
                                    "seal",
                                    "--selector",
                                    selector,
                                    "--out",
                                    out.string(),
                                    "--set",
                                    "training.epochs=4",
                                    "training.batch_size=16",
                                    "training.lr=0.003",
                                    "selector.epochs=2",
                                    "selector.search_batch=64",
                                    "model.hidden=8",
                                    "seal.hidden=8"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  [[nodiscard]] std::filesystem::path train(const std::string& selector,
                                            const std::vector<std::string>& more = {}) {
    const auto out = folder_.path() / ("run-" + selector);
    const Outcome run = runProgram(words(out, selector, more));
    EXPECT_EQ(run.code, 0) << run.err;
    return out;
  }

  TempFolder folder_;
};

TEST_F(SealProgram, TrainsUnderEverySelectorAndMakesItsNumbersAgain) {
  for (const std::string selector : {"none", "fixed:1,2", "rs", "ps2"}) {
    SCOPED_TRACE(selector);
    const auto out = train(selector);
    const nlohmann::json metrics = metricsOf(out);
    EXPECT_EQ(metrics["model"], "seal");
    EXPECT_EQ(metrics["learning"]["input"], "labels alone");
    EXPECT_EQ(metrics["audit"]["leaks"], 0);
    EXPECT_THAT(readText(out / "curves.csv"), HasSubstr(selector == "ps2" ? "apply,4" : "train,4"));
    const Outcome again = runProgram({"evaluate", out.string()});
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_THAT(again.out, HasSubstr("the same numbers as stored"));
  }
}

TEST_F(SealProgram, LearnsOnceMoreFromAllThatIsKnown) {
  const auto out = train("rs", {"training.refit=true", "split.message_at_test=train+valid"});
  const nlohmann::json learning = metricsOf(out)["learning"];
  EXPECT_EQ(learning["refit_epochs"], learning["best_epoch"]);
  const Outcome again = runProgram({"evaluate", out.string()});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("the same numbers as stored"));
}

TEST_F(SealProgram, ComesOutTheSameAfterCtrlC) {
  for (const std::string selector : {"none", "ps2"}) {
    SCOPED_TRACE(selector);
    const std::vector<std::string> often = {"training.checkpoint_seconds=0", "training.epochs=12"};
    const auto whole = train(selector, often);
    const auto out = folder_.path() / ("broken-" + selector);
    ProgramRun run(words(out, selector, often));
    while (run.running() && !std::filesystem::exists(out / "checkpoint.safetensors")) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ::kill(run.child(), SIGINT);
    const Outcome stopped = run.wait();
    // A quick machine may have finished before.
    if (stopped.code != 0) {
      EXPECT_EQ(stopped.code, 130) << stopped.err;
      const Outcome resumed = runProgram({"train", "--resume", out.string()});
      EXPECT_EQ(resumed.code, 0) << resumed.err;
    }
    EXPECT_EQ(metricsOf(out)["test"], metricsOf(whole)["test"]);
    EXPECT_EQ(readText(out / "model.safetensors"), readText(whole / "model.safetensors"));
    EXPECT_EQ(readText(out / "test_scores.csv"), readText(whole / "test_scores.csv"));
  }
}

TEST_F(SealProgram, TakesLabelsRatiosAndShares) {
  const auto out =
      train("none", {"seal.labels=de", "seal.ratio=0.5", "seal.max_nodes=5", "seal.train_share=0.5",
                     "model.features=embedding", "model.embedding=8"});
  EXPECT_EQ(metricsOf(out)["learning"]["input"], "a learned embedding of 8 and labels");
  const Outcome refused = runProgram(words(folder_.path() / "no", "jk"));
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("views by pair"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "no"));
}

// The first test pair: source, target, label, score and the hops chosen for it.
std::vector<std::string> firstTestPair(const std::filesystem::path& run) {
  std::istringstream rows(readText(run / "test_scores.csv"));
  std::string row;
  std::getline(rows, row);
  std::getline(rows, row);
  std::vector<std::string> fields;
  std::stringstream cells(row);
  for (std::string cell; std::getline(cells, cell, ',');) {
    fields.push_back(cell);
  }
  return fields;
}

// What a pair's score is made of is the same wherever it is told.
TEST_F(SealProgram, TellsOfSeveralViewsOfAPair) {
  const auto out = train("ps2", {"selector.top=3", "selector.tau=1", "selector.mix=score"});
  const nlohmann::json views = metricsOf(out)["views"];
  EXPECT_LT(views["confidence"]["positive"], 0.99);
  EXPECT_GT(views["effective"], 1.5);
  const std::vector<std::string> fields = firstTestPair(out);
  ASSERT_EQ(fields.size(), 6U);
  const Outcome explained =
      runProgram({"explain", out.string(), "--pair", fields[0] + "," + fields[1], "--json"});
  ASSERT_EQ(explained.code, 0) << explained.err;
  const nlohmann::json told = nlohmann::json::parse(explained.out);
  EXPECT_NEAR(told["score"].get<double>(), std::stod(fields[3]), 1e-5);
  EXPECT_TRUE(told["view"].is_null());
  ASSERT_EQ(told["views"].size(), 4U);
  double all = 0;
  double most = 0;
  std::size_t used = 0;
  nlohmann::json favourite;
  for (const nlohmann::json& view : told["views"]) {
    const auto weight = view["weight"].get<double>();
    all += weight;
    used += weight > 0 ? 1 : 0;
    if (weight > most) {
      most = weight;
      favourite = view;
    }
  }
  EXPECT_NEAR(all, 1, 1e-5);
  EXPECT_EQ(used, 3U);
  EXPECT_EQ(favourite["source"], std::stoi(fields[4]));
  EXPECT_EQ(favourite["target"], std::stoi(fields[5]));

  const auto pairs = folder_.write("pairs.csv", fields[0] + "," + fields[1] + "\n");
  const Outcome predicted =
      runProgram({"predict", out.string(), "--pairs", pairs.string(), "--json"});
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  const nlohmann::json answer = nlohmann::json::parse(predicted.out)["predictions"][0];
  EXPECT_NEAR(answer["score"].get<double>(), std::stod(fields[3]), 1e-5);
  EXPECT_EQ(answer["view"]["source"], std::stoi(fields[4]));
  EXPECT_EQ(answer["view"]["target"], std::stoi(fields[5]));
  const Outcome again = runProgram({"evaluate", out.string()});
  EXPECT_THAT(again.out, HasSubstr("the same numbers as stored"));
}

TEST_F(SealProgram, ExplainsAPairByItsSubgraph) {
  const auto out = train("ps2");
  const std::vector<std::string> fields = firstTestPair(out);
  ASSERT_EQ(fields.size(), 6U);
  const std::string pair = fields[0] + "," + fields[1];
  const auto svg = folder_.path() / "pair.svg";
  const Outcome outcome =
      runProgram({"explain", out.string(), "--pair", pair, "--json", "--svg", svg.string()});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::json told = nlohmann::json::parse(outcome.out);
  EXPECT_NEAR(told["score"].get<double>(), std::stod(fields[3]), 1e-5);
  EXPECT_EQ(told["view"]["source"], std::stoi(fields[4]));
  EXPECT_EQ(told["view"]["target"], std::stoi(fields[5]));
  EXPECT_EQ(told["views"].size(), 4U);
  const nlohmann::json& subgraph = told["subgraph"];
  EXPECT_EQ(subgraph["labels"], "drnl");
  ASSERT_GE(subgraph["nodes"].size(), 2U);
  EXPECT_EQ(subgraph["nodes"].size(), told["nodes"]);
  EXPECT_EQ(subgraph["nodes"][0]["id"], fields[0]);
  EXPECT_EQ(subgraph["nodes"][1]["id"], fields[1]);
  EXPECT_EQ(subgraph["nodes"][0]["label"], 1);
  EXPECT_EQ(subgraph["nodes"][0]["from_source"], 0);
  std::set<std::string> names;
  for (const nlohmann::json& node : subgraph["nodes"]) {
    names.insert(node["id"].get<std::string>());
  }
  EXPECT_EQ(names.size(), subgraph["nodes"].size());
  for (const nlohmann::json& edge : subgraph["edges"]) {
    EXPECT_TRUE(names.contains(edge[0]) && names.contains(edge[1]));
    EXPECT_FALSE(edge[0] == fields[0] && edge[1] == fields[1]);
  }
  const std::string picture = readText(svg);
  EXPECT_THAT(picture, HasSubstr("<svg"));
  EXPECT_THAT(picture, HasSubstr(">" + fields[0] + "<"));

  const Outcome text = runProgram({"explain", out.string(), "--pair", pair});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("the enclosing subgraph: "));
  EXPECT_THAT(text.out, HasSubstr("labels drnl"));
}

TEST_F(SealProgram, DrawsSubgraphsOfOtherModelsWhereThereAreAny) {
  const std::string edges = folder_.write("friends.csv", friends()).string();
  for (const std::string model : {"cn", "katz"}) {
    const auto out = folder_.path() / model;
    ASSERT_EQ(runProgram({"train", "--edges", edges, "--model", model, "--out", out.string()}).code,
              0);
    const auto svg = folder_.path() / (model + ".svg");
    const Outcome run =
        runProgram({"explain", out.string(), "--pair", "ann1,ann5", "--svg", svg.string()});
    EXPECT_EQ(run.code, model == "cn" ? 0 : 2) << run.err;
    EXPECT_EQ(std::filesystem::exists(svg), model == "cn");
  }
}

}  // namespace
}  // namespace edgewise
