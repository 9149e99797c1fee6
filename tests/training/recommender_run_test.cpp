// Recommenders from data to metrics.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>

#include "edgewise/data/lightgcn.h"
#include "edgewise/ops/backend.h"
#include "edgewise/training/batch_stream.h"
#include "edgewise/training/link_trainer.h"
#include "edgewise/training/model_run.h"
#include "edgewise/training/model_scorer.h"
#include "edgewise/training/run_estimate.h"
#include "edgewise/training/search_trainer.h"
#include "edgewise/training/stored_model.h"
#include "edgewise/util/recipe.h"
#include "support/shops.h"
#include "support/tensors.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::expectFailure;
using testing::makeShop;
using testing::ShopOptions;
using testing::TempFolder;

// The defaults of the model, with a quick training.
RunOptions shopRun(const std::string& model, const std::string& selector = "none",
                   const std::vector<std::string>& settings = {}) {
  RunOptions options;
  OptionSet set = options.bind();
  Recipe::named("default").apply({{"dataset", ""}, {"model", model}, {"selector", selector}}, set);
  for (const std::string& setting :
       {"model.kind=" + model, "selector.kind=" + selector, std::string("model.hidden=16"),
        std::string("model.layers=2"), std::string("training.batch_size=128"),
        std::string("training.lr=0.02"), std::string("training.epochs=15"),
        std::string("training.patience=0"), std::string("selector.hidden=16"),
        std::string("selector.epochs=6"), std::string("selector.apply_lr=0.01"),
        std::string("selector.tau=0.5"), std::string("run.device=cpu"),
        std::string("negatives.per_positive=20"), std::string("run.seed=2")}) {
    set.setAssignment(setting, "test");
  }
  for (const std::string& setting : settings) {
    set.setAssignment(setting, "test");
  }
  return options;
}

LinkSplit splitOf(const Dataset& dataset, const RunOptions& options) {
  return splitLinks(dataset, options.split, options.negatives, splitSeed(options));
}

RunMetrics runShop(RunOptions options, const TempFolder& folder,
                   const Dataset& dataset = makeShop()) {
  return runModel(dataset, splitOf(dataset, options), options, folder.path());
}

// One group of three likes a third of the items: by chance a test item is among the first 10 of 21
// in 0.48 of the cases; who knows the groups ranks it before two thirds of the others.
TEST(RecommenderRun, LearnsWhoLikesWhat) {
  for (const std::string model : {"lightgcn", "ngcf"}) {
    for (const std::string loss : {"bpr", "bce", "softmax"}) {
      SCOPED_TRACE(model + " " + loss);
      const TempFolder folder;
      const RunMetrics run = runShop(
          shopRun(model, "none", {"training.loss=" + loss, "training.negatives=4"}), folder);
      EXPECT_GT(run.test.at("hit@10"), 0.75);
      EXPECT_GT(run.test.at("recall@20"), 0.4);
      EXPECT_TRUE(run.audit.clean());
    }
  }
}

TEST(RecommenderRun, KnowsAllSelectorsWithUserAndItemDepthsApart) {
  for (const std::string model : {"lightgcn", "ngcf"}) {
    for (const std::string selector : {"fixed:1,2", "fixed:0,2", "rs", "jk", "mean", "ps2"}) {
      for (const std::string predictor : {"dot", "hadamard"}) {
        SCOPED_TRACE(model + " " + selector + " " + predictor);
        const TempFolder folder;
        const RunMetrics run =
            runShop(shopRun(model, selector,
                            {"model.depth_zero=true", "model.predictor=" + predictor,
                             "training.epochs=4", "selector.epochs=2"}),
                    folder);
        EXPECT_TRUE(run.audit.clean());
        EXPECT_GT(run.test.at("hit@10"), 0.4);
        if (run.views) {
          EXPECT_EQ(run.views->depth, 3U);
          EXPECT_EQ(run.views->first_hops, 0);
          EXPECT_EQ(run.test_views.size(), run.test_scores.size());
        }
      }
    }
  }
}

// The leading eigenvectors of the messages know the groups before anything is learned.
TEST(RecommenderRun, MayBeginWhereTheGraphPoints) {
  for (const std::string model : {"lightgcn", "ngcf"}) {
    SCOPED_TRACE(model);
    const auto untrained = [&](const std::string& start) {
      const TempFolder folder;
      return runShop(shopRun(model, "none",
                             {"model.embedding_start=" + start, "training.lr=1e-9",
                              "training.epochs=1", "model.normalise_layers=false"}),
                     folder)
          .test.at("hit@10");
    };
    EXPECT_GT(untrained("spectral"), 0.7);
    EXPECT_LT(untrained("normal"), 0.7);
  }
}

