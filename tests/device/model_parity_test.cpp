// Models, batches and training on a device against the same on the processor.
#include <gtest/gtest.h>

#include "edgewise/data/planted.h"
#include "edgewise/training/link_trainer.h"
#include "edgewise/training/model_scorer.h"
#include "edgewise/training/search_trainer.h"
#include "edgewise/training/stored_model.h"
#include "support/devices.h"
#include "support/shops.h"
#include "support/test_support.h"
#include "training/device_batches.h"

namespace edgewise {
namespace {

using testing::BothPlaces;
using testing::Tensors;

struct ModelCase {
  std::string name;
  std::string model = "gae";
  std::string selector = "none";
  std::vector<std::string> settings = {};
  // Floats whose last bits differ at every step, and Adam divides by small numbers.
  double tolerance = 5e-3;
};

void PrintTo(const ModelCase& one, std::ostream* out) { *out << one.name; }

std::vector<ModelCase> modelCases() {
  return {
      {"Gae"},
      {"Sage", "sage"},
      {"GaeNormedMasked",
       "gae",
       "none",
       {"model.norm=layer", "training.mask_targets=true", "model.input_dropout=0.3",
        "model.residual=true"}},
      {"SageHalf", "sage", "none", {"model.feature_precision=half"}},
      {"GaeFixed", "gae", "fixed:1,2"},
      {"GaeMean", "gae", "mean"},
      {"GaeJk", "gae", "jk"},
      {"GaeRandom", "gae", "rs"},
      {"GaeOracle", "gae", "oracle"},
      {"GaeConcat", "gae", "jk", {"model.predictor=concat"}},
      {"GaeDot", "gae", "none", {"model.predictor=dot"}},
      {"GaeEmbedding", "gae", "none", {"model.features=both", "model.embedding=8"}},
      {"SearchSecond", "gae", "ps2"},
      {"SearchFirst", "sage", "ps2", {"selector.order=first"}},
      {"SearchExact", "gae", "ps2", {"selector.order=exact"}},
      {"SearchRotating", "gae", "ps2", {"selector.holdout=rotate", "training.mask_targets=true"}},
      {"SearchJoint",
       "sage",
       "ps2",
       {"selector.apply=joint", "selector.holdout=rotate", "selector.top=2",
        "training.mask_targets=true", "selector.tau=0.5"}},
      {"SearchScores",
       "gae",
       "ps2",
       {"selector.apply=joint", "selector.mix=score", "selector.order=first", "selector.warmup=1",
        "selector.tau_start=2", "selector.tau=0.5"}},
      {"SearchConcat", "gae", "ps2", {"model.predictor=concat"}},
      // With losses that compare, a predictor's last bias has no gradient but rounding, which Adam
      // scales up: dot products, or a loss that does not compare.
      {"LightGcnPredictor", "lightgcn", "none", {"training.negatives=2"}},
      {"LightGcnBpr",
       "lightgcn",
       "none",
       {"model.predictor=dot", "training.loss=bpr", "training.embedding_l2=0.001"}},
      {"LightGcnSoftmax",
       "lightgcn",
       "none",
       {"model.predictor=dot", "training.loss=softmax", "training.negatives=5",
        "training.embedding_l2=0.001", "training.loss_tau=0.2", "model.unit_length=always",
        "model.layer_weights=0.5,0.3,0.2", "training.mask_targets=true"}},
      {"LightGcnBatch",
       "lightgcn",
       "none",
       {"model.predictor=dot", "training.loss=batch", "training.loss_tau=0.2",
        "model.unit_length=always"}},
      {"LightGcnSpectral",
       "lightgcn",
       "none",
       {"model.predictor=dot", "training.loss=bpr", "model.embedding_start=spectral"}},
      {"SageSpectral",
       "sage",
       "none",
       {"model.features=both", "model.embedding=8", "model.embedding_start=spectral"}},
      {"NgcfBpr",
       "ngcf",
       "none",
       {"model.predictor=dot", "training.loss=bpr", "model.normalise_layers=true",
        "model.dropout=0.2"}},
      {"NgcfJk",
       "ngcf",
       "jk",
       {"model.predictor=dot", "training.loss=bpr", "model.depth_zero=true"}},
      {"LightGcnRandom",
       "lightgcn",
       "rs",
       {"model.predictor=dot", "training.loss=bpr", "model.depth_zero=true"}},
      // A selector's gradients are differences of losses that hardly differ yet: those of one step
      // are compared below, in double precision.
      {"LightGcnSearch",
       "lightgcn",
       "ps2",
       {"model.predictor=dot", "training.loss=bpr", "model.depth_zero=true",
        "training.embedding_l2=0.001", "model.unit_length=always", "selector.tau=1"},
       0.05},
      {"LightGcnSearchByDegrees",
       "lightgcn",
       "ps2",
       {"model.predictor=dot", "training.loss=bpr", "model.depth_zero=true", "selector.tau=1",
        "selector.degrees=views+score", "selector.order=first", "selector.top=9"},
       0.05},
      {"LightGcnSearchAlike",
       "lightgcn",
       "ps2",
       {"model.predictor=dot", "training.loss=bpr", "model.depth_zero=true", "selector.tau=1",
        "selector.degrees=views+score", "selector.apply=alike", "selector.top=9"},
       0.05},
      {"SearchAlikeInTurn",
       "gae",
       "ps2",
       {"selector.apply=alike", "selector.holdout=rotate", "training.mask_targets=true",
        "selector.tau=1", "selector.top=4"},
       0.05},
      {"SearchByDegrees",
       "gae",
       "ps2",
       {"selector.degrees=views", "selector.tau=1", "training.mask_targets=true"},
       0.05},
      {"NgcfSearchJoint",
       "ngcf",
       "ps2",
       {"model.predictor=dot", "training.loss=softmax", "training.negatives=3",
        "model.unit_length=always", "selector.apply=joint", "selector.holdout=rotate",
        "selector.order=first", "selector.tau=1", "selector.top=4"},
       0.05},
  };
}

struct Problem {
  Dataset dataset;
  LinkSplit split;
  RunOptions options;

