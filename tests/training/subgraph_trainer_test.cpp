#include "edgewise/training/subgraph_trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "edgewise/data/planted.h"
#include "edgewise/training/model_run.h"
#include "edgewise/training/pair_model.h"
#include "edgewise/training/run_estimate.h"
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

// All four views of two hops, softly.
void useSeveral(RunOptions& options) {
  options.network.selector.kind = "ps2";
  options.network.selector.mix = "score";
  options.network.selector.temperature = 1;
  options.network.selector.top = 4;
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
    EXPECT_EQ(
        std::ranges::count(run.time, "apply_network_ms", &std::pair<std::string, double>::first),
        1);
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
  for (const std::string selector : {"none", "ps2", "ps2 of four"}) {
    std::vector<std::vector<double>> scores;
    for (const int threads : {1, 2, 3}) {
      setBackendThreads(threads);
      Bench bench;
      bench.options.network.selector.kind = selector.substr(0, selector.find(' '));
      if (selector == "ps2 of four") {
        useSeveral(bench.options);
      }
      bench.options.training.epochs = 2;
      const TempFolder folder;
      scores.push_back(bench.run(folder).test_scores);
    }
    EXPECT_EQ(scores[1], scores[0]);
    EXPECT_EQ(scores[2], scores[0]);
  }
}

// What is read from a store is what would be cut out, so nothing changes but the time.
TEST(SubgraphRun, EndsTheSameWithSubgraphsFromAStore) {
  const TempFolder store;
  std::vector<std::vector<double>> scores;
  std::vector<std::uintmax_t> sizes;
  for (const bool keeps : {false, true, true}) {
    Bench bench;
    bench.options.training.epochs = 2;
    if (keeps) {
      bench.options.subgraph.cache = store.path().string();
    }
    const TempFolder folder;
    scores.push_back(bench.run(folder).test_scores);
    std::uintmax_t size = 0;
    for (const auto& entry : std::filesystem::directory_iterator(store.path())) {
      size += entry.file_size();
    }
    sizes.push_back(size);
  }
  EXPECT_EQ(scores[1], scores[0]);
  EXPECT_EQ(scores[2], scores[0]);
  EXPECT_EQ(sizes[0], 0U);
  EXPECT_GT(sizes[1], 1000U);
  EXPECT_EQ(sizes[2], sizes[1]) << "the second run found all it needed";
}

TrainerSetup setupOf(const Bench& bench) {
  return {.options = bench.options.training, .seed = 3, .metrics = parseMetrics("auc,ap")};
}

// Weighs the same views of all pairs the same; of (v, u) as of (u, v).
class GivenChooser final : public ViewChooser {
 public:
  GivenChooser(std::vector<LayerPair> views, std::vector<float> weights)
      : views_(std::move(views)), weights_(std::move(weights)) {}
  [[nodiscard]] std::unique_ptr<BoundChooser> on(
      const std::shared_ptr<const MessagePlan>&) const override {
    return std::make_unique<Bound>(*this);
  }
  [[nodiscard]] bool looksAtMessages() const override { return false; }

 private:
  class Bound final : public BoundChooser {
   public:
    explicit Bound(const GivenChooser& chooser) : chooser_(chooser) {}
    [[nodiscard]] ViewChoice choose(const std::shared_ptr<const PairIndex>& pairs) const override {
      auto choices = std::make_shared<ViewChoices>(chooser_.views_.size());
      for (const Edge& pair : pairs->pairs()) {
        std::vector<LayerPair> views = chooser_.views_;
        for (LayerPair& view : views) {
          view = pair.dst < pair.src ? LayerPair{view.target, view.source} : view;
        }
        choices->add(views, chooser_.weights_, chooser_.weights_.front());
      }
      return choices;
    }

   private:
    const GivenChooser& chooser_;
  };

  std::vector<LayerPair> views_;
  std::vector<float> weights_;
};

TrainerSetup mixedSetup(const Bench& bench) {
  TrainerSetup setup = setupOf(bench);
  setup.chooser = std::make_shared<const GivenChooser>(
      std::vector<LayerPair>{{1, 1}, {0, 1}, {1, 0}}, std::vector<float>{0.5F, 0.375F, 0.125F});
  return setup;
}