TEST(RecommenderRun, BeginsTheSameInSearchAndTraining) {
  const Dataset dataset = makeShop();
  const RunOptions options =
      shopRun("lightgcn", "ps2", {"model.embedding_start=spectral", "selector.holdout=rotate"});
  const LinkSplit split = splitOf(dataset, options);
  const LinkModel model(options.model, options.network,
                        {dataset.features, dataset.node_count, true});
  const auto plan = planMessages(model, dataset, split.training.message, true);
  const Parameters start = model.start(7, *plan);
  EXPECT_TRUE(testing::sameBits(model.start(7, *plan).flat(), start.flat()));
  EXPECT_FALSE(testing::sameBits(model.start(8, *plan).flat(), start.flat()));
  const TrainerSetup setup{
      .options = options.training,
      .seed = 7,
      .metrics = resolveMetrics(options.evaluation, dataset, split.training.valid.negative),
      .same_source = true};
  const SearchTrainer search(model, dataset, split.training,
                             {.trainer = setup, .selector = options.network.selector, .upper = {}});
  EXPECT_TRUE(testing::sameBits(search.start().parameters.flat(), start.flat()));
  // About 0.3 an entry where the eigenvalue is 1, and less after it.
  const at::Tensor embedding = start.tensors().front().detach();
  EXPECT_EQ(embedding.size(0), static_cast<std::int64_t>(dataset.node_count));
  const at::Tensor sizes = embedding.pow(2).mean(0).sqrt();
  EXPECT_NEAR(sizes[0].item<double>(), 0.3, 0.02);
  EXPECT_LT(sizes[15].item<double>(), sizes[0].item<double>());
}

TEST(RecommenderRun, IsForecastWithAllItsPhases) {
  const Dataset dataset = makeShop({.users = 3000, .items = 2000, .bought = 30});
  const auto forecast = [&](const std::string& selector, std::vector<std::string> settings) {
    settings.insert(settings.end(), {"training.epochs=200", "selector.epochs=200"});
    return estimateModelRun(dataset, shopRun("lightgcn", selector, settings));
  };
  const RunEstimate plain = forecast("none", {});
  const RunEstimate refit = forecast("none", {"training.refit=true"});
  EXPECT_NEAR(refit.seconds / plain.seconds, 2, 0.01);
  const RunEstimate fewer = forecast("none", {"split.valid=0.3", "split.test=0.35"});
  EXPECT_LT(fewer.seconds, 0.6 * plain.seconds) << "half as much is learned from";
  const RunEstimate search = forecast("ps2", {"selector.apply=joint"});
  const RunEstimate warm = forecast("ps2", {"selector.apply=joint", "selector.warmup=150"});
  EXPECT_GT(warm.seconds, 150.0 / 200 * plain.seconds);
  EXPECT_LT(warm.seconds, 0.6 * search.seconds);
  // A wide start of narrow layers would not be seen otherwise.
  EXPECT_GT(forecast("none", {"model.embedding_start=spectral", "model.layers=1",
                              "training.batch_size=1", "model.hidden=16"})
                .memory_bytes,
            forecast("none", {"model.embedding_start=normal", "model.layers=1",
                              "training.batch_size=1", "model.hidden=16"})
                .memory_bytes);
}

// What a selector adds for degrees goes through search, application, a model file and back.
TEST(RecommenderRun, JudgesByDegreesInEveryPhase) {
  for (const std::string apply : {"joint", "alike", "finetune", "scratch"}) {
    SCOPED_TRACE(apply);
    const Dataset dataset = makeShop();
    std::vector<MetricSet> tests;
    for (const std::string degrees : {"none", "views", "views+score"}) {
      const TempFolder folder;
      RunOptions options =
          shopRun("lightgcn", "ps2",
                  {"model.depth_zero=true", "selector.apply=" + apply, "selector.top=9",
                   "selector.tau=1", "selector.degrees=" + degrees, "selector.lr=0.1",
                   "selector.order=first", "training.epochs=4", "selector.epochs=4"});
      const LinkSplit split = splitOf(dataset, options);
      const RunMetrics run = runModel(dataset, split, options, folder.path());
      EXPECT_EQ(evaluateModel(dataset, split, options, folder.path()).test, run.test);
      EXPECT_GT(run.test.at("hit@10"), 0.5);
      tests.push_back(run.test);
    }
    EXPECT_NE(tests[0], tests[1]);
    EXPECT_NE(tests[1], tests[2]);
  }
}

