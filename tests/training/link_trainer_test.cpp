#include "edgewise/training/link_trainer.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "edgewise/data/planted.h"
#include "edgewise/training/model_run.h"
#include "edgewise/util/interrupt.h"
#include "support/shops.h"
#include "support/test_support.h"

// Last, and once a program: it takes long to compile.
#include <torch/torch.h>

namespace edgewise {
namespace {

using testing::expectFailure;
using testing::makeShop;

Dataset smallPlanted() {
  PlantedOptions options;
  options.nodes = 240;
  options.communities = 4;
  options.target_degree = 8;
  return makePlanted(options);
}

LinkSplit splitOf(const Dataset& dataset, std::uint64_t seed = 1) {
  return splitLinks(dataset, SplitOptions(), NegativeSettings(), seed);
}

RunOptions quickRun(const std::string& model, const std::string& selector) {
  RunOptions options;
  options.model = model;
  options.network.selector.kind = selector;
  options.network.encoder.hidden = 16;
  options.network.encoder.layers = 2;
  options.training.epochs = 6;
  options.training.batch_size = 64;
  options.seed = 3;
  return options;
}

struct Bench {
  Dataset dataset = smallPlanted();
  LinkSplit split = splitOf(dataset);
  RunOptions options = quickRun("gae", "none");
  LinkModel model{options.model, options.network,
                  NodeSide{dataset.features, dataset.node_count, false}};