// Stopped in the middle of an epoch, stored, read back by another trainer.
void expectGoesOn(const Bench& bench, const std::function<TrainerSetup(const Bench&)>& setupOf) {
  const auto model = makePairModel(bench.dataset, bench.split, bench.options);
  const auto whole = model->trainer(bench.split.training, setupOf(bench));
  TrainingState want = whole->start();
  whole->run(want, [](const TrainingState&) {}, silentProgress());

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
        if (++saved == 20) {
          ASSERT_NE(now.batch, 0);
          saveState(path, now, "run");
        }
      },
      silentProgress());
  const auto second = model->trainer(bench.split.training, setupOf(bench));
  TrainingState resumed = second->start();
  loadState(path, resumed, "run");
  second->run(resumed, [](const TrainingState&) {}, silentProgress());
  EXPECT_EQ(resumed.steps, want.steps);
  EXPECT_TRUE(testing::sameBits(resumed.parameters.flat(), want.parameters.flat()));
  EXPECT_TRUE(testing::sameBits(resumed.best, want.best));
  EXPECT_EQ(resumed.best_value, want.best_value);
  // One in sixteen, counted on.
  EXPECT_EQ(want.timed_steps, want.steps / 16);
  EXPECT_EQ(resumed.timed_steps, want.timed_steps);
  EXPECT_GT(resumed.timed_seconds, 0);
}

TEST(SubgraphTrainer, GoesOnWhereItStopped) {
  Bench bench;
  expectGoesOn(bench, setupOf);
  bench.options.network.selector.kind = "rs";
  expectGoesOn(bench, mixedSetup);
}

TEST(SubgraphTrainer, ShowsEachViewAsOftenAsItCounts) {
  const Bench bench;
  const GivenChooser chooser({{1, 1}, {0, 1}, {1, 0}}, {0.5F, 0.375F, 0.125F});
  const auto bound = chooser.on(nullptr);
  std::vector<Edge> pairs;
  for (std::uint32_t node = 1; node < 100; ++node) {
    pairs.push_back(makeEdge(node % 2 == 0 ? 0 : node, node % 2 == 0 ? node : 0));
  }
  const ViewChoice choice = bound->choose(PairIndex::make(pairs, 200));
  const CounterRng lots(3, "lots");
  constexpr std::uint64_t kEpochs = 200;
  std::map<HopView, double> seen;
  std::set<HopView> of_one;
  for (std::uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
    const ViewedPairs drawn = ViewedPairs::drawn(pairs, *choice, {1, 1}, lots, epoch);
    EXPECT_EQ(ViewedPairs::drawn(pairs, *choice, {1, 1}, lots, epoch).views, drawn.views);
    of_one.insert(drawn.views.front());
    ViewedPairs turned = drawn;
    turned.turn();
    for (const HopView view : turned.views) {
      seen[view] += 1. / static_cast<double>(kEpochs * pairs.size());
    }
  }
  // Standard errors are below 0.004.
  EXPECT_NEAR((seen[{2, 2}]), 0.5, 0.015);
  EXPECT_NEAR((seen[{1, 2}]), 0.375, 0.015);
  EXPECT_NEAR((seen[{2, 1}]), 0.125, 0.015);
  EXPECT_EQ(seen.size(), 3U);
  EXPECT_EQ(of_one.size(), 3U);
}

// A pair and its turned self draw the same lot.
TEST(SubgraphTrainer, DrawsTheSameViewBothWays) {
  const GivenChooser chooser({{0, 1}, {1, 0}}, {0.5F, 0.5F});
  const auto bound = chooser.on(nullptr);
  const std::vector<Edge> there = {makeEdge(3, 8), makeEdge(5, 6), makeEdge(1, 9)};
  std::vector<Edge> back;
  for (const Edge& pair : there) {
    back.push_back(reversed(pair));
  }
  const CounterRng lots(4, "lots");
  for (std::uint64_t epoch = 0; epoch < 8; ++epoch) {
    ViewedPairs one =
        ViewedPairs::drawn(there, *bound->choose(PairIndex::make(there, 10)), {1, 1}, lots, epoch);
    ViewedPairs other =
        ViewedPairs::drawn(back, *bound->choose(PairIndex::make(back, 10)), {1, 1}, lots, epoch);
    one.turn();
    other.turn();
    EXPECT_EQ(other.views, one.views);
  }
}