TEST(RecommenderRun, ComesOutTheSameOnAnyNumberOfThreads) {
  // Enough users and items that loops are shared.
  const Dataset dataset = makeShop({.users = 1500, .items = 900, .bought = 14});
  const std::vector<std::pair<std::string, std::string>> kinds = {
      {"lightgcn", "none"}, {"ngcf", "none"}, {"lightgcn", "ps2"}};
  for (const auto& [model, selector] : kinds) {
    const RunOptions options =
        shopRun(model, selector,
                {"training.epochs=1", "training.negatives=3", "training.loss=softmax",
                 "training.batch_size=2048", "model.hidden=32", "selector.apply=joint",
                 "selector.degrees=views+score", "selector.order=first", "selector.top=4"});
    std::vector<nlohmann::json> results;
    for (const int threads : {1, 2, 3}) {
      setBackendThreads(threads);
      const TempFolder folder;
      const RunMetrics run = runShop(options, folder, dataset);
      results.push_back({run.valid.toJson(), run.test.toJson()});
    }
    setBackendThreads(0);
    EXPECT_EQ(results[0], results[1]) << model << " " << selector;
    EXPECT_EQ(results[0], results[2]) << model << " " << selector;
  }
}

TEST(RecommenderRun, EvaluatesAgainToTheSameNumbers) {
  const TempFolder folder;
  const Dataset dataset = makeShop();
  RunOptions options = shopRun("lightgcn", "none",
                               {"training.refit=true", "split.message_at_test=train+valid",
                                "training.select_by=recall@20", "training.epochs=6"});
  const LinkSplit split = splitOf(dataset, options);
  const RunMetrics run = runModel(dataset, split, options, folder.path());
  const RunMetrics again = evaluateModel(dataset, split, options, folder.path());
  EXPECT_EQ(again.valid, run.valid);
  EXPECT_EQ(again.test, run.test);
}

// What is kept at last is what as many epochs on all interactions give.
TEST(RecommenderRun, TrainsAnewOnAllInteractionsForTheBestNumberOfEpochs) {
  const TempFolder folder;
  const Dataset dataset = makeShop();
  RunOptions options =
      shopRun("lightgcn", "none",
              {"training.refit=true", "split.message_at_test=train+valid", "training.epochs=8"});
  const LinkSplit split = splitOf(dataset, options);
  const RunMetrics run = runModel(dataset, split, options, folder.path());
  ASSERT_TRUE(run.learning.has_value());
  EXPECT_EQ(run.learning->refit_epochs, run.learning->best_epoch);
  EXPECT_TRUE(run.audit.clean());

  const LinkModel model = makeModel(dataset, options);
  TrainingEdges all = trainingEdges(split, "train+valid");
  all.supervision.table.edges.insert(all.supervision.table.edges.end(),
                                     all.valid.positive.edges.begin(),
                                     all.valid.positive.edges.end());
  all.valid = {};
  TrainingOptions training = options.training;
  training.epochs = run.learning->best_epoch;
  LinkTrainer trainer(model, dataset, all,
                      {.options = training, .seed = 2, .metrics = {}, .same_source = true});
  TrainingState state = trainer.start();
  trainer.run(state, [](const TrainingState&) {});
  const ModelWeights stored = readModel(folder.path(), model, {options, dataset.hash, split.hash});
  EXPECT_TRUE(stored.model.flat().equal(state.parameters.flat()));
  EXPECT_FALSE(stored.model.flat().equal(stored.validated.flat()));
}

// Trained anew without a selector, on all interactions, and scored with the one that was found.
TEST(RecommenderRun, TrainsAnewAlike) {
  const TempFolder folder;
  const Dataset dataset = makeShop();
  RunOptions options = shopRun(
      "lightgcn", "ps2",
      {"training.refit=true", "split.message_at_test=train+valid", "training.epochs=4",
       "selector.apply=alike", "model.depth_zero=true", "selector.order=first", "selector.lr=0.1",
       "selector.degrees=views+score", "selector.top=9", "selector.tau=1"});
  const LinkSplit split = splitOf(dataset, options);
  const RunMetrics run = runModel(dataset, split, options, folder.path());
  EXPECT_EQ(run.apply, "alike");
  EXPECT_EQ(run.learning->refit_epochs, run.learning->best_epoch);
  const RunMetrics again = evaluateModel(dataset, split, options, folder.path());
  EXPECT_EQ(again.valid, run.valid);
  EXPECT_EQ(again.test, run.test);
  // LightGCN without a selector is the mean of all views: its weights after as many epochs.
  const LinkModel searched = makeModel(dataset, options);
  const ModelWeights stored =
      readModel(folder.path(), searched, {options, dataset.hash, split.hash});
  RunOptions plain =
      shopRun("lightgcn", "none", {"training.epochs=" + std::to_string(run.learning->best_epoch)});
  const LinkModel model = makeModel(dataset, plain);
  TrainingEdges all = trainingEdges(split, "train+valid");
  all.supervision.table.append(all.valid.positive);
  all.valid = {};
  LinkTrainer trainer(model, dataset, all,
                      {.options = plain.training, .seed = 2, .metrics = {}, .same_source = true});
  TrainingState state = trainer.start();
  trainer.run(state, [](const TrainingState&) {});
  EXPECT_LT((stored.model.flat() - state.parameters.flat()).abs().max().item<double>(), 1e-4);
}

