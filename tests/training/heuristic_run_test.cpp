#include "edgewise/training/heuristic_run.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "edgewise/training/run_estimate.h"
#include "edgewise/util/rng.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::expectFailure;

// 0-1-2 is known, 0-2 is to be found through node 1; 3-4 closes a triangle only through the
// validation edge 4-5.
Dataset handMade() {
  Dataset dataset;
  dataset.name = "hand";
  dataset.node_count = 8;
  dataset.ids = IdMap::numbers(8);
  dataset.edges.edges = {makeEdge(0, 1), makeEdge(0, 2), makeEdge(1, 2),
                         makeEdge(3, 4), makeEdge(3, 5), makeEdge(4, 5)};
  dataset.hash = datasetHash(dataset);
  return dataset;
}

LinkSplit handSplit() {
  LinkSplit split;
  split.kind = "random";
  split.training.message.table.edges = {makeEdge(0, 1), makeEdge(1, 2), makeEdge(3, 5)};
  split.training.supervision.table = split.training.message.table;
  split.training.valid.positive.edges = {makeEdge(4, 5)};
  split.training.valid.negative = {.edges = {makeEdge(6, 7)}, .per_positive = 0, .kind = "uniform"};
  split.test.positive.edges = {makeEdge(0, 2), makeEdge(3, 4)};
  split.test.negative = {
      .edges = {makeEdge(0, 6), makeEdge(5, 7)}, .per_positive = 0, .kind = "uniform"};
  split.hash = splitHash(split);
  return split;
}

RunOptions optionsFor(const std::string& model, const std::string& message_at_test) {
  RunOptions options;
  options.model = model;
  options.split.message_at_test = message_at_test;
  return options;
}

TEST(RunHeuristic, SeesValidationEdgesAtTestOnlyWhenAsked) {
  const Dataset dataset = handMade();
  const LinkSplit split = handSplit();
  // Training messages: 0-2 shares node 1, 3-4 shares nobody, negatives share nobody: AUC (1 + 0.5)
  // / 2.
  const RunMetrics plain = runHeuristic(dataset, split, optionsFor("cn", "train"));
  EXPECT_DOUBLE_EQ(plain.test.at("auc"), 0.75);
  // With 4-5 known, 3 and 4 share node 5.
  const RunMetrics more = runHeuristic(dataset, split, optionsFor("cn", "train+valid"));
  EXPECT_DOUBLE_EQ(more.test.at("auc"), 1.0);
  EXPECT_DOUBLE_EQ(plain.valid.at("auc"), more.valid.at("auc"));
  EXPECT_TRUE(plain.audit.clean());
  EXPECT_TRUE(more.audit.clean());
}

TEST(RunHeuristic, LetsValidationEdgesExplainThemselvesOnlyWhenAskedAndSaysSo) {
  const Dataset dataset = handMade();
  const LinkSplit split = handSplit();
  RunOptions options = optionsFor("pa", "train");
  const RunMetrics clean = runHeuristic(dataset, split, options);
  options.split.message_at_train = "train+valid";
  const RunMetrics leaky = runHeuristic(dataset, split, options);
  // Node 4 has no other edge than the one to be found.
  EXPECT_DOUBLE_EQ(clean.valid.at("auc"), 0.5);
  EXPECT_DOUBLE_EQ(leaky.valid.at("auc"), 1.0);
  EXPECT_EQ(leaky.test, clean.test);
  EXPECT_EQ(leaky.test_scores, clean.test_scores);
  const nlohmann::ordered_json json = leaky.toJson();
  EXPECT_EQ(json["split"]["message_at_train"], "train+valid");
  EXPECT_EQ(json["audit"]["leaks"], 2);
  EXPECT_EQ(json["audit"]["found"][0]["examples"][0], "4,5");
  EXPECT_EQ(clean.toJson()["split"]["message_at_train"], "train");
  EXPECT_TRUE(clean.audit.clean());
}

TEST(RunHeuristic, RanksValidationItemsThatLeakAmongTheUnknown) {
  Dataset dataset;
  dataset.name = "shop";
  dataset.node_count = 5;
  dataset.bipartite = BipartiteShape{.users = 2, .items = 3};
  dataset.ids = IdMap::numbers(2);
  dataset.item_ids = IdMap::numbers(3);
  dataset.edges.edges = {makeEdge(0, 2), makeEdge(0, 3), makeEdge(1, 2), makeEdge(1, 4)};
  LinkSplit split;
  split.training.message.table.edges = {makeEdge(0, 2), makeEdge(1, 2)};
  split.training.supervision.table = split.training.message.table;
  split.training.valid.positive.edges = {makeEdge(0, 3)};
  split.training.valid.negative = {.edges = {makeEdge(0, 4)}, .per_positive = 1, .kind = "uniform"};
  split.test.positive.edges = {makeEdge(1, 4)};
  split.test.negative = {.edges = {makeEdge(1, 3)}, .per_positive = 1, .kind = "uniform"};
  RunOptions options = optionsFor("pa", "train");
  options.split.message_at_train = "train+valid";
  options.evaluation.metrics = "hit@1";
  options.evaluation.full_metrics = "recall@1";
  EXPECT_DOUBLE_EQ(runHeuristic(dataset, split, options).valid.at("recall@1"), 1.0);
}

TEST(RunHeuristic, ReportsALeakInWhatItUsed) {
  const Dataset dataset = handMade();
  LinkSplit split = handSplit();
  split.training.message.table.edges.push_back(makeEdge(0, 2));
  EXPECT_FALSE(runHeuristic(dataset, split, optionsFor("cn", "train")).audit.clean());
}

TEST(RunHeuristic, StoresTheBetaOfEachStage) {
  const RunMetrics run = runHeuristic(handMade(), handSplit(), optionsFor("katz", "train+valid"));
  ASSERT_EQ(run.chosen.size(), 2U);
  EXPECT_EQ(run.chosen[0].first, "katz_beta_valid");
  EXPECT_GT(run.chosen[0].second, 0.0);
}

TEST(RunHeuristic, RefusesWhatCannotBe) {
  RunOptions options = optionsFor("cn", "train");
  options.device = "cuda";
  expectFailure<ConfigError>([&] { (void)runHeuristic(handMade(), handSplit(), options); },
                             "CPU only");
  options.device = "auto";
  options.evaluation.metrics = "recall@3";
  expectFailure<ConfigError>([&] { (void)runHeuristic(handMade(), handSplit(), options); },
                             "recall@3 does not go with one pool");
}

TEST(EstimateHeuristicRun, GrowsWithTheWork) {
  const Dataset dataset = handMade();
  RunOptions cheap = optionsFor("cn", "train");
  RunOptions dear = optionsFor("ppr", "train");
  EXPECT_GT(estimateHeuristicRun(dataset, dear).seconds,
            estimateHeuristicRun(dataset, cheap).seconds);
  cheap.negatives.per_positive = 1000;
  EXPECT_GT(estimateHeuristicRun(dataset, cheap).memory_bytes,
            estimateHeuristicRun(dataset, optionsFor("cn", "train")).memory_bytes);
}

}  // namespace
}  // namespace edgewise
