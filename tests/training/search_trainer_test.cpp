#include "edgewise/training/search_trainer.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "edgewise/data/planted.h"
#include "edgewise/training/model_run.h"
#include "edgewise/training/run_estimate.h"
#include "edgewise/util/file.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

struct SearchCase {
  Dataset dataset;
  LinkSplit split;
  RunOptions options;

  explicit SearchCase(const std::string& holdout = "valid", const std::string& order = "second") {
    PlantedOptions planted;
    planted.nodes = 240;
    planted.communities = 4;
    dataset = makePlanted(planted);
    split = splitLinks(dataset, SplitOptions(), NegativeSettings(), 1);
    options.model = "gae";
    options.network.encoder.hidden = 8;
    options.network.encoder.layers = 2;
    options.network.selector.kind = "ps2";
    options.network.selector.hidden = 16;
    options.network.selector.epochs = 3;
    options.network.selector.holdout = holdout;
    options.network.selector.order = order;
    options.training.epochs = 3;
    options.training.batch_size = 64;
    options.seed = 5;
  }

  // `upper` is empty where training edges take turns.
  [[nodiscard]] SearchTrainer trainer(const LinkModel& model, const TrainingEdges& training,
                                      const EdgeTable& upper = {}) const {
    return {model,
            dataset,
            training,
            {.trainer = {.options = options.training,
                         .seed = static_cast<std::uint64_t>(options.seed),
                         .edge_weights = true,
                         .metrics = parseMetrics("auc")},
             .selector = options.network.selector,
             .upper = upper}};
  }
};

TEST(HalveValid, SharesTheEdgesOutWithoutOverlap) {
  const SearchCase with;
  const ValidEdges& valid = with.split.training.valid;
  const HalvedValid halves = halveValid(valid, 3);
  std::multiset<Edge> both(halves.upper.edges.begin(), halves.upper.edges.end());
  both.insert(halves.selection.positive.edges.begin(), halves.selection.positive.edges.end());
  EXPECT_EQ(both, std::multiset<Edge>(valid.positive.edges.begin(), valid.positive.edges.end()));
  EXPECT_EQ(halves.upper.size(), valid.positive.size() / 2);
  EXPECT_EQ(halves.selection.negative.edges, valid.negative.edges);
}

TEST(HalveValid, LeavesEachPositiveItsOwnNegatives) {
  ValidEdges valid;
  for (std::uint32_t i = 0; i < 6; ++i) {
    valid.positive.edges.push_back(makeEdge(i, i + 10));
    valid.negative.edges.push_back(makeEdge(i, i + 20));
    valid.negative.edges.push_back(makeEdge(i, i + 30));
  }
  valid.negative.per_positive = 2;
  const HalvedValid halves = halveValid(valid, 0);
  ASSERT_EQ(halves.selection.positive.size(), 3U);
  ASSERT_EQ(halves.selection.negative.edges.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(halves.selection.negative.edges[i].src, halves.selection.positive.edges[i / 2].src);
  }
}

TEST(SearchTrainer, ContinuesToTheSameBitsFromEveryCheckpoint) {
  SearchCase with;
  const LinkModel model = makeModel(with.dataset, with.options);
  HalvedValid halves = halveValid(with.split.training.valid, 3);
  TrainingEdges training = with.split.training;
  training.valid = halves.selection;
  with.options.training.checkpoint_seconds = 1e-9;
  with.options.training.average = 0.9;
  const auto trainer = [&] { return with.trainer(model, training, halves.upper); };
  testing::TempFolder folder;
  std::vector<std::filesystem::path> files;
  SearchTrainer first = trainer();
  TrainingState whole = first.start();
  first.run(whole, [&](const TrainingState& state) {
    files.push_back(folder.path() / std::to_string(files.size()));
    saveState(files.back(), state, "run");
  });
  ASSERT_GT(files.size(), 5U);
  for (std::size_t i = 0; i < files.size(); i += 4) {
    SearchTrainer again = trainer();
    TrainingState state = again.start();
    loadState(files[i], state, "run");
    again.run(state, [](const TrainingState&) {});
    EXPECT_TRUE(at::equal(state.parameters.flat(), whole.parameters.flat())) << i;
    EXPECT_TRUE(at::equal(state.selector->parameters.flat(), whole.selector->parameters.flat()))
        << i;
    EXPECT_TRUE(at::equal(state.selector->best, whole.selector->best)) << i;
  }
}