  explicit Problem(const ModelCase& one) {
    PlantedOptions planted;
    planted.nodes = 240;
    planted.communities = 4;
    dataset = isRecommender(one.model) ? testing::makeShop() : makePlanted(planted);
    NegativeSettings negatives;
    negatives.per_positive = 0;
    split = splitLinks(dataset, SplitOptions(), negatives, 1);
    options.model = one.model;
    options.network.selector.kind = one.selector;
    OptionSet set = options.bind();
    for (const char* setting :
         {"model.hidden=8", "model.layers=2", "selector.hidden=16", "selector.epochs=2",
          "training.epochs=2", "training.batch_size=64", "run.seed=5", "training.lr=0.01",
          "training.patience=0", "training.mask_targets=false"}) {
      set.setAssignment(setting, "test");
    }
    for (const std::string& setting : one.settings) {
      set.setAssignment(setting, "test");
    }
  }

  [[nodiscard]] TrainerSetup setup(at::Device device) const {
    return {.options = options.training,
            .seed = static_cast<std::uint64_t>(options.seed),
            .edge_weights = true,
            .metrics = parseMetrics("auc"),
            .same_source = negativesKeepSource(options, dataset),
            .device = device};
  }
};

void add(Tensors& results, const TrainingState& state) {
  results.push_back(state.parameters.flat().detach());
  if (state.selector) {
    // All but the last, the bias of a score: no choice depends on it, so that its gradient is
    // nothing but rounding.
    const at::Tensor selector = state.selector->parameters.flat().detach();
    results.push_back(selector.narrow(0, 0, selector.numel() - 1));
  }
  std::vector<double> losses;
  for (const CurvePoint& point : state.curve) {
    losses.push_back(point.loss);
    losses.push_back(point.gradient_norm);
    losses.push_back(point.valid.at("auc"));
  }
  results.push_back(at::tensor(losses));
}

// Two epochs of training, or of search and then of training with its choices.
Tensors trained(const Problem& problem, at::Device device) {
  const LinkModel model = makeModel(problem.dataset, problem.options);
  const SaveState nowhere = [](const TrainingState&) {};
  Tensors results;
  TrainingEdges training = problem.split.training;
  ModelWeights weights;
  if (model.selector() != nullptr) {
    const bool rotates = problem.options.network.selector.holdout == "rotate";
    HalvedValid halves = halveValid(training.valid, 3);
    if (!rotates) {
      training.valid = halves.selection;
    }
    SearchTrainer search(model, problem.dataset, training,
                         {.trainer = problem.setup(device),
                          .selector = problem.options.network.selector,
                          .upper = rotates ? EdgeTable() : halves.upper});
    TrainingState state = search.start();
    search.run(state, nowhere);
    add(results, state);
    weights.search = state.parameters.clone();
    weights.selector = state.selector->parameters.clone();
    // A model that learned as if nobody chose is trained so once more, as for a refit.
    if (problem.options.network.selector.joins() &&
        !problem.options.network.selector.learnsAlike()) {
      return results;
    }
  }
  TrainerSetup setup = problem.setup(device);
  setup.chooser = chooserOf(model, weights, problem.options, problem.dataset);
  setup.alike = problem.options.network.selector.learnsAlike();
  LinkTrainer trainer(model, problem.dataset, training, std::move(setup));
  TrainingState state = trainer.start();
  trainer.run(state, nowhere);
  add(results, state);
  return results;
}

class ModelParity : public ::testing::TestWithParam<ModelCase> {};

TEST_P(ModelParity, TrainsToTheSameNumbers) {
  EDGEWISE_NEEDS_DEVICE();
  const Problem problem(GetParam());
  const BothPlaces both =
      testing::runOnBoth([&](at::Device device) { return trained(problem, device); });
  testing::expectClose(both.device, both.processor, GetParam().tolerance);
}

TEST_P(ModelParity, GivesTheSameBitsAgain) {
  EDGEWISE_NEEDS_DEVICE();
  const Problem problem(GetParam());
  const ImitatedDevice imitated;
  const Tensors once = trained(problem, testing::deviceUnderTest());
  const Tensors again = trained(problem, testing::deviceUnderTest());
  ASSERT_EQ(once.size(), again.size());
  for (std::size_t i = 0; i < once.size(); ++i) {
    EXPECT_TRUE(testing::sameBits(once[i].to(at::kCPU), again[i].to(at::kCPU))) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ModelParity, ::testing::ValuesIn(modelCases()),
                         [](const auto& each) { return each.param.name; });

// Losses of one batch and their gradients, in double precision.
Tensors slopes(const Problem& problem, at::Device device) {
  const LinkModel model = makeModel(problem.dataset, problem.options);
  const bool same_source = negativesKeepSource(problem.options, problem.dataset);
  const BatchStream stream(
      problem.dataset, problem.split.training,
      {.batch_size = 64,
       .negatives_per_positive = static_cast<std::size_t>(problem.options.training.negatives),
       .same_source = same_source},
      3);
  const EdgeBatch batch = stream.batch(0);
  PairBatch pairs =
      PairBatch::make(batch.positive, batch.negative, problem.dataset.node_count, at::kDouble);
  pairs.labels = pairs.labels.to(device);
  const auto messages = planMessages(model, problem.dataset, problem.split.training.message, true);
  const Parameters weights = Parameters::initial(model.layout(), 5, at::kDouble, device);
  const Parameters selector = Parameters::initial(model.selectorLayout(), 6, at::kDouble, device);
  Tensors results;
  const auto add_slopes = [&](const at::Tensor& loss, const Parameters& by) {
    results.push_back(loss.detach());
    results.push_back(flattened(gradients(loss, by.tensors())));
  };
  if (model.selector() == nullptr) {
    add_slopes(model.loss(weights, messages, pairs, Noise(1, 2)), weights);
    return results;
  }
  const MixtureOptions mixture{.temperature = 0.3};
  const auto search = [&] {
    const Noise noise(1, 2);
    const EncodedPairs encoded = model.encodeJudged(weights, messages, pairs.pairs, noise);
    return model.withPenalty(model.searchLoss(weights, selector, encoded, pairs, noise, mixture),
                             weights, pairs);
  };
  add_slopes(search(), selector);
  add_slopes(search(), weights);
  add_slopes(model.chosenLoss(weights, selector, messages, pairs, Noise(1, 2)), weights);
  return results;
}

// A scorer that sends all scores.
class AllScores final : public LinkScorer {
 public:
  explicit AllScores(const LinkScorer& scorer) : scorer_(scorer) {}
  [[nodiscard]] std::vector<double> score(std::span<const Edge> pairs,
                                          ProgressSink& progress) const override {
    return scorer_.score(pairs, progress);
  }
  void scoreSources(std::span<const NodeId> sources, std::span<double> out,
                    ProgressSink& progress) const override {
    scorer_.scoreSources(sources, out, progress);
  }
  [[nodiscard]] ScoreSpan scoreBlock(std::span<const NodeId> sources, NodeRange targets,
                                     std::size_t node_count, ScoreMemory& memory) const override {
    return scorer_.scoreBlock(sources, targets, node_count, memory);
  }

 private:
  const LinkScorer& scorer_;
};

// A device keeps all but the best scores to itself.
TEST(FullRankingOnDevice, SendsWhatCounts) {
  EDGEWISE_NEEDS_DEVICE();
  for (const std::string predictor : {"dot", "hadamard"}) {
    const Problem problem(
        ModelCase{"LightGcn", "lightgcn", "none", {"model.predictor=" + predictor}});
    const ImitatedDevice imitated;
    const auto ranked = [&](bool all) {
      const LinkModel model = makeModel(problem.dataset, problem.options);
      const Parameters weights =
          Parameters::initial(model.layout(), 5, at::kFloat, testing::deviceUnderTest());
      const auto messages =
          planMessages(model, problem.dataset, problem.split.training.message, true);
      const ModelScorer scorer(model, weights, messages);
      const AllScores whole(scorer);
      return evaluateFullRanking(all ? static_cast<const LinkScorer&>(whole) : scorer,
                                 problem.dataset, problem.split.training.message,
                                 problem.split.training.valid.positive,
                                 {.requests = parseMetrics("recall@5,ndcg@20")}, silentProgress());
    };
    const MetricSet want = ranked(true);
    const MetricSet got = ranked(false);
    for (const auto& [name, value] : want.values()) {
      EXPECT_EQ(got.at(name), value) << name << ' ' << predictor;
      EXPECT_GT(value, 0) << name;
    }
  }
}

class SlopeParity : public ::testing::TestWithParam<ModelCase> {};

TEST_P(SlopeParity, OfOneBatchAreTheSame) {
  EDGEWISE_NEEDS_DEVICE();
  const Problem problem(GetParam());
  const BothPlaces both =
      testing::runOnBoth([&](at::Device device) { return slopes(problem, device); });
  testing::expectClose(both.device, both.processor, 1e-10);
}

std::vector<ModelCase> recommenderCases() {
  std::vector<ModelCase> cases = modelCases();
  std::erase_if(cases, [](const ModelCase& one) {
    return !isRecommender(one.model) || one.selector == "rs";
  });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Recommenders, SlopeParity, ::testing::ValuesIn(recommenderCases()),
                         [](const auto& each) { return each.param.name; });

std::vector<Edge> edgesIn(const at::Tensor& ends) {
  const at::Tensor host = ends.to(at::kCPU).contiguous();
  const auto* const values = host.data_ptr<std::int32_t>();
  std::vector<Edge> edges;
  for (std::int64_t i = 0; i < host.size(0); ++i) {
    edges.push_back(makeEdge(static_cast<std::uint32_t>(values[2 * i]),
                             static_cast<std::uint32_t>(values[2 * i + 1])));
  }
  return edges;
}

// Taken up by another trainer after its first epoch, a run on a device ends at the same bits.
TEST(DeviceTraining, ContinuesToTheSameBits) {
  EDGEWISE_NEEDS_DEVICE();
  const ImitatedDevice imitated;
  const testing::TempFolder folder;
  const Problem problem({"Search",
                         "gae",
                         "ps2",
                         {"selector.apply=joint", "selector.holdout=rotate",
                          "training.checkpoint_seconds=0", "training.average=0.9"}});
  const LinkModel model = makeModel(problem.dataset, problem.options);
  const auto trainer = [&] {
    return std::make_unique<SearchTrainer>(
        model, problem.dataset, problem.split.training,
        SearchSetup{.trainer = problem.setup(testing::deviceUnderTest()),
                    .selector = problem.options.network.selector,
                    .upper = {}});
  };
  const auto whole = trainer();
  TrainingState once = whole->start();
  int saved = 0;
  const auto path = folder.path() / "state";
  whole->run(once, [&](const TrainingState& state) {
    if (saved++ == 0) {
      saveState(path, state, "run");
    }
  });
  const auto second = trainer();
  TrainingState again = second->start();
  loadState(path, again, "run");
  EXPECT_EQ(again.epoch, 1);
  second->run(again, [](const TrainingState&) {});
  EXPECT_TRUE(
      testing::sameBits(again.parameters.flat().to(at::kCPU), once.parameters.flat().to(at::kCPU)));
  EXPECT_TRUE(testing::sameBits(again.best.to(at::kCPU), once.best.to(at::kCPU)));
  // Another state with the same trainer: what was recorded for the first must not move it.
  TrainingState other = second->start();
  second->run(other, [](const TrainingState&) {});
  EXPECT_TRUE(
      testing::sameBits(other.parameters.flat().to(at::kCPU), once.parameters.flat().to(at::kCPU)));
}

TEST(DeviceTraining, SaysWhenItDiverges) {
  EDGEWISE_NEEDS_DEVICE();
  const ImitatedDevice imitated;
  Problem problem({"Gae"});
  problem.options.training.learning_rate = 10;
  problem.options.training.clip = 0;
  problem.options.training.epochs = 50;
  problem.options.network.encoder.dropout = 0;
  const LinkModel model = makeModel(problem.dataset, problem.options);
  TrainerSetup setup = problem.setup(testing::deviceUnderTest());
  LinkTrainer trainer(model, problem.dataset, problem.split.training, std::move(setup));
  TrainingState state = trainer.start();
  state.parameters.flat().fill_(1e30F);
  testing::expectFailure<Error>([&] { trainer.run(state, [](const TrainingState&) {}); },
                                "diverged at step");
}

// Should the draws that were looked at not be enough, missing pairs are drawn one by one.
TEST(DeviceSampler, FindsAllPairsWhereFewDrawsFit) {
  EDGEWISE_NEEDS_DEVICE();
  const ImitatedDevice imitated;
  std::vector<Edge> known;
  for (std::uint32_t i = 0; i < 60; ++i) {
    for (std::uint32_t j = i + 1; j < 60; ++j) {
      if ((i + j) % 4 != 0) {
        known.push_back(makeEdge(i, j));
      }
    }
  }
  DrawSpace space{.space = {.node_count = 60},
                  .known = CsrGraph::fromEdges(60, known, Direction::kDirected),
                  .candidates = {},
                  .fit = 1};
  const at::Device device = testing::deviceUnderTest();
  DeviceSampler sampler(known, space, device);
  const at::Tensor ends = at::zeros({500, 2}, at::TensorOptions(at::kInt).device(device));
  sampler.draw(CounterRng(1, "test"), at::Tensor(), ends);
  for (const Edge& pair : edgesIn(ends)) {
    EXPECT_LT(index(pair.src), index(pair.dst));
    EXPECT_EQ((index(pair.src) + index(pair.dst)) % 4, 0U);
  }
}

TEST(DeviceBatches, AreThoseOfTheHost) {
  EDGEWISE_NEEDS_DEVICE();
  const Problem problem(ModelCase{"Gae"});
  const BatchStream stream(problem.dataset, problem.split.training,
                           {.batch_size = 100, .negatives_per_positive = 3}, 9);
  const ImitatedDevice imitated;
  detail::DeviceBatches batches(stream, testing::deviceUnderTest());
  for (const std::uint64_t epoch : {0, 3}) {
    for (std::size_t number = 0; number < stream.batchesPerEpoch(); ++number) {
      const detail::DeviceBatch& got = batches.memoryFor(number);
      batches.fill(epoch, number);
      const EdgeBatch want = stream.batchOf(epoch, number);
      EXPECT_EQ(edgesIn(got.positive()), want.positive);
      EXPECT_EQ(edgesIn(got.negative()), want.negative);
    }
  }
}

TEST(DeviceBatches, AreThoseOfTheHostWhereNegativesKeepTheUser) {
  EDGEWISE_NEEDS_DEVICE();
  const Problem problem(ModelCase{"LightGcn", "lightgcn"});
  const BatchStream stream(problem.dataset, problem.split.training,
                           {.batch_size = 100, .negatives_per_positive = 5, .same_source = true},
                           9);
  const ImitatedDevice imitated;
  detail::DeviceBatches batches(stream, testing::deviceUnderTest());
  for (std::size_t number = 0; number < stream.batchesPerEpoch(); ++number) {
    batches.fill(2, number);
    const EdgeBatch want = stream.batchOf(2, number);
    EXPECT_EQ(edgesIn(batches.memoryFor(number).positive()), want.positive);
    EXPECT_EQ(edgesIn(batches.memoryFor(number).negative()), want.negative);
  }
}

// A graph with few non-edges left: the host lists them, and sends what it drew.
TEST(DeviceBatches, ComeFromTheHostWhereNegativesAreRare) {
  EDGEWISE_NEEDS_DEVICE();
  std::vector<Edge> edges;
  for (std::uint32_t i = 0; i < 40; ++i) {
    for (std::uint32_t j = i + 1; j < 40; ++j) {
      if ((i + j) % 39 != 0) {
        edges.push_back(makeEdge(i, j));
      }
    }
  }
  Dataset dataset;
  dataset.node_count = 40;
  dataset.edges.edges = edges;
  TrainingEdges training;
  training.message.table.edges = edges;
  training.supervision.table.edges = edges;
  const BatchStream stream(dataset, training, {.batch_size = 64}, 9);
  const ImitatedDevice imitated;
  ASSERT_FALSE(stream.drawSpace().has_value());
  detail::DeviceBatches batches(stream, testing::deviceUnderTest());
  batches.fill(1, 2);
  const EdgeBatch want = stream.batchOf(1, 2);
  EXPECT_EQ(edgesIn(batches.memoryFor(2).positive()), want.positive);
  EXPECT_EQ(edgesIn(batches.memoryFor(2).negative()), want.negative);
}

}  // namespace
}  // namespace edgewise