TEST(RecommenderRun, LearnsMoreFromRecentPurchases) {
  Dataset dataset = makeShop();
  const std::vector<std::string> settings = {"training.refit=true", "training.recent=16",
                                             "split.message_at_test=train+valid",
                                             "training.epochs=4"};
  const auto shop = [&] { return shopRun("lightgcn", "none", settings); };
  const TempFolder nowhere;
  expectFailure<DataError>([&] { (void)runShop(shop(), nowhere, dataset); },
                           "nothing tells which of training and validation edges are recent");
  for (std::size_t row = 0; row < dataset.edges.size(); ++row) {
    dataset.edges.time.push_back(static_cast<double>(row * 7919 % 1000));
  }
  const TempFolder folder;
  RunOptions options = shop();
  const LinkSplit split = splitOf(dataset, options);
  const RunMetrics run = runModel(dataset, split, options, folder.path());
  EXPECT_EQ(evaluateModel(dataset, split, options, folder.path()).test, run.test);
  options.training.recent = 1;
  const TempFolder plain;
  EXPECT_NE(runModel(dataset, split, options, plain.path()).test, run.test);
}

TEST(RecommenderRun, RefusesOptionsThatDoNotGoTogether) {
  const Dataset dataset = makeShop();
  const auto refuses = [&](const std::vector<std::string>& settings, const std::string& problem) {
    expectFailure<ConfigError>(
        [&] { checkModelRun(dataset, shopRun("lightgcn", "none", settings)); }, problem);
  };
  refuses({"training.negatives_of=graph"}, "compares a positive with negatives");
  refuses({"training.refit=true"}, "messages are 'train' in training and 'train' in the test");
  refuses({"model.layer_weights=1,2"}, "2 weights");
  expectFailure<ConfigError>(
      [&] {
        checkModelRun(dataset,
                      shopRun("lightgcn", "ps2", {"training.recent=2", "selector.holdout=rotate"}));
      },
      "draws edges several times");
  expectFailure<ConfigError>(
      [&] { checkModelRun(dataset, shopRun("lightgcn", "ps2", {"model.unit_length=training"})); },
      "other lengths");
  expectFailure<ConfigError>([&] { checkModelRun(dataset, shopRun("lightgcn", "fixed:0,1")); },
                             "is not a view");
}

TEST(BatchStream, KeepsUsersAndAvoidsWhatTheyMetInTraining) {
  const Dataset dataset = makeShop();
  const LinkSplit split = splitLinks(dataset, SplitOptions(), {.per_positive = 20}, 1);
  const BatchStream stream(dataset, split.training,
                           {.batch_size = 100, .negatives_per_positive = 7, .same_source = true},
                           4);
  const EdgeSet met = EdgeSet::fromEdges(split.training.message.table.edges);
  const EdgeSet valid = EdgeSet::fromEdges(split.training.valid.positive.edges);
  std::size_t held_out = 0;
  for (std::size_t number = 0; number < stream.batchesPerEpoch(); ++number) {
    const EdgeBatch batch = stream.batch(number);
    ASSERT_EQ(batch.negative.size(), 7 * batch.positive.size());
    for (std::size_t i = 0; i < batch.negative.size(); ++i) {
      EXPECT_EQ(batch.negative[i].src, batch.positive[i / 7].src);
      EXPECT_GE(index(batch.negative[i].dst), dataset.bipartite->users);
      EXPECT_FALSE(met.contains(batch.negative[i]));
      held_out += valid.contains(batch.negative[i]) ? 1 : 0;
    }
  }
  // Training knows nothing of them.
  EXPECT_GT(held_out, 0U);
}