class NamedStages final : public StageWatch {
 public:
  void ended(std::string_view stage) override { names.emplace_back(stage); }
  std::vector<std::string> names;
};

TEST(SearchTrainer, NamesItsStagesByTheOrderOfTheSearch) {
  for (const auto& [order, passes] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"first", {"upper"}},
           {"second", {"virtual", "upper", "difference", "difference"}},
           {"exact", {"virtual", "upper", "difference"}}}) {
    SearchCase with("rotate", order);
    const LinkModel model = makeModel(with.dataset, with.options);
    SearchTrainer trainer = with.trainer(model, with.split.training);
    TrainingState state = trainer.start();
    NamedStages stages;
    EXPECT_GT(trainer.step(state, trainer.batches().batch(0), stages), 0);
    std::vector<std::string> expected = {"sample", "index"};
    expected.insert(expected.end(), passes.begin(), passes.end());
    expected.insert(expected.end(), {"selector", "forward", "backward", "optimizer"});
    EXPECT_EQ(stages.names, expected) << order;
  }
}

TEST(RunModel, SearchesAppliesAndScoresTheSameAgain) {
  for (const auto& [holdout, order] :
       {std::pair{"valid", "second"}, std::pair{"rotate", "first"}, std::pair{"rotate", "exact"}}) {
    for (const char* apply : {"finetune", "scratch"}) {
      SearchCase with(holdout, order);
      with.options.network.selector.apply = apply;
      testing::TempFolder folder;
      const RunMetrics run = runModel(with.dataset, with.split, with.options, folder.path());
      EXPECT_EQ(run.apply, apply);
      ASSERT_TRUE(run.views.has_value());
      const auto& shares = run.views->test_positive;
      EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-9);
      EXPECT_GE(run.views->effective, 1 - 1e-9);
      EXPECT_LE(run.views->effective, 3 + 1e-9);
      EXPECT_EQ(run.views->agreement.size(), 3U);
      EXPECT_EQ(run.test_views.size(), run.test_scores.size());
      const RunMetrics again = evaluateModel(with.dataset, with.split, with.options, folder.path());
      EXPECT_EQ(run.test, again.test);
      EXPECT_EQ(run.valid, again.valid);
      EXPECT_EQ(run.views->test_positive, again.views->test_positive);
      finishModelRun(folder.path());
      EXPECT_FALSE(std::filesystem::exists(folder.path() / kSearchFile));
    }
  }
}

// One phase: what was searched is the model.
TEST(RunModel, LearnsJointlyWithSeveralViewsAPair) {
  for (const char* mix : {"representation", "score"}) {
    for (const std::int64_t top : {1, 3}) {
      SCOPED_TRACE(std::string(mix) + ", top " + std::to_string(top));
      SearchCase with("rotate", "first");
      with.options.network.selector.apply = "joint";
      with.options.network.selector.mix = mix;
      with.options.network.selector.top = top;
      with.options.network.selector.temperature = 0.5;
      testing::TempFolder folder;
      const RunMetrics run = runModel(with.dataset, with.split, with.options, folder.path());
      EXPECT_EQ(run.apply, "joint");
      EXPECT_EQ(run.learning->epochs, 3);
      EXPECT_GT(run.views->confidence_positive, 0.25);
      EXPECT_LE(run.views->confidence_positive, 1);
      EXPECT_EQ(run.test,
                evaluateModel(with.dataset, with.split, with.options, folder.path()).test);
      const FileBytes file = readFile(folder.path() / kCurvesFile);
      const std::string_view curves = file.view();
      EXPECT_NE(curves.find("\njoint,1,"), std::string::npos);
      EXPECT_EQ(curves.find("\napply,"), std::string::npos);
    }
  }
}

TEST(SearchTrainer, LeavesTheSelectorAloneWhileAllViewsCountTheSame) {
  SearchCase with("rotate", "first");
  with.options.network.selector.warmup = 2;
  const LinkModel model = makeModel(with.dataset, with.options);
  SearchTrainer trainer = with.trainer(model, with.split.training);
  TrainingState state = trainer.start();
  const at::Tensor selector = state.selector->parameters.flat().clone();
  const at::Tensor weights = state.parameters.flat().clone();
  trainer.step(state, trainer.batches().batch(0));
  EXPECT_TRUE(at::equal(state.selector->parameters.flat(), selector));
  EXPECT_FALSE(at::equal(state.parameters.flat(), weights));
  state.epoch = 2;
  trainer.step(state, trainer.batches().batch(0));
  EXPECT_FALSE(at::equal(state.selector->parameters.flat(), selector));
}