// Where one view a pair is chosen no lot matters: what is cut out is the same at every epoch.
TEST(SubgraphTrainer, ShowsTheOneViewOfAPairAlways) {
  const std::vector<LayerPair> views = {{0, 1}, {1, 1}, {1, 0}};
  const std::vector<Edge> pairs = {makeEdge(0, 1), makeEdge(2, 1), makeEdge(3, 4)};
  const std::vector<HopView> want = {{1, 2}, {2, 2}, {2, 1}};
  const ViewChoice choice = singleViews(views);
  for (std::uint64_t epoch = 0; epoch < 5; ++epoch) {
    EXPECT_EQ(ViewedPairs::drawn(pairs, *choice, {1, 1}, CounterRng(epoch, "any"), epoch).views,
              want);
  }
  const WeighedPairs weighed = WeighedPairs::chosen(pairs, *choice, {1, 1}, 0);
  EXPECT_EQ(weighed.viewed.views, want);
  EXPECT_EQ(weighed.shares, (std::vector<double>{1, 1, 1}));
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

// Logits by their weights: the views one by one, then together.
TEST(SubgraphScorer, MixesTheScoresOfSeveralViews) {
  Bench bench;
  bench.options.network.selector.kind = "rs";
  const auto model = makePairModel(bench.dataset, bench.split, bench.options);
  const Parameters parameters = Parameters::initial(model->layout(), 5);
  const std::vector<LayerPair> views = {{1, 1}, {0, 1}, {1, 0}, {0, 0}};
  const std::vector<float> weights = {0.5F, 0.375F, 0.125F, 0};
  std::vector<Edge> pairs(bench.split.test.positive.edges.begin(),
                          bench.split.test.positive.edges.begin() + 40);
  std::vector<double> want(pairs.size(), 0.0);
  for (std::size_t view = 0; view < views.size(); ++view) {
    const GivenChooser one({views[view]}, {1.F});
    const auto scorer = model->scorer(parameters, bench.split.training.message, &one);
    const std::vector<double> scores = scorer->score(pairs, silentProgress());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      want[i] += static_cast<double>(weights[view]) * scores[i];
    }
  }
  const GivenChooser chooser(views, weights);
  const auto scorer = model->scorer(parameters, bench.split.training.message, &chooser);
  const std::vector<double> scores = scorer->score(pairs, silentProgress());
  EXPECT_EQ(scores, want);
  EXPECT_EQ(scorer->viewsOf(pairs)->perPair(), 4U);
  for (Edge& pair : pairs) {
    pair = reversed(pair);
  }
  EXPECT_EQ(scorer->score(pairs, silentProgress()), scores);
  EXPECT_TRUE(scorer->score({}, silentProgress()).empty());
}

// What does not count is not cut out.
TEST(SubgraphScorer, LeavesViewsOutThatCountNothing) {
  ViewChoices choice(2);
  const std::vector<LayerPair> views = {{1, 1}, {0, 1}};
  choice.add(views, std::vector<float>{1, 0}, 1);
  choice.add(views, std::vector<float>{0.75F, 0.25F}, 0.75F);
  const std::vector<Edge> pairs = {makeEdge(0, 1), makeEdge(2, 3)};
  EXPECT_EQ(WeighedPairs::chosen(pairs, choice, {1, 1}, 0).places,
            (std::vector<std::size_t>{0, 1}));
  const WeighedPairs second = WeighedPairs::chosen(pairs, choice, {1, 1}, 1);
  EXPECT_EQ(second.places, (std::vector<std::size_t>{1}));
  EXPECT_EQ(second.shares, (std::vector<double>{0.25}));
  EXPECT_EQ(second.viewed.views, (std::vector<HopView>{{1, 2}}));
}

TEST(SubgraphRun, UsesSeveralViewsOfAPair) {
  Bench bench;
  useSeveral(bench.options);
  const TempFolder folder;
  const RunMetrics run = bench.run(folder);
  ASSERT_TRUE(run.views.has_value());
  EXPECT_LT(run.views->confidence_positive, 0.99);
  double all = 0;
  for (const double share : run.views->test_positive) {
    EXPECT_GT(share, 0.0);
    all += share;
  }
  EXPECT_NEAR(all, 1, 1e-5);
  EXPECT_EQ(run.test_views.size(), run.test_scores.size());
  const RunMetrics again = evaluateModel(bench.dataset, bench.split, bench.options, folder.path());
  EXPECT_EQ(again.test_scores, run.test_scores);
  // Another number of views is another run of the same search.
  bench.options.network.selector.top = 1;
  const TempFolder single;
  EXPECT_NE(bench.run(single).test_scores, run.test_scores);
}

TEST(SubgraphRun, KnowsAFixedViewWhereverViewsBegin) {
  Bench bench;
  bench.options.subgraph.hops = 3;
  bench.options.network.selector.kind = "fixed:2,3";
  const TempFolder folder;
  const RunMetrics run = bench.run(folder);
  bench.options.network.encoder.first_depth = 2;
  const TempFolder later;
  EXPECT_EQ(bench.run(later).test_scores, run.test_scores);
}