  [[nodiscard]] LinkTrainer trainer() const {
    return {model, dataset, split.training,
            TrainerSetup{.options = options.training,
                         .seed = 3,
                         .edge_weights = true,
                         .metrics = parseMetrics("auc,ap")}};
  }
};

void ignoreState(const TrainingState&) {}

bool sameBits(const at::Tensor& a, const at::Tensor& b) { return at::equal(a, b); }

TEST(Adam, StepsAsTorchDoes) {
  ParameterLayout layout;
  layout.add("a", {3, 5}, Initial::glorot(3, 5));
  layout.add("b", {7}, Initial::normal(1));
  Parameters ours = Parameters::initial(layout, 1, at::kDouble);
  std::vector<at::Tensor> theirs;
  for (const at::Tensor& tensor : ours.tensors()) {
    theirs.push_back(tensor.detach().clone().set_requires_grad(true));
  }
  const AdamOptions options{.learning_rate = 0.1, .weight_decay = 0.02};
  Adam adam(ours, options);
  torch::optim::Adam reference(theirs, torch::optim::AdamOptions(0.1).weight_decay(0.02));
  for (int step = 0; step < 20; ++step) {
    std::vector<at::Tensor> slopes;
    for (at::Tensor& tensor : theirs) {
      slopes.push_back(torch::sin(tensor.detach() * (step + 1)));
      tensor.mutable_grad() = slopes.back() * 0.5;
    }
    adam.step(ours, slopes, 0.1, 0.5);
    reference.step();
  }
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    EXPECT_LT((theirs[i] - ours.tensors()[i]).abs().max().item<double>(), 1e-12);
  }
}

TEST(GradientNorm, IsEuclideanOverAll) {
  EXPECT_DOUBLE_EQ(
      gradientNorm(std::vector<at::Tensor>{torch::tensor({3.0F}), torch::tensor({{0.0F, 4.0F}})}),
      5);
}

TEST(LearningRate, FallsAlongACosine) {
  TrainingOptions options;
  options.learning_rate = 0.2;
  EXPECT_EQ(learningRateAt(options, 50, 100), 0.2);
  options.schedule = "cosine";
  EXPECT_DOUBLE_EQ(learningRateAt(options, 0, 100), 0.2);
  EXPECT_NEAR(learningRateAt(options, 50, 100), 0.1, 1e-15);
  EXPECT_NEAR(learningRateAt(options, 100, 100), 0, 1e-15);
}

TEST(BatchStream, CoversAllSupervisionEdgesOnceAnEpochAndDrawsRealNegatives) {
  const Dataset dataset = smallPlanted();
  const LinkSplit split = splitOf(dataset);
  BatchStream stream(dataset, split.training, {.batch_size = 50, .negatives_per_positive = 2}, 9);
  const EdgeSet known = EdgeSet::fromEdges(split.training.message.table.edges, dataset.direction);
  std::multiset<Edge> seen;
  for (std::size_t i = 0; i < stream.batchesPerEpoch(); ++i) {
    const EdgeBatch batch = stream.batch(i);
    EXPECT_EQ(batch.negative.size(), 2 * batch.positive.size());
    seen.insert(batch.positive.begin(), batch.positive.end());
    for (const Edge& pair : batch.negative) {
      EXPECT_FALSE(known.contains(pair));
      EXPECT_NE(pair.src, pair.dst);
    }
  }
  const auto& all = split.training.supervision.table.edges;
  EXPECT_EQ(seen, std::multiset<Edge>(all.begin(), all.end()));
}

TEST(BatchStream, IsAFunctionOfSeedEpochAndNumber) {
  const Dataset dataset = smallPlanted();
  const LinkSplit split = splitOf(dataset);
  BatchStream one(dataset, split.training, {.batch_size = 50}, 9);
  BatchStream two(dataset, split.training, {.batch_size = 50}, 9);
  one.beginEpoch(4);
  const EdgeBatch late = one.batch(2);
  two.beginEpoch(1);
  two.beginEpoch(4);
  EXPECT_EQ(two.batch(2).positive, late.positive);
  EXPECT_EQ(two.batch(2).negative, late.negative);
  two.beginEpoch(5);
  EXPECT_NE(two.batch(2).positive, late.positive);
}

std::vector<std::size_t> firstRows(std::size_t count) {
  std::vector<std::size_t> rows(count);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

// What is drawn of each supervision edge in `epochs` epochs, by its row.
std::vector<std::size_t> drawnOf(const BatchStream& stream, std::size_t edges,
                                 std::uint64_t epochs) {
  std::vector<std::size_t> drawn(edges, 0);
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    for (std::size_t i = 0; i < stream.batchesPerEpoch(); ++i) {
      for (const std::uint32_t row : stream.batchOf(epoch, i).rows) {
        ++drawn[row];
      }
    }
  }
  return drawn;
}

// Edges of four times, by their ages: 4^(-7/8), 4^(-5/8), ... 4^(-1/8).
TEST(BatchStream, DrawsRecentEdgesMoreOften) {
  const Dataset dataset = smallPlanted();
  LinkSplit split = splitOf(dataset);
  EdgeTable& edges = split.training.supervision.table;
  edges = edges.select(firstRows(edges.size() / 4 * 4));
  const std::size_t quarter = edges.size() / 4;
  for (std::size_t row = 0; row < edges.size(); ++row) {
    edges.time.push_back(2000 - static_cast<double>(row / quarter));
  }
  const BatchOptions options{.batch_size = 50, .recent = 4};
  const BatchStream stream(dataset, split.training, options, 9);
  constexpr std::uint64_t kEpochs = 20;
  const std::vector<std::size_t> drawn = drawnOf(stream, edges.size(), kEpochs);
  std::size_t all = 0;
  double scale = 0;
  for (int k = 0; k < 4; ++k) {
    scale += std::pow(2, -0.25 - 0.5 * k) / 4;
  }
  for (std::size_t row = 0; row < drawn.size(); ++row) {
    all += drawn[row];
    const double share = std::pow(2, -0.25 - 0.5 * static_cast<double>(row / quarter)) / scale;
    // Its share rounded up or down in every epoch.
    EXPECT_GE(drawn[row], kEpochs * static_cast<std::size_t>(std::floor(share))) << row;
    EXPECT_LE(drawn[row], kEpochs * static_cast<std::size_t>(std::ceil(share))) << row;
  }
  EXPECT_EQ(all, kEpochs * edges.size());
  std::array<double, 4> by_age{};
  for (std::size_t row = 0; row < drawn.size(); ++row) {
    by_age[row / quarter] += static_cast<double>(drawn[row]);
  }
  for (int k = 1; k < 4; ++k) {
    EXPECT_NEAR(by_age[k] / by_age[0], std::pow(2, -0.5 * k), 0.02) << k;
  }
  // The rows name the edges, and another stream draws the same.
  const EdgeBatch batch = BatchStream(dataset, split.training, options, 9).batchOf(3, 1);
  EXPECT_EQ(batch.rows, stream.batchOf(3, 1).rows);
  for (std::size_t i = 0; i < batch.rows.size(); ++i) {
    EXPECT_EQ(batch.positive[i], edges.edges[batch.rows[i]]);
  }
}

// Ages are those within each user's own list: the latest purchase of a user who stopped long ago is
// as recent as anyone's.
TEST(BatchStream, DrawsWhatIsRecentInEachUsersOwnList) {
  const Dataset dataset = makeShop({.users = 40, .items = 60, .bought = 8});
  LinkSplit split = splitOf(dataset);
  EdgeTable& edges = split.training.supervision.table;
  std::vector<std::vector<std::size_t>> lists(dataset.bipartite->users);
  for (std::size_t row = 0; row < edges.size(); ++row) {
    const std::size_t user = index(edges.edges[row].src);
    edges.time.push_back(1000.0 * static_cast<double>(user) + static_cast<double>(row));
    lists[user].push_back(row);
  }
  constexpr double kRecent = 16;
  const BatchStream stream(dataset, split.training,
                           {.batch_size = 50, .same_source = true, .recent = kRecent}, 3);
  constexpr std::uint64_t kEpochs = 200;
  const std::vector<std::size_t> drawn = drawnOf(stream, edges.size(), kEpochs);
  for (const std::vector<std::size_t>& list : lists) {
    if (list.size() < 2) {
      continue;
    }
    const auto longer = static_cast<double>(list.size());
    const double ratio =
        static_cast<double>(drawn[list.back()]) / static_cast<double>(drawn[list.front()]);
    EXPECT_NEAR(ratio / std::pow(kRecent, 1 - 1 / longer), 1, 0.15) << list.size();
  }
}

TEST(BatchStream, NeedsToKnowWhichEdgesAreRecent) {
  const Dataset dataset = smallPlanted();
  const LinkSplit split = splitOf(dataset);
  expectFailure<DataError>([&] { (void)BatchStream(dataset, split.training, {.recent = 2}, 1); },
                           "nothing tells which edges of " + dataset.name + " are recent");
}

// Held-out edges are unknown to training: over many draws some of them must turn up as negatives.
// That they never did would mean that the sampler had looked.
TEST(BatchStream, DoesNotAvoidHeldOutEdges) {
  const Dataset dataset = smallPlanted();
  const LinkSplit split = splitOf(dataset);
  BatchStream stream(dataset, split.training, {.batch_size = 4096, .negatives_per_positive = 50},
                     9);
  const EdgeSet held_out = EdgeSet::fromEdges(split.test.positive.edges, dataset.direction);
  std::size_t met = 0;
  for (const Edge& pair : stream.batch(0).negative) {
    met += held_out.contains(pair) ? 1 : 0;
  }
  EXPECT_GT(met, 0U);
}

// Hidden edges carry no messages: a batch of all would leave a graph without any.
TEST(BatchStream, LeavesMessagesToSmallGraphs) {
  const Dataset dataset = smallPlanted();
  const LinkSplit split = splitOf(dataset);
  const auto largest = [&](std::size_t asked, bool hidden) {
    const BatchStream stream(dataset, split.training, {.batch_size = asked, .hidden = hidden}, 9);
    return stream.batch(0).positive.size();
  };
  const std::size_t all = split.training.supervision.table.size();
  EXPECT_EQ(largest(100'000, false), all);
  EXPECT_EQ(largest(100'000, true), (all + 2) / 3);
  EXPECT_EQ(largest(10, true), 10U);
}

// What a leak is worth is measured in messages alone.
TEST(BatchStream, DrawsTheSameNegativesWhenValidationEdgesCarryMessages) {
  const Dataset dataset = smallPlanted();
  const LinkSplit split = splitOf(dataset);
  TrainingEdges leaking = split.training;
  const std::vector<Edge>& valid = split.training.valid.positive.edges;
  std::vector<Edge>& messages = leaking.message.table.edges;
  messages.insert(messages.end(), valid.begin(), valid.end());
  const BatchOptions options{.batch_size = 64, .negatives_per_positive = 50};
  EXPECT_EQ(BatchStream(dataset, leaking, options, 9).batch(0).negative,
            BatchStream(dataset, split.training, options, 9).batch(0).negative);
}

TEST(LinkTrainer, LearnsAndKeepsTheBestEpoch) {
  Bench bench;
  bench.options.training.epochs = 30;
  LinkTrainer trainer = bench.trainer();
  TrainingState state = trainer.start();
  const double before = trainer.validate(state.parameters).at("auc");
  trainer.run(state, ignoreState);
  EXPECT_GT(state.best_value, before + 0.05);
  double best = 0;
  for (const CurvePoint& point : state.curve) {
    best = std::max(best, point.valid.at("auc"));
  }
  EXPECT_EQ(state.best_value, best);
  state.parameters.flat().copy_(state.best);
  EXPECT_EQ(trainer.validate(state.parameters).at("auc"), best);
  EXPECT_LT(state.curve.back().loss, state.curve.front().loss);
}

TEST(LinkTrainer, StopsWhenPatienceOrStepsRunOut) {
  Bench bench;
  bench.options.training.epochs = 1000;
  bench.options.training.patience = 2;
  bench.options.training.learning_rate = 1e-9;
  LinkTrainer patient = bench.trainer();
  TrainingState state = patient.start();
  patient.run(state, ignoreState);
  EXPECT_TRUE(state.finished);
  EXPECT_EQ(state.epoch, state.best_epoch + 2);
  bench.options.training.patience = 0;
  bench.options.training.max_steps = 7;
  LinkTrainer limited = bench.trainer();
  TrainingState short_state = limited.start();
  limited.run(short_state, ignoreState);
  EXPECT_EQ(short_state.steps, 7);
  EXPECT_TRUE(short_state.best.defined());
}

TEST(LinkTrainer, KeepsNoEpochBeforeItIsToldTo) {
  Bench bench;
  bench.options.training.epochs = 6;
  bench.options.training.patience = 1;
  bench.options.training.keep_after = 4;
  // Nothing improves: the first epoch that counts is the best.
  bench.options.training.learning_rate = 1e-9;
  LinkTrainer trainer = bench.trainer();
  TrainingState state = trainer.start();
  trainer.run(state, ignoreState);
  EXPECT_GT(state.best_epoch, 4);
  EXPECT_EQ(state.curve.size(), static_cast<std::size_t>(state.epoch));
}

TEST(LinkTrainer, KeepsTheRunningAverageOfItsWeights) {
  Bench bench;
  bench.options.training.epochs = 1;
  bench.options.training.max_steps = 4;
  bench.options.training.checkpoint_seconds = 1e-9;  // after every step
  LinkTrainer plain = bench.trainer();
  std::vector<at::Tensor> weights;
  TrainingState raw = plain.start();
  plain.run(raw, [&](const TrainingState& state) {
    if (weights.size() < static_cast<std::size_t>(state.steps)) {
      weights.push_back(state.parameters.flat().clone());
    }
  });
  ASSERT_EQ(weights.size(), 4U);
  bench.options.training.average = 0.3;
  LinkTrainer averaging = bench.trainer();
  TrainingState state = averaging.start();
  averaging.run(state, ignoreState);
  // The past's share after n steps is (1 + n) / (10 + n) until that is more than 0.3.
  at::Tensor expected = weights[0];
  const std::vector<double> past = {0.25, 0.3, 0.3};
  for (std::size_t i = 1; i < weights.size(); ++i) {
    expected = past[i - 1] * expected + (1 - past[i - 1]) * weights[i];
  }
  EXPECT_LT((state.best - expected).abs().max().item<double>(), 1e-6);
  EXPECT_GT((state.best - weights.back()).abs().max().item<double>(), 1e-4);
  EXPECT_TRUE(sameBits(state.parameters.flat(), weights.back())) << "steps go on from the weights";
  Parameters kept = raw.parameters.clone();
  kept.flat().copy_(state.best);
  EXPECT_EQ(state.curve.back().valid, averaging.validate(kept));
}

class ContinuedRun : public ::testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(LinkTrainer, ContinuedRun, ::testing::Values(0.0, 0.9));

TEST_P(ContinuedRun, EndsInTheSameBitsFromEveryCheckpoint) {
  Bench bench;
  bench.options.training.average = GetParam();
  bench.options.training.checkpoint_seconds = 1e-9;  // after every step
  LinkTrainer trainer = bench.trainer();
  testing::TempFolder folder;
  std::vector<std::filesystem::path> files;
  TrainingState whole = trainer.start();
  trainer.run(whole, [&](const TrainingState& state) {
    files.push_back(folder.path() / std::to_string(files.size()));
    saveState(files.back(), state, "run");
  });
  ASSERT_GT(files.size(), 10U);
  for (std::size_t i = 0; i < files.size(); i += 5) {
    LinkTrainer again = bench.trainer();
    TrainingState state = again.start();
    loadState(files[i], state, "run");
    again.run(state, ignoreState);
    EXPECT_TRUE(sameBits(state.parameters.flat(), whole.parameters.flat())) << i;
    EXPECT_TRUE(sameBits(state.best, whole.best)) << i;
    EXPECT_EQ(state.curve.size(), whole.curve.size());
    EXPECT_EQ(state.curve.back().valid, whole.curve.back().valid);
    EXPECT_EQ(state.curve.back().loss, whole.curve.back().loss);
  }
}

TEST(TrainingState, OfAnotherRunOrModelIsRefused) {
  const Bench bench;
  LinkTrainer trainer = bench.trainer();
  TrainingState state = trainer.start();
  testing::TempFolder folder;
  const auto path = folder.path() / "checkpoint";
  saveState(path, state, "one");
  expectFailure<DataError>([&] { loadState(path, state, "two"); }, "other options");
  Bench wider;
  wider.options.network.encoder.hidden = 24;
  const LinkModel model(wider.options.model, wider.options.network,
                        NodeSide{wider.dataset.features, wider.dataset.node_count, false});
  LinkTrainer other(model, wider.dataset, wider.split.training,
                    {.options = wider.options.training,
                     .seed = 3,
                     .edge_weights = true,
                     .metrics = parseMetrics("auc")});
  TrainingState larger = other.start();
  expectFailure<DataError>([&] { loadState(path, larger, "one"); }, "this model needs");
}

TEST(LinkTrainer, LeavesAStateBehindWhenInterrupted) {
  const Bench bench;
  LinkTrainer trainer = bench.trainer();
  TrainingState state = trainer.start();
  int saved = 0;
  requestInterrupt();
  EXPECT_THROW(trainer.run(state, [&](const TrainingState&) { ++saved; }), InterruptedError);
  clearInterrupt();
  EXPECT_EQ(saved, 1);
}

TEST(LinkTrainer, SaysWhenItDiverges) {
  Bench bench;
  bench.options.training.learning_rate = 10;
  bench.options.training.clip = 0;
  bench.options.training.epochs = 200;
  bench.options.training.patience = 0;
  bench.options.network.encoder.dropout = 0;
  LinkTrainer trainer = bench.trainer();
  TrainingState state = trainer.start();
  state.parameters.flat().fill_(std::numeric_limits<float>::infinity());
  expectFailure<Error>([&] { trainer.run(state, ignoreState); }, "diverged");
}

TEST(RunModel, GivesTheSameNumbersAgainFromItsFile) {
  const Dataset dataset = smallPlanted();
  const LinkSplit split = splitOf(dataset);
  for (const auto& [model, selector] :
       std::map<std::string, std::string>{{"gae", "mean"}, {"sage", "fixed:1,2"}}) {
    RunOptions options = quickRun(model, selector);
    testing::TempFolder folder;
    const RunMetrics trained = runModel(dataset, split, options, folder.path());
    EXPECT_TRUE(std::filesystem::exists(folder.path() / kCheckpointFile));
    finishModelRun(folder.path());
    EXPECT_FALSE(std::filesystem::exists(folder.path() / kCheckpointFile));
    const RunMetrics again = evaluateModel(dataset, split, options, folder.path());
    EXPECT_EQ(trained.test, again.test);
    EXPECT_EQ(trained.valid, again.valid);
    EXPECT_EQ(trained.selector, selector);
    EXPECT_EQ(trained.by_view.has_value(), selector == "mean");
    EXPECT_EQ(trained.test_scores.size(),
              split.test.positive.size() + split.test.negative.edges.size());
  }
}

TEST(RunModel, LetsValidationEdgesCarryMessagesOnlyWhenAskedAndSaysSo) {
  const Dataset dataset = smallPlanted();
  const LinkSplit split = splitOf(dataset);
  for (const char* selector : {"none", "ps2"}) {
    RunOptions options = quickRun("gae", selector);
    options.network.selector.epochs = 3;
    testing::TempFolder clean_folder;
    const RunMetrics clean = runModel(dataset, split, options, clean_folder.path());
    EXPECT_TRUE(clean.audit.clean());
    EXPECT_EQ(clean.split.message_at_train, "train");
    options.split.message_at_train = "train+valid";
    testing::TempFolder folder;
    const RunMetrics leaky = runModel(dataset, split, options, folder.path());
    EXPECT_EQ(leaky.audit.leakCount(), 2 * split.training.valid.positive.size());
    EXPECT_EQ(leaky.split.message_at_train, "train+valid");
    EXPECT_NE(leaky.valid, clean.valid) << "other messages, other scores";
    const RunMetrics again = evaluateModel(dataset, split, options, folder.path());
    EXPECT_EQ(again.valid, leaky.valid);
    EXPECT_EQ(again.test, leaky.test);
    EXPECT_EQ(again.audit.leakCount(), leaky.audit.leakCount());
  }
}

TEST(RunModel, ReadsNoModelOfAnotherRun) {
  const Dataset dataset = smallPlanted();
  const LinkSplit split = splitOf(dataset);
  RunOptions options = quickRun("gae", "none");
  testing::TempFolder folder;
  std::ignore = runModel(dataset, split, options, folder.path());
  const auto evaluated = [&](const LinkSplit& cut, RunOptions with) {
    std::ignore = evaluateModel(dataset, cut, with, folder.path());
  };
  RunOptions moved = options;
  moved.data.edges = "elsewhere/edges.csv";
  moved.threads = 2;
  EXPECT_NO_THROW(evaluated(split, moved));
  RunOptions longer = options;
  longer.training.epochs = 7;
  expectFailure<DataError>([&] { evaluated(split, longer); },
                           "trained with training.epochs=6, options.json says 7");
  RunOptions wider = options;
  wider.network.encoder.hidden = 8;
  expectFailure<DataError>([&] { evaluated(split, wider); }, "model.hidden=16");
  expectFailure<DataError>([&] { evaluated(splitOf(dataset, 2), options); }, "another split");
  std::filesystem::remove(folder.path() / kModelFile);
  expectFailure<DataError>([&] { evaluated(split, options); }, "is missing");
}

TEST(RunModel, SaysBeforeItStartsThatItWillNotFit) {
  const Dataset dataset = smallPlanted();
  RunOptions options = quickRun("gae", "mean");
  options.network.encoder.hidden = 4096;
  options.network.encoder.layers = 5;
  options.training.batch_size = 1 << 24;
  options.training.negatives = 1000;
  expectFailure<ResourceError>([&] { checkModelRun(dataset, options); }, "GiB of memory");
  options.check_memory = false;
  EXPECT_NO_THROW(checkModelRun(dataset, options));
}

TEST(RunModel, RefusesAMetricToSelectByThatIsNotReported) {
  const Dataset dataset = smallPlanted();
  const LinkSplit split = splitOf(dataset);
  RunOptions options = quickRun("gae", "none");
  options.training.select_by = "hits@20";
  testing::TempFolder folder;
  expectFailure<ConfigError>(
      [&] { std::ignore = runModel(dataset, split, options, folder.path()); }, "not among");
}

// Tells as a bonus how many neighbours the source has by the messages it was asked over, and by the
// view whether the target is odd.
class CountingChooser final : public ViewChooser {
 public:
  [[nodiscard]] std::unique_ptr<BoundChooser> on(
      const std::shared_ptr<const MessagePlan>& messages) const override {
    return std::make_unique<Bound>(messages);
  }
  [[nodiscard]] bool looksAtMessages() const override { return true; }

 private:
  class Bound final : public BoundChooser {
   public:
    explicit Bound(std::shared_ptr<const MessagePlan> messages) : messages_(std::move(messages)) {}
    [[nodiscard]] ViewChoice choose(const std::shared_ptr<const PairIndex>& pairs) const override {
      std::vector<LayerPair> views;
      std::vector<float> heard;
      for (const Edge& pair : pairs->pairs()) {
        views.push_back({0, index(pair.dst) % 2});
        heard.push_back(static_cast<float>(messages_->rows().degree(pair.src) -
                                           messages_->masked(index(pair.src)).size()));
      }
      auto choices = std::make_shared<ViewChoices>(*singleViews(views));
      choices->setBonus(std::move(heard));
      return choices;
    }

   private:
    std::shared_ptr<const MessagePlan> messages_;
  };
};

// Ten shops of ten customers: whoever chooses for ten edges at once hides one of each shop's.
TEST(ChooseSupervised, LeavesSourcesMostOfTheirNeighbours) {
  std::vector<Edge> edges;
  for (std::uint32_t shop = 0; shop < 10; ++shop) {
    for (std::uint32_t customer = 0; customer < 10; ++customer) {
      edges.push_back(makeEdge(shop, 10 + 10 * shop + customer));
    }
  }
  const auto messages = MessagePlan::make(CsrGraph::fromEdges(110, edges), Norm::kMean);
  const ViewChoices views =
      chooseSupervised(CountingChooser(), messages, edges, 110, {.masked = true, .block = 10});
  ASSERT_EQ(views.pairCount(), edges.size());
  const at::Tensor heard = views.bonus(at::kFloat);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    EXPECT_EQ(views.best(i).target, index(edges[i].dst) % 2) << "out of order: " << i;
    EXPECT_EQ(heard[static_cast<std::int64_t>(i)].item<float>(), 9) << i;
  }
}

}  // namespace
}  // namespace edgewise