// The model's weights go the way they would without a selector, which learns all the same.
TEST(SearchTrainer, LearnsAlikeWhateverTheSelectorSays) {
  for (const char* holdout : {"rotate", "valid"}) {
    SearchCase with(holdout, "exact");
    with.options.network.selector.apply = "alike";
    const LinkModel model = makeModel(with.dataset, with.options);
    const HalvedValid halves = halveValid(with.split.training.valid, 3);
    const auto learned = [&](std::int64_t warmup) {
      with.options.network.selector.warmup = warmup;
      SearchTrainer trainer = with.trainer(
          model, with.split.training, std::string(holdout) == "valid" ? halves.upper : EdgeTable());
      TrainingState state = trainer.start();
      for (std::size_t batch = 0; batch < 3; ++batch) {
        trainer.step(state, trainer.batches().batch(batch));
      }
      return state;
    };
    const TrainingState judged = learned(0);
    const TrainingState warm = learned(2);
    EXPECT_TRUE(at::equal(judged.parameters.flat(), warm.parameters.flat()));
    EXPECT_FALSE(at::equal(judged.selector->parameters.flat(), warm.selector->parameters.flat()));
  }
}

// Nothing of the warm start is kept, however well it validates.
TEST(SearchTrainer, KeepsNoEpochFromBeforeTheFirstChoice) {
  SearchCase with("rotate", "first");
  with.options.network.selector.warmup = 2;
  with.options.network.selector.apply = "joint";
  with.options.training.epochs = 3;
  testing::TempFolder folder;
  const RunMetrics run = runModel(with.dataset, with.split, with.options, folder.path());
  EXPECT_EQ(run.learning->best_epoch, 3);
}

TEST(RunModel, ControlsOfChosenViewsRun) {
  for (const std::string selector : {"rs", "jk", "oracle"}) {
    for (const char* mix : {"representation", "score"}) {
      SearchCase with;
      with.options.network.selector.kind = selector;
      with.options.network.selector.mix = mix;
      testing::TempFolder folder;
      const RunMetrics run = runModel(with.dataset, with.split, with.options, folder.path());
      EXPECT_EQ(run.views.has_value(), selector != "jk");
      EXPECT_EQ(run.test,
                evaluateModel(with.dataset, with.split, with.options, folder.path()).test);
      if (selector == "oracle") {
        for (const auto& [name, share] : run.views->agreement) {
          EXPECT_EQ(share, 1) << name;
        }
      }
    }
  }
}

TEST(RunEstimate, CountsTheSearch) {
  SearchCase with;
  const RunEstimate second = estimateModelRun(with.dataset, with.options);
  with.options.network.selector.order = "first";
  EXPECT_LT(estimateModelRun(with.dataset, with.options).seconds, second.seconds);
  with.options.network.selector.order = "exact";
  EXPECT_GT(estimateModelRun(with.dataset, with.options).memory_bytes, second.memory_bytes);
  with.options.network.selector.kind = "none";
  const RunEstimate plain = estimateModelRun(with.dataset, with.options);
  EXPECT_LT(plain.seconds, second.seconds / 2);
  EXPECT_LT(plain.memory_bytes, second.memory_bytes);
}

TEST(RunModel, RefusesSearchesThatComeToNothing) {
  SearchCase with("rotate", "first");
  with.options.network.selector.warmup = 3;
  testing::expectFailure<ConfigError>([&] { checkModelRun(with.dataset, with.options); },
                                      "selector.warmup=3");
  with.options.network.selector.warmup = 0;
  with.options.network.selector.mix = "score";
  with.options.network.selector.view_loss = 1;
  testing::expectFailure<ConfigError>([&] { checkModelRun(with.dataset, with.options); },
                                      "selector.view_loss=1");
}

TEST(RunModel, RefusesAnOracleWhereNothingIsKnown) {
  SearchCase with;
  with.options.network.selector.kind = "oracle";
  with.dataset.node_kinds.clear();
  testing::expectFailure<ConfigError>([&] { checkModelRun(with.dataset, with.options); },
                                      "nobody knows");
}

}  // namespace
}  // namespace edgewise