TEST(SubgraphRun, KeepsToViewsFromTheFirstDepthOn) {
  Bench bench;
  useSeveral(bench.options);
  bench.options.subgraph.hops = 3;
  bench.options.network.encoder.first_depth = 2;
  const TempFolder folder;
  const RunMetrics run = bench.run(folder);
  ASSERT_TRUE(run.views.has_value());
  EXPECT_EQ(run.views->first_hops, 2);
  EXPECT_EQ(run.views->depth, 2U);
  for (const HopPair view : run.test_views) {
    EXPECT_GE(std::min(view.source, view.target), 2);
    EXPECT_LE(std::max(view.source, view.target), 3);
  }
  const RunMetrics again = evaluateModel(bench.dataset, bench.split, bench.options, folder.path());
  EXPECT_EQ(again.test_scores, run.test_scores);
  // With one depth left the choice is (K, K) for all.
  bench.options.network.encoder.first_depth = 3;
  bench.options.network.selector.kind = "rs";
  const TempFolder one;
  const RunMetrics alike = bench.run(one);
  bench.options.network.selector.kind = "none";
  const TempFolder none;
  EXPECT_EQ(bench.run(none).test_scores, alike.test_scores);
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

// A ring of nodes: whoever is linked has three more nodes on either side within three hops, ends
// that lie far apart have seven each.
TEST(SubgraphRun, IsEstimatedByTheSubgraphsThereAre) {
  constexpr std::uint32_t kNodes = 400;
  DatasetParts parts;
  parts.name = "ring";
  parts.raw.ids = IdMap::numbers(kNodes);
  for (std::uint32_t node = 0; node < kNodes; ++node) {
    parts.raw.table.edges.push_back(makeEdge(node, (node + 1) % kNodes));
  }
  const Dataset ring = makeDataset(std::move(parts));
  RunOptions options = quickRun("none");
  options.subgraph.hops = 3;
  const SubgraphSample sample =
      sampledSubgraphs(ring, {.table = ring.edges}, ring.edges.edges, options);
  std::map<std::size_t, std::size_t> by_size;
  for (const std::size_t nodes : sample.nodes) {
    ++by_size[nodes];
  }
  EXPECT_EQ(sample.nodes.size(), 2U * kNodes);
  EXPECT_EQ(by_size[8], std::size_t{kNodes});
  EXPECT_EQ(by_size[14], std::size_t{kNodes});
  // Two paths of four nodes, or of seven: three or six edges each, written twice.
  EXPECT_EQ(sample.entries, kNodes * (2U * 2 * 3 + 2U * 2 * 6));
  // 12 and 24 of the first two pairs are more than 30 together.
  const SubgraphSample few = sampledSubgraphs(ring, {.table = ring.edges}, ring.edges.edges,
                                              options, {.pairs = 100, .at_once = 1, .entries = 30});
  EXPECT_EQ(few.nodes, (std::vector<std::size_t>{8, 14}));

  const double three = estimateModelRun(ring, options).seconds;
  options.subgraph.hops = 6;
  EXPECT_NEAR(estimateModelRun(ring, options).seconds / three, 20.0 / 11, 0.1);
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
  refused("jk", "views by pair");
  refused("mean", "views by pair");
  refused("nonsense", "views by pair");
  refused("fixed:3,1", "seal.hops=2");
  refused("fixed:1,2", "from 2", [](RunOptions& o) { o.network.encoder.first_depth = 2; });
  refused("rs", "model.first_depth=3", [](RunOptions& o) { o.network.encoder.first_depth = 3; });
  refused("oracle", "model.first_depth", [](RunOptions& o) { o.network.encoder.first_depth = 2; });
  refused("ps2", "joint", [](RunOptions& o) { o.network.selector.apply = "joint"; });
  refused("ps2", "alike", [](RunOptions& o) { o.network.selector.apply = "alike"; });
  refused("ps2", "views+score", [](RunOptions& o) {
    o.network.selector.apply = "scratch";
    o.network.selector.degrees = "views+score";
  });
  refused("none", "model.embedding_start=spectral", [](RunOptions& o) {
    o.network.features = "both";
    o.network.embedding_start = "spectral";
  });
  refused("none", "seal.sort_nodes=4", [](RunOptions& o) { o.subgraph.network.sort_nodes = 4; });
}

TEST(SubgraphRun, IsNotForecastWithViewsItDoesNotReach) {
  Bench bench;
  const auto forecast = [&] { (void)estimateModelRun(bench.dataset, bench.options); };
  bench.options.network.selector.kind = "fixed:3,1";
  expectFailure<ConfigError>(forecast, "seal.hops=2");
  bench.options.network.selector.kind = "rs";
  bench.options.network.encoder.first_depth = 3;
  expectFailure<ConfigError>(forecast, "model.first_depth=3");
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
