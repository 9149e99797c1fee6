#include "edgewise/training/step_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/test_support.h"

namespace edgewise {
namespace {

using ::testing::ElementsAre;
using testing::expectFailure;

// 10 nodes, 20 entries, 30 entries of 6 features, two layers of 4, 3 links against 3 others, and a
// predictor 4 -> 4 -> 1.
StepSizes tinyGcn() {
  StepSizes sizes;
  sizes.nodes = 10;
  sizes.entries = 20;
  sizes.adds_self = true;
  sizes.features = 6;
  sizes.feature_entries = 30;
  sizes.layers = 2;
  sizes.hidden = 4;
  sizes.positives = 3;
  sizes.pairs = 6;
  sizes.predictor = {4, 4, 1};
  sizes.parameters = 100;
  return sizes;
}

void expectCounts(const StageCounts& counts, const StageCounts& expected) {
  EXPECT_EQ(counts.stage, expected.stage);
  EXPECT_EQ(counts.flops, expected.flops) << counts.stage;
  EXPECT_EQ(counts.streamed, expected.streamed) << counts.stage;
  EXPECT_EQ(counts.gathered, expected.gathered) << counts.stage;
}

TEST(StepFloor, CountsTheWorkOfAGcnStep) {
  const std::vector<StageCounts> counts = trainStepCounts(tinyGcn());
  ASSERT_EQ(counts.size(), 6U);
  // Six pairs of 8 bytes and three numbers of links; six looked up.
  expectCounts(counts[0], {"sample", 0, 6 * 8 + 3 * 4, 6 * 64});
  // Degrees, mask places and two scales of 8 bytes a node; its places counted (4 bytes, out and
  // in); a pair in and out, its two places and its label. Three links looked up.
  expectCounts(counts[1], {"index", 0, 10 * 32 + 10 * 8 + 6 * (16 + 8 + 4), 3 * 64});
  // A layer is 10 x 4 floats: 160 bytes. First layer: 30 entries in, as many rows of 16 bytes
  // picked. Second: a 10 x 4 x 4 product, its input read. Both: products out; then 20 neighbours of
  // 4 bytes, 10 offsets, the sums out, and 30 rows picked.
  expectCounts(counts[2], {"encode", 2 * 10 * 4 * 4, 30 * 8 + 160 + 2 * (160 + 80 + 80 + 160),
                           30 * 16 + 2 * 30 * 16});
  // Two rows picked a pair; what each of the predictor's layers reads, and the logits.
  expectCounts(counts[3], {"decode", 6 * 2 * (4 * 4 + 4), 6 * (16 + 16) + 6 * 4, 6 * 2 * 16});
  // Predictor: twice the products, its inputs again, gradients of the products out (96 bytes) and
  // picked by both ends along with the other end; the last layer's gradient out. Encoder: two
  // aggregations; two products for the second layer, whose input and gradient are read and whose
  // input's gradient is written; entries and rows once more.
  expectCounts(counts[4], {"backward", 2 * 240 + 2 * 320, 192 + 96 + 160 + 2 * 320 + 3 * 160 + 240,
                           2 * 96 + 6 * 2 * 16 + 2 * 480 + 480});
  expectCounts(counts[5], {"optimizer", 0, 100 * 8 * 4, 0});
  const StageCounts total = totalCounts(counts, "step");
  expectCounts(total,
               {"step", 1680, 60 + 568 + 1360 + 216 + 1808 + 3200, 384 + 192 + 1440 + 192 + 1824});
}

TEST(StepFloor, CountsTheWorkOfASageStepOnDenseInput) {
  StepSizes sizes = tinyGcn();
  sizes.adds_self = false;
  sizes.products_per_layer = 2;
  sizes.feature_entries = 0;
  sizes.embedding = 5;
  const std::vector<StageCounts> counts = trainStepCounts(sizes);
  ASSERT_EQ(counts.size(), 6U);
  // One scale a node.
  EXPECT_EQ(counts[1].streamed, 10 * 24 + 10 * 8 + 6 * 28);
  // Two products of 10 x 11 x 4 and two of 10 x 4 x 4. Input and first layer are read; of a layer's
  // two products both are written, and one is read again to be added to the sums of the other.
  expectCounts(counts[2], {"encode", 2 * 2 * 10 * (11 * 4 + 4 * 4),
                           10 * 11 * 4 + 160 + 2 * (3 * 160 + 320), 2 * 20 * 16});
  // Features have no gradient, the embedding has.
  expectCounts(counts[4], {"backward", 2 * 240 + 2 * 2 * 320 + 2 * 2 * 10 * (11 * 4 + 5 * 4),
                           192 + 96 + 160 + 2 * 320 + 4 * 160 + 10 * 11 * 4 + 2 * 160 + 10 * 5 * 4,
                           2 * 96 + 192 + 2 * 20 * 16});
}

TEST(StepFloor, CountsADotProductByItsEndsAlone) {
  StepSizes sizes = tinyGcn();
  sizes.predictor = {};
  const std::vector<StageCounts> counts = trainStepCounts(sizes);
  expectCounts(counts[3], {"decode", 0, 6 * 4, 6 * 2 * 16});
  EXPECT_EQ(counts[4].gathered, 6 * 2 * 16 + 2 * 480 + 480);
}

// Layers of sums alone: K aggregations either way, a node's own row beside each.
TEST(StepFloor, CountsTheWorkOfALightGcnStep) {
  StepSizes sizes = tinyGcn();
  sizes.adds_self = false;
  sizes.recommends = true;
  sizes.products_per_layer = 0;
  sizes.features = 0;
  sizes.feature_entries = 0;
  sizes.predictor = {};
  const std::vector<StageCounts> counts = trainStepCounts(sizes);
  ASSERT_EQ(counts.size(), 6U);
  // A layer's sums are 20 columns and 10 offsets in, 160 bytes out; 160 more are the own rows.
  expectCounts(counts[2], {"encode", 0, 2 * (80 + 80 + 160 + 160), 2 * 20 * 16});
  expectCounts(counts[3], {"decode", 0, 6 * 4, 6 * 2 * 16});
  expectCounts(counts[4],
               {"backward", 0, 160 + 2 * (80 + 80 + 160 + 160), 6 * 2 * 16 + 2 * 20 * 16});
}

// The same with a selector 4 -> 5 -> 1: 50 flops a view, of which a pair has four.
StepSizes tinySelected() {
  StepSizes sizes = tinyGcn();
  sizes.decoded_layers = 2;
  sizes.selector = {4, 5, 1};
  sizes.selector_parameters = 31;
  return sizes;
}

TEST(StepFloor, CountsTheChoiceOfViewsForNewPairs) {
  const std::vector<StageCounts> counts = trainStepCounts(tinySelected());
  ASSERT_EQ(counts.size(), 7U);
  // Three pairs: four scores each out, two layers' rows of both ends in.
  expectCounts(counts[2], {"choose", 3 * 4 * 50, 3 * 4 * 4, 3 * 4 * 16});
  // A pair reads one row at each end, but gradients go to both layers.
  expectCounts(counts[4], {"decode", 240, 216, 192});
  EXPECT_EQ(counts[5].streamed, 1808 + 160);
}

TEST(StepFloor, CountsThePassesOfASearchStep) {
  const StepSizes sizes = tinySelected();
  const auto counts = searchStepCounts({sizes, sizes}, SearchOrder::kSecond);
  ASSERT_EQ(counts.size(), 9U);
  expectCounts(counts[0], {"sample", 0, 2 * 60, 2 * 384});
  expectCounts(counts[1], {"index", 0, 568 + 10 * 8 + 6 * 28, 192});
  // Forth: layers (320 flops), predictor (240) and 24 views through the selector; both layers' rows
  // of both ends are picked; weights of 24 views out and in. The model's own step finds the layers
  // of the virtual one.
  expectCounts(counts[6], {"forward", 240 + 1200, 216 + 192, 384});
  // Back to the model: what training costs with both layers' gradients written and both ends' rows
  // of both picked, and once through the selector.
  const StageCounts back{"backward", 1120 + 1200, 1808 + 160 + 192, 1824 + 192};
  expectCounts(counts[7], back);
  expectCounts(counts[2], {"virtual", 1760 + 2320, 1768 + 2160, 1824 + 2016});
  // Both gradients: the selector's weights too.
  expectCounts(counts[3], {"upper", 1760 + 2320 + 1200, 1768 + 2160, 1824 + 2016});
  // To the selector alone: through the predictor, to its weights, and from its last layer down to
  // the first (10 flops a view). Twice.
  expectCounts(counts[4], {"difference", 2 * (1760 + 240 + 24 * 60), 2 * (1768 + 192 + 192),
                           2 * (1824 + 384)});
  expectCounts(counts[5], {"selector", 0, 31 * 8 * 4, 0});
  expectCounts(counts[8], {"optimizer", 0, 100 * 8 * 4, 0});
}

TEST(StepFloor, CountsTheFirstOrderWithoutAVirtualStep) {
  const StepSizes sizes = tinySelected();
  std::vector<std::string> names;
  const auto first = searchStepCounts({sizes, sizes}, SearchOrder::kFirst);
  for (const StageCounts& counts : first) {
    names.push_back(counts.stage);
  }
  const auto second = searchStepCounts({sizes, sizes}, SearchOrder::kSecond);
  const auto upper = std::ranges::find(second, "upper", &StageCounts::stage);
  ASSERT_NE(upper, second.end());
  EXPECT_LT(first[2].gathered, upper->gathered) << "nothing goes back through the encoder";
  EXPECT_THAT(names, ElementsAre("sample", "index", "upper", "selector", "forward", "backward",
                                 "optimizer"));
  expectFailure<ConfigError>([&] { (void)searchStepCounts({sizes, sizes}, SearchOrder::kExact); },
                             "exact");
}

TEST(StepFloor, AddsUpTheTimesOfAllThreeKinds) {
  const StageCounts counts{.stage = "any", .flops = 100, .streamed = 30, .gathered = 8};
  EXPECT_DOUBLE_EQ(floorSeconds(counts, {.flops = 50, .streamed = 10, .gathered = 2}), 2 + 3 + 4);
}

// A small case as the program would make it.
struct Subject {
  explicit Subject(const std::string& model, const std::string& selector = "none")
      : dataset(makeSizedGraph(
            {.nodes = 60, .edges = 200, .features = 20, .feature_entries = 300, .seed = 1})) {
    options.model = model;
    options.network.encoder.layers = 2;
    options.network.encoder.hidden = 8;
    options.network.selector.kind = selector;
    options.training.batch_size = 16;
    split = splitLinks(dataset, options.split, options.negatives, 0);
  }

