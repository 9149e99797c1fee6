#include "edgewise/training/subgraph_trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "edgewise/data/planted.h"
#include "edgewise/training/model_run.h"
#include "edgewise/training/pair_model.h"
#include "edgewise/util/interrupt.h"
#include "support/tensors.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::expectFailure;
using testing::KeepThreads;
using testing::TempFolder;

Dataset smallPlanted() {
  PlantedOptions options;
  options.nodes = 200;
  options.communities = 4;
  options.target_degree = 6;
  return makePlanted(options);
}

LinkSplit splitOf(const Dataset& dataset) {
  return splitLinks(dataset, SplitOptions(), NegativeSettings(), 1);
}

RunOptions quickRun(const std::string& selector) {
  RunOptions options;
  options.model = "seal";
  options.network.selector.kind = selector;
  options.network.selector.epochs = 2;
  options.network.selector.search_batch = 64;
  options.network.encoder.hidden = 8;
  options.subgraph.network.hidden = 8;
  options.subgraph.network.layers = 2;
  options.training.epochs = 3;
  options.training.batch_size = 32;
  options.training.learning_rate = 0.003;
  options.seed = 3;
  return options;
}

struct Bench {
  Dataset dataset = smallPlanted();
  LinkSplit split = splitOf(dataset);
  RunOptions options = quickRun("none");

  RunMetrics run(const TempFolder& folder) {
    return runModel(dataset, split, options, folder.path());
  }
};

TEST(SubgraphRun, LearnsUnderEverySelector) {
  for (const std::string selector : {"none", "fixed:1,2", "rs", "ps2", "oracle"}) {
    SCOPED_TRACE(selector);
    Bench bench;
    bench.options.network.selector.kind = selector;
    const TempFolder folder;
    const RunMetrics run = bench.run(folder);
    EXPECT_TRUE(run.audit.leaks.empty());
    EXPECT_TRUE(std::isfinite(run.test.at("auc")));
    EXPECT_EQ(run.views.has_value(), selector == "rs" || selector == "ps2" || selector == "oracle");
    EXPECT_EQ(run.apply, selector == "ps2" ? "scratch" : "");
    const RunMetrics again =
        evaluateModel(bench.dataset, bench.split, bench.options, folder.path());
    EXPECT_EQ(again.test, run.test);
    EXPECT_EQ(again.valid, run.valid);
    EXPECT_EQ(again.test_scores, run.test_scores);
  }
}

TEST(SubgraphRun, LearnsSomething) {
  Bench bench;
  bench.options.training.epochs = 12;
  const TempFolder folder;
  EXPECT_GT(bench.run(folder).test.at("auc"), 0.6);
}

TEST(SubgraphRun, HasTheSameBitsForAnyNumberOfThreads) {
  const KeepThreads keep;
  for (const std::string selector : {"none", "ps2"}) {
    std::vector<std::vector<double>> scores;
    for (const int threads : {1, 2, 3}) {
      setBackendThreads(threads);
      Bench bench;
      bench.options.network.selector.kind = selector;
      bench.options.training.epochs = 2;
      const TempFolder folder;
      scores.push_back(bench.run(folder).test_scores);
    }
    EXPECT_EQ(scores[1], scores[0]);
    EXPECT_EQ(scores[2], scores[0]);
  }
}

TrainerSetup setupOf(const Bench& bench) {
  return {.options = bench.options.training, .seed = 3, .metrics = parseMetrics("auc,ap")};
}

// Stopped in the middle of an epoch, stored, read back by another trainer.
TEST(SubgraphTrainer, GoesOnWhereItStopped) {
  const Bench bench;
  const auto model = makePairModel(bench.dataset, bench.split, bench.options);
  const auto whole = model->trainer(bench.split.training, setupOf(bench));
  TrainingState want = whole->start();
  whole->run(
      want, [](const TrainingState&) {}, silentProgress());

  const TempFolder folder;
  const auto path = folder.path() / "state.safetensors";
  TrainerSetup often = setupOf(bench);
  often.options.checkpoint_seconds = 1e-9;
  int saved = 0;
  const auto first = model->trainer(bench.split.training, often);
  TrainingState state = first->start();
  first->run(
      state,
      [&](const TrainingState& now) {
        if (++saved == 5) {
          ASSERT_NE(now.batch, 0);
          saveState(path, now, "run");
        }
      },
      silentProgress());
  const auto second = model->trainer(bench.split.training, setupOf(bench));
  TrainingState resumed = second->start();
  loadState(path, resumed, "run");
  second->run(
      resumed, [](const TrainingState&) {}, silentProgress());
  EXPECT_EQ(resumed.steps, want.steps);
  EXPECT_TRUE(testing::sameBits(resumed.parameters.flat(), want.parameters.flat()));
  EXPECT_TRUE(testing::sameBits(resumed.best, want.best));
  EXPECT_EQ(resumed.best_value, want.best_value);
}