TEST(BatchStream, NamesAUserWhoHasMetEverything) {
  DatasetParts parts;
  parts.name = "shop";
  parts.raw.ids = IdMap::numbers(2);
  parts.raw.right_ids = IdMap::numbers(3);
  parts.raw.table.edges = {makeEdge(0, 0), makeEdge(1, 0), makeEdge(1, 1), makeEdge(1, 2)};
  const Dataset dataset = makeDataset(std::move(parts));
  TrainingEdges training;
  training.message.table = dataset.edges;
  training.supervision.table = dataset.edges;
  expectFailure<DataError>([&] { (void)BatchStream(dataset, training, {.same_source = true}, 1); },
                           "user '1' has met every item");
}

// A score is the same whether a product makes it for all pairs at once or the decoder for each.
TEST(ModelScorer, ScoresBlocksAsItScoresPairs) {
  const Dataset dataset = makeShop();
  for (const std::string model_kind : {"lightgcn", "ngcf", "gae"}) {
    for (const std::string selector : {"none", "fixed:2,1", "jk", "mean", "rs"}) {
      for (const std::string predictor : {"dot", "hadamard"}) {
        SCOPED_TRACE(model_kind + " " + selector + " " + predictor);
        RunOptions options = shopRun(model_kind, selector, {"model.predictor=" + predictor});
        const LinkModel model = makeModel(dataset, options);
        const Parameters parameters = Parameters::initial(model.layout(), 5);
        const LinkSplit split = splitOf(dataset, options);
        const auto chooser = chooserOf(model, {}, options, dataset);
        const ModelScorer scorer(model, parameters,
                                 planMessages(model, dataset, split.training.message, true),
                                 chooser.get());
        const std::vector<NodeId> users = {NodeId{7}, NodeId{0}, NodeId{119}};
        std::vector<Edge> pairs;
        for (const NodeId user : users) {
          for (std::uint32_t item = 120; item < 210; ++item) {
            pairs.push_back({user, NodeId{item}});
          }
        }
        const std::vector<double> want = scorer.score(pairs, silentProgress());
        ScoreMemory memory;
        const ScoreSpan got = scorer.scoreBlock(users, {120, 90}, dataset.node_count, memory);
        ASSERT_EQ(got.size(), want.size());
        for (std::size_t i = 0; i < want.size(); ++i) {
          EXPECT_NEAR(got[i], want[i], 1e-5 * (1 + std::abs(want[i])));
        }
        const bool product = predictor == "dot" && selector != "rs";
        EXPECT_EQ(scorer.pairsWithinReach() == std::numeric_limits<std::uint64_t>::max(), product);
      }
    }
  }
}

TEST(RecommenderRun, RanksSomeUsersWhereAskedTo) {
  const TempFolder folder;
  const RunMetrics run = runShop(
      shopRun("lightgcn", "none", {"evaluation.full_users=10", "training.epochs=1"}), folder);
  ASSERT_FALSE(run.chosen.empty());
  EXPECT_EQ(run.chosen.front().first, "full_ranking_users");
  EXPECT_EQ(run.chosen.front().second, 10);
}

// A test file that names users and items training never saw, and a user without any.
TEST(RecommenderRun, HandlesUsersAndItemsThatTrainingNeverSaw) {
  const TempFolder data;
  std::string train;
  const auto edges = testing::shopEdges({.users = 40, .items = 60, .bought = 10});
  for (std::uint32_t user = 0; user < 40; ++user) {
    train += std::to_string(user);
    for (const Edge& edge : edges) {
      train += index(edge.src) == user ? " " + std::to_string(index(edge.dst)) : "";
    }
    train += "\n";
  }
  train += "40\n";
  std::ignore = data.write("train.txt", train);
  std::ignore = data.write("test.txt", "0 61\n40 3\n45 2 63\n1 64 64\n");
  const Dataset dataset = makeDataset(readLightGcn(data.path(), "shop"));
  EXPECT_EQ(dataset.bipartite->users, 46U);
  EXPECT_EQ(dataset.bipartite->items, 65U);
  std::string notes;
  for (const std::string& note : dataset.notes.remarks) {
    notes += note + "\n";
  }
  for (const char* told : {"repeated interactions", "users have no training items",
                           "items are never seen in training", "beyond the last one"}) {
    EXPECT_NE(notes.find(told), std::string::npos) << told << " not in\n" << notes;
  }
  const TempFolder folder;
  RunOptions options = shopRun("lightgcn", "none", {"training.epochs=2"});
  const LinkSplit split = splitOf(dataset, options);
  ASSERT_FALSE(split.notes.empty());
  EXPECT_NE(split.notes.back().find("6 of 46 users"), std::string::npos) << split.notes.back();
  const RunMetrics run = runModel(dataset, split, options, folder.path());
  EXPECT_TRUE(run.audit.clean());
  EXPECT_TRUE(std::isfinite(run.test.at("ndcg@20")));
}

}  // namespace
}  // namespace edgewise