  Dataset dataset;
  RunOptions options;
  LinkSplit split;
};

constexpr BenchEffort kHasty{.steps = 3, .warm_up = 1, .step_seconds = 0, .rate_seconds = 0.001};

StepMeasurement measure(const Subject& subject) {
  const MachineRates machine{.product = {.shape = {}, .flops = 1e9}, .memory = 1e9};
  return measureTrainStep({subject.dataset, subject.split.training, subject.options}, machine,
                          kHasty);
}

TEST(StepBench, TakesSizesFromModelAndData) {
  const Subject subject("gae");
  const StepSizes sizes = measure(subject).sizes;
  const std::size_t messages = subject.split.training.message.table.size();
  EXPECT_EQ(sizes.nodes, 60);
  // Both directions of the messages but those of the batch's 16 links.
  EXPECT_EQ(sizes.entries, static_cast<double>(2 * messages - 2 * 16));
  EXPECT_TRUE(sizes.adds_self);
  EXPECT_EQ(sizes.products_per_layer, 1);
  EXPECT_EQ(sizes.features, 20);
  EXPECT_EQ(sizes.feature_entries, 300);
  EXPECT_EQ(sizes.embedding, 0);
  EXPECT_EQ(sizes.positives, 16);
  EXPECT_EQ(sizes.pairs, 32);
  EXPECT_THAT(sizes.predictor, ElementsAre(8, 8, 8, 1));
  EXPECT_EQ(sizes.parameters, (20 * 8 + 8) + (8 * 8 + 8) + 2 * (8 * 8 + 8) + (8 + 1));
}

TEST(StepBench, MeasuresRecommenders) {
  Subject subject("lightgcn");
  subject.dataset = makeSizedGraph({.nodes = 60, .edges = 300, .users = 20});
  subject.options.network.predictor.kind = "dot";
  subject.options.network.loss.kind = "bpr";
  subject.options.negatives.per_positive = 1;
  subject.split = splitLinks(subject.dataset, {}, subject.options.negatives, 0);
  const StepMeasurement light = measure(subject);
  EXPECT_TRUE(light.sizes.recommends);
  EXPECT_EQ(light.sizes.products_per_layer, 0);
  EXPECT_EQ(light.sizes.parameters, 60 * 8);
  EXPECT_EQ(light.sizes.rows_read_per_pair, 2);
  EXPECT_EQ(light.sizes.embedding, 0);
  EXPECT_GT(light.whole.floor, 0);
  subject.options.model = "ngcf";
  const StepSizes ngcf = measure(subject).sizes;
  EXPECT_EQ(ngcf.products_per_layer, 2);
  EXPECT_EQ(ngcf.rows_read_per_pair, 2 * (ngcf.layers + 1));
  subject.options.network.encoder.depth_zero = true;
  expectFailure<ConfigError>([&] { (void)measure(subject); }, "begin at 1 hop");
}

TEST(StepBench, CountsViewsBySelector) {
  const StepSizes fixed = measure(Subject("sage", "fixed:1,2")).sizes;
  EXPECT_EQ(fixed.products_per_layer, 2);
  EXPECT_FALSE(fixed.adds_self);
  EXPECT_EQ(fixed.decoded_layers, 2);
  EXPECT_EQ(fixed.rows_read_per_pair, 4);
  EXPECT_EQ(fixed.scored_per_pair, 2);
  EXPECT_EQ(measure(Subject("gae", "fixed:1,1")).sizes.layers, 1);
  const StepSizes mean = measure(Subject("gae", "mean")).sizes;
  EXPECT_EQ(mean.decoded_layers, 2);
  EXPECT_EQ(mean.rows_read_per_pair, 4);
  EXPECT_EQ(mean.scored_per_pair, 4);
}

std::vector<std::string> timedStages(const StepMeasurement& measured) {
  std::vector<std::string> names;
  for (const Stage& stage : measured.stages) {
    names.push_back(stage.name());
    EXPECT_GT(stage.time.median, 0) << stage.name();
    EXPECT_GT(stage.floor, 0) << stage.name();
  }
  return names;
}

TEST(StepBench, TimesSearchAndApplicationOfASelector) {
  Subject subject("gae", "ps2");
  subject.options.network.selector.layers = 3;
  subject.options.network.selector.hidden = 12;
  const StepMeasurement applied = measure(subject);
  EXPECT_THAT(timedStages(applied), ElementsAre("sample", "index", "choose", "encode", "decode",
                                                "backward", "optimizer"));
  EXPECT_THAT(applied.sizes.selector, ElementsAre(8, 12, 12, 1));
  EXPECT_EQ(applied.sizes.selector_parameters, (8 * 12 + 12) + (12 * 12 + 12) + (12 + 1));
  const MachineRates machine{.product = {.shape = {}, .flops = 1e9}, .memory = 1e9};
  for (const char* holdout : {"valid", "rotate"}) {
    subject.options.network.selector.holdout = holdout;
    const StepMeasurement searched = measureSearchStep(
        {subject.dataset, subject.split.training, subject.options}, machine, kHasty);
    EXPECT_THAT(timedStages(searched),
                ElementsAre("sample", "index", "virtual", "upper", "difference", "selector",
                            "forward", "backward", "optimizer"));
  }
}

TEST(StepBench, TimesEveryStageAndTheWhole) {
  const StepMeasurement measured = measure(Subject("sage"));
  EXPECT_EQ(measured.steps, 3U);
  std::vector<std::string> names;
  for (const Stage& stage : measured.stages) {
    names.push_back(stage.name());
    EXPECT_GT(stage.time.median, 0) << stage.name();
    EXPECT_LE(stage.time.low, stage.time.median) << stage.name();
    EXPECT_GE(stage.time.high, stage.time.median) << stage.name();
    EXPECT_GT(stage.floor, 0) << stage.name();
  }
  EXPECT_THAT(names, ElementsAre("sample", "index", "encode", "decode", "backward", "optimizer"));
  EXPECT_GT(measured.whole.time.median, 0);
  EXPECT_GT(measured.whole.floor, 0);
  EXPECT_EQ(measured.products.size(), 2U);
}

TEST(StepBench, HoldsStepsToTheRatesOfTheMachine) {
  const StepMeasurement measured = measure(Subject("gae"));
  EXPECT_GE(measured.rates.flops, 1e9);
  EXPECT_GE(measured.rates.streamed, 1e9);
  EXPECT_GT(measured.rates.gathered, 0);
  double floors = 0;
  for (const Stage& stage : measured.stages) {
    floors += stage.floor;
  }
  EXPECT_NEAR(measured.whole.floor, floors, 1e-9 * floors);
}

// A warm start does other steps than those that search.
TEST(StepBench, MeasuresTheSearchBeyondItsWarmStart) {
  Subject subject("gae", "ps2");
  subject.options.network.selector.warmup = 10;
  const MachineRates machine{.product = {.shape = {}, .flops = 1e9}, .memory = 1e9};
  const StepMeasurement searched = measureSearchStep(
      {subject.dataset, subject.split.training, subject.options}, machine, kHasty);
  EXPECT_THAT(timedStages(searched), ::testing::Contains("selector"));
}

TEST(StepBench, RefusesASelectorThatIsNotCounted) {
  Subject subject("gae", "ps2");
  subject.options.network.selector.mix = "score";
  expectFailure<ConfigError>([&] { (void)measure(subject); }, "representations");
}

TEST(StepBench, RefusesAModelWithoutSteps) {
  expectFailure<ConfigError>([] { (void)measure(Subject("ra")); }, "ra");
}

TEST(StepBench, SummarisesByTheNearestTimesThatOccurred) {
  const StageTime time = summariseTimes({11, 1, 10, 2, 9, 3, 8, 4, 7, 5, 6});
  EXPECT_EQ(time.median, 6);
  EXPECT_EQ(time.low, 2);
  EXPECT_EQ(time.high, 10);
  const StageTime one = summariseTimes({3});
  EXPECT_EQ(one.median, 3);
  EXPECT_EQ(one.low, 3);
  EXPECT_EQ(one.high, 3);
}

TEST(StepBench, WarmsUpAndRestsOutsideTheMeasurement) {
  std::size_t calls = 0;
  std::size_t rests = 0;
  const StepTimes times = timeSteps(
      [&](StageWatch& stages) {
        ++calls;
        // A stage of the warm-up alone is forgotten.
        stages.ended(calls <= 2 ? "early" : "late");
      },
      [&] { ++rests; }, {.steps = 4, .warm_up = 2, .step_seconds = 0});
  EXPECT_EQ(calls, 6U);
  EXPECT_EQ(rests, 6U);
  EXPECT_EQ(times.steps, 4U);
  ASSERT_EQ(times.stages.size(), 1U);
  EXPECT_EQ(times.stages[0].stage, "late");
}

TEST(StepBench, KnowsItsCases) {
  for (const BenchCase& each : benchCases()) {
    RunOptions options;
    OptionSet set = options.bind();
    for (const OptionText& setting : each.settings) {
      set.set(setting.key, setting.value, each.name());
    }
    EXPECT_EQ(&findBenchCase(each.name()), &each);
  }
  EXPECT_EQ(findBenchCase("pubmed").graph.edges, 44'324U);
  expectFailure<ConfigError>([] { (void)findBenchCase("colab"); }, "'colab'");
}

}  // namespace
}  // namespace edgewise