TEST(SubgraphTrainer, LearnsFromAShareOfTheEdges) {
  Bench bench;
  bench.options.subgraph.train_share = 0.1;
  const std::size_t all = bench.split.training.supervision.table.size();
  const SubgraphModel model(bench.options.subgraph, bench.options.network,
                            {bench.dataset.features, bench.dataset.node_count, false}, 10);
  SubgraphTrainer trainer(
      model, bench.dataset, bench.split.training,
      {.trainer = setupOf(bench), .subgraphs = bench.options.subgraph, .sight = {}});
  EXPECT_EQ(trainer.batches().supervisionCount(),
            static_cast<std::size_t>(std::llround(0.1 * static_cast<double>(all))));
  EXPECT_EQ(trainer.prepare(0).input.pairCount(), 64U);
}

TEST(SubgraphScorer, ScoresPairsTheSameBothWays) {
  for (const std::string selector : {"none", "fixed:1,2", "rs"}) {
    SCOPED_TRACE(selector);
    Bench bench;
    bench.options.network.selector.kind = selector;
    const auto model = makePairModel(bench.dataset, bench.split, bench.options);
    const Parameters parameters = Parameters::initial(model->layout(), 5);
    const auto chooser = chooserOf(*model, {}, bench.options, bench.dataset);
    const auto scorer = model->scorer(parameters, bench.split.training.message, chooser.get());
    std::vector<Edge> pairs(bench.split.test.positive.edges.begin(),
                            bench.split.test.positive.edges.begin() + 30);
    const std::vector<double> there = scorer->score(pairs, silentProgress());
    for (Edge& pair : pairs) {
      pair = reversed(pair);
    }
    EXPECT_EQ(scorer->score(pairs, silentProgress()), there);
  }
}

// The edge to be predicted must not change its own score.
TEST(SubgraphScorer, DoesNotSeeThePairItself) {
  const Bench bench;
  const auto model = makePairModel(bench.dataset, bench.split, bench.options);
  const Parameters parameters = Parameters::initial(model->layout(), 5);
  const MessageEdges& messages = bench.split.training.message;
  const std::vector<Edge> pair = {messages.table.edges[7]};
  const auto with = model->scorer(parameters, messages, nullptr);
  const auto without = model->scorer(parameters, messages, nullptr, pair);
  EXPECT_EQ(with->score(pair, silentProgress()), without->score(pair, silentProgress()));
}

TEST(SubgraphScorer, GivesSourcesTheScoresOfTheirPairs) {
  const Bench bench;
  const auto model = makePairModel(bench.dataset, bench.split, bench.options);
  const Parameters parameters = Parameters::initial(model->layout(), 5);
  const auto scorer = model->scorer(parameters, bench.split.training.message, nullptr);
  const std::size_t nodes = bench.dataset.node_count;
  const std::vector<NodeId> sources = {NodeId{3}};
  std::vector<double> all(nodes);
  scorer->scoreSources(sources, all, silentProgress());
  const std::vector<Edge> some = {makeEdge(3, 0), makeEdge(3, 150)};
  const std::vector<double> want = scorer->score(some, silentProgress());
  EXPECT_NEAR(all[0], want[0], 1e-5);
  EXPECT_NEAR(all[150], want[1], 1e-5);
  EXPECT_LT(all[3], *std::min_element(all.begin() + 4, all.end()));
}

TEST(SubgraphRun, SaysWhatDoesNotGoTogether) {
  const auto refused = [](
                           const std::string& selector, const std::string& part,
                           const std::function<void(RunOptions&)>& change = [](RunOptions&) {}) {
    Bench bench;
    bench.options.network.selector.kind = selector;
    change(bench.options);
    expectFailure<ConfigError>([&] { checkModelRun(bench.dataset, bench.options); }, part);
  };
  refused("jk", "one view a pair");
  refused("mean", "one view a pair");
  refused("nonsense", "one view a pair");
  refused("fixed:3,1", "seal.hops=2");
  refused("ps2", "joint", [](RunOptions& o) { o.network.selector.apply = "joint"; });
  refused("ps2", "selector.top=3", [](RunOptions& o) { o.network.selector.top = 3; });
  refused("none", "seal.sort_nodes=4", [](RunOptions& o) { o.subgraph.network.sort_nodes = 4; });
}

TEST(SubgraphRun, LabelsAloneAreEnough) {
  Bench bench;
  bench.options.network.features = "none";
  const TempFolder folder;
  const RunMetrics run = bench.run(folder);
  EXPECT_EQ(run.learning->input, "labels alone");
  bench.options.model = "gae";
  expectFailure<ConfigError>([&] { checkModelRun(bench.dataset, bench.options); },
                             "nothing to look at");
}

}  // namespace
}  // namespace edgewise
