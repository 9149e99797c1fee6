#include "edgewise/serving/explanation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>

#include "edgewise/graph/bfs.h"
#include "edgewise/serving/link_predictor.h"
#include "edgewise/training/link_trainer.h"
#include "edgewise/training/model_scorer.h"
#include "edgewise/training/stored_model.h"
#include "support/finished_run.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::expectFailure;
using testing::quickOptions;

const std::vector<std::string> kSelectors = {"ps2", "rs", "mean", "jk", "none", "fixed:1,2"};

class FinishedRun : public testing::FinishedRun {
 public:
  using testing::FinishedRun::FinishedRun;

  [[nodiscard]] Explanation explain(Edge pair) const { return explainPair(served(), pair); }
  // A few of the pairs that were tested, links and others, by their place in test_scores.
  [[nodiscard]] std::vector<std::pair<std::size_t, Edge>> someTested() const {
    const TestEdges& test = served().split.test;
    std::vector<std::pair<std::size_t, Edge>> some;
    for (std::size_t i = 0; i < 6; ++i) {
      some.emplace_back(i, test.positive.edges[i]);
      some.emplace_back(test.positive.size() + i, test.negative.edges[i]);
    }
    return some;
  }
};

const ViewShare& heaviest(const Explanation& told) {
  return *std::ranges::max_element(told.views, {}, &ViewShare::weight);
}

double totalWeight(const Explanation& told) {
  return std::accumulate(told.views.begin(), told.views.end(), 0.0,
                         [](double sum, const ViewShare& share) { return sum + share.weight; });
}

TEST(ExplainPair, TellsScoreAndViewOfTestPairsAsTheRunDid) {
  for (const std::string& selector : kSelectors) {
    const FinishedRun run(quickOptions("gae", selector));
    const auto& views = run.reported().test_views;
    const ScoreCalibration calibration = calibrateRun(run.served());
    for (const auto& [place, pair] : run.someTested()) {
      const Explanation told = run.explain(pair);
      EXPECT_NEAR(told.score, run.reported().test_scores[place], 1e-5) << selector;
      EXPECT_EQ(told.probability, calibration.probability(told.score)) << selector;
      EXPECT_NEAR(totalWeight(told), 1, 1e-5) << selector;
      if (!views.empty()) {
        EXPECT_EQ(told.view, views[place]) << selector;
        EXPECT_EQ(heaviest(told).view, views[place]) << selector;
      }
    }
  }
}

TEST(ExplainPair, ShowsWhatEachSelectorWeighsBy) {
  const auto told = [](const std::string& selector) {
    const FinishedRun run(quickOptions("sage", selector));
    return run.explain(run.served().split.test.positive.edges.front());
  };
  const Explanation ps2 = told("ps2");
  ASSERT_EQ(ps2.views.size(), 4U);
  // weight_a / weight_b = exp((score_a - score_b) / temperature)
  EXPECT_NEAR(std::log(ps2.views[0].weight / ps2.views[3].weight),
              (*ps2.views[0].score - *ps2.views[3].score) / SelectorOptions().temperature, 1e-3);
  const Explanation mean = told("mean");
  double sum = 0;
  for (const ViewShare& share : mean.views) {
    sum += *share.score * share.weight;
  }
  EXPECT_NEAR(sum, mean.score, 1e-5);
  EXPECT_EQ(mean.view, std::nullopt);
  EXPECT_EQ(mean.source.hops, 2);
  const Explanation jk = told("jk");
  EXPECT_EQ(jk.views.size(), 4U);
  EXPECT_EQ(jk.views[1].weight, jk.views[2].weight) << "pairs have no direction";
  EXPECT_NE(jk.views[0].weight, jk.views[3].weight) << "shares are learned";
  const Explanation rs = told("rs");
  EXPECT_EQ(heaviest(rs).weight, 1);
  EXPECT_EQ(rs.views[0].score, std::nullopt);
  const Explanation none = told("none");
  ASSERT_EQ(none.views.size(), 1U);
  EXPECT_EQ(none.view, (HopPair{2, 2}));
  const Explanation fixed = told("fixed:2,1");
  ASSERT_EQ(fixed.views.size(), 2U) << "both ways, since pairs have no direction";
  EXPECT_EQ(fixed.views[0].view, (HopPair{1, 2}));
  EXPECT_EQ(fixed.view, std::nullopt);
}

// Several views count: none is the one, and the others count for nothing.
TEST(ExplainPair, WeighsTheViewsThatWereUsed) {
  for (const char* mix : {"representation", "score"}) {
    RunOptions options = quickOptions("gae");
    options.network.selector.kind = "ps2";
    options.network.selector.mix = mix;
    options.network.selector.top = 2;
    options.network.selector.apply = "joint";
    options.network.selector.temperature = 1;
    const FinishedRun run(options);
    for (const auto& [place, pair] : run.someTested()) {
      const Explanation told = run.explain(pair);
      EXPECT_NEAR(told.score, run.reported().test_scores[place], 1e-4);
      EXPECT_FALSE(told.view.has_value());
      double total = 0;
      std::size_t used = 0;
      for (const ViewShare& share : told.views) {
        total += share.weight;
        used += share.weight > 0 ? 1 : 0;
      }
      EXPECT_NEAR(total, 1, 1e-6);
      EXPECT_EQ(used, 2U);
    }
  }
}

TEST(ExplainPair, TellsWhatDegreesAddToTheScore) {
  RunOptions options = quickOptions("gae", "ps2");
  options.network.selector.degrees = "views+score";
  options.network.selector.learning_rate = 0.1;
  const FinishedRun run(options);
  const Explanation told = run.explain(run.served().split.test.positive.edges.front());
  ASSERT_TRUE(told.by_degrees.has_value());
  EXPECT_NE(*told.by_degrees, 0);
  EXPECT_EQ(told.toJson()["by_degrees"], *told.by_degrees);
  const FinishedRun plain(quickOptions("gae", "ps2"));
  const Edge pair = plain.served().split.test.positive.edges.front();
  EXPECT_TRUE(plain.explain(pair).toJson()["by_degrees"].is_null());
}

TEST(ExplainPair, MirrorsTheTurnedPair) {
  for (const std::string& selector : kSelectors) {
    const FinishedRun run(quickOptions("gae", selector));
    for (const auto& [place, pair] : run.someTested()) {
      const Explanation told = run.explain(pair);
      const Explanation turned = run.explain(reversed(pair));
      EXPECT_NEAR(told.score, turned.score, 1e-5) << selector;
      ASSERT_EQ(told.views.size(), turned.views.size());
      for (const ViewShare& share : told.views) {
        const HopPair mirrored{share.view.target, share.view.source};
        const auto twin = std::ranges::find(turned.views, mirrored, &ViewShare::view);
        ASSERT_NE(twin, turned.views.end()) << selector;
        EXPECT_NEAR(share.weight, twin->weight, 1e-4) << selector;
        EXPECT_NEAR(share.score.value_or(0), twin->score.value_or(0), 1e-5) << selector;
      }
      EXPECT_EQ(told.source.id, turned.target.id);
      EXPECT_EQ(told.source.hops, turned.target.hops);
      EXPECT_EQ(told.source.nodes, turned.target.nodes);
      EXPECT_EQ(told.target.degree, turned.source.degree);
      EXPECT_EQ(told.nodes, turned.nodes);
    }
  }
}

TEST(ExplainPair, LeavesAKnownEdgeOutOfItsOwnExplanation) {
  const FinishedRun run(quickOptions("gae", "ps2"));
  const ServedRun& served = run.served();
  MessageEdges messages = served.split.training.message;
  const std::size_t all = messages.table.size();
  const Edge pair = messages.table.edges[7];
  const Explanation told = run.explain(reversed(pair));
  EXPECT_TRUE(told.left_out);
  EXPECT_EQ(told.parts, (std::vector<std::string>{"train"}));
  EXPECT_EQ(told.message_edges, all - 1);

  messages.table.edges.erase(messages.table.edges.begin() + 7);
  messages.table.edge_class.clear();
  const CsrGraph graph = messageGraph(served.dataset, messages);
  EXPECT_EQ(told.source.degree, graph.degree(pair.dst));
  EXPECT_EQ(told.target.degree, graph.degree(pair.src));
  const auto hops = static_cast<std::uint32_t>(*told.source.hops);
  EXPECT_EQ(told.source.nodes, hopBall(graph, pair.dst, hops).size());

  const RunOptions& options = served.stored.options;
  const LinkModel model = makeModel(served.dataset, options);
  const ModelWeights weights =
      readModel(run.folder(), model, {options, served.stored.data_hash, served.stored.split_hash});
  const auto chooser = chooserOf(model, weights, options, served.dataset);
  const ModelScorer scorer(model, weights.model,
                           planMessages(model, served.dataset, messages, true), chooser.get());
  EXPECT_NEAR(told.score, scorer.score(std::vector<Edge>{pair}, silentProgress()).front(), 1e-5);
}

TEST(ExplainPair, KnowsThePartsOfTheSplit) {
  RunOptions options = quickOptions("ra");
  const FinishedRun run(options);
  const LinkSplit& split = run.served().split;
  const Explanation valid = run.explain(split.training.valid.positive.edges.front());
  EXPECT_EQ(valid.parts, (std::vector<std::string>{"valid"}));
  EXPECT_FALSE(valid.left_out);
  EXPECT_EQ(valid.carried, "train");
  EXPECT_EQ(run.explain(split.test.positive.edges.front()).parts,
            (std::vector<std::string>{"test"}));
  EXPECT_TRUE(run.explain(split.test.negative.edges.front()).parts.empty());
  options.split.message_at_test = "train+valid";
  const FinishedRun more(options);
  EXPECT_TRUE(more.explain(split.training.valid.positive.edges.front()).left_out);
}

TEST(ExplainPair, AddsUpCommonNeighbours) {
  for (const std::string model : {"cn", "aa", "ra", "jaccard"}) {
    const FinishedRun run(quickOptions(model));
    std::size_t found = 0;
    for (const Edge& pair : std::span(run.served().dataset.edges.edges).first(60)) {
      const Explanation told = run.explain(pair);
      double sum = 0;
      for (const CommonNeighbour& node : told.common) {
        sum += *node.adds;
      }
      found += told.common.size();
      EXPECT_NEAR(told.score, sum, 1e-9) << model;
      EXPECT_TRUE(told.probability.has_value());
      EXPECT_TRUE(told.views.empty());
    }
    EXPECT_GT(found, 0U);
  }
}

TEST(ExplainPair, TellsWhatAFormulaIsMadeOfWithoutThePairItself) {
  const FinishedRun run(quickOptions("pa"));
  const ServedRun& served = run.served();
  const CsrGraph graph = messageGraph(served.dataset, served.split.training.message);
  const Edge pair = served.split.training.message.table.edges.front();
  const Explanation told = run.explain(pair);
  EXPECT_EQ(told.source.degree, graph.degree(pair.src) - 1);
  EXPECT_EQ(told.score,
            static_cast<double>((graph.degree(pair.src) - 1) * (graph.degree(pair.dst) - 1)));
  const FinishedRun walks(quickOptions("ppr"));
  for (const auto& [place, tested] : walks.someTested()) {
    const Explanation far = walks.explain(tested);
    EXPECT_NEAR(far.score, walks.reported().test_scores[place], 1e-9);
    EXPECT_EQ(far.source.hops, std::nullopt);
  }
}

TEST(ExplainPair, SpeaksJson) {
  const FinishedRun run(quickOptions("gae", "ps2"));
  const Edge pair = run.served().split.test.positive.edges.front();
  const Explanation told = run.explain(pair);
  const nlohmann::ordered_json json = told.toJson();
  EXPECT_EQ(json["pair"], nlohmann::ordered_json::array({told.source.id, told.target.id}));
  EXPECT_EQ(json["selector"], "ps2");
  EXPECT_EQ(json["score"], told.score);
  EXPECT_EQ(json["view"]["source"], told.view->source);
  ASSERT_EQ(json["views"].size(), 4U);
  EXPECT_EQ(json["views"][1]["target"], 2);
  EXPECT_EQ(json["views"][1]["weight"], told.views[1].weight);
  EXPECT_EQ(json["ends"][0]["degree"], told.source.degree);
  EXPECT_EQ(json["known"]["parts"][0], "test");
  EXPECT_EQ(json["messages"]["left_out"], false);
  const FinishedRun formula(quickOptions("katz"));
  const nlohmann::ordered_json short_json = formula.explain(pair).toJson();
  EXPECT_TRUE(short_json["selector"].is_null());
  EXPECT_TRUE(short_json["ends"][0]["hops"].is_null());
  EXPECT_TRUE(short_json["common_neighbours"].is_array());
}

TEST(ExplainPair, KeepsTheOrderOfDirectedPairs) {
  testing::TempFolder files;
  for (const std::string model : {"gae", "cn"}) {
    RunOptions options = quickOptions(model, model == "gae" ? "fixed:1,2" : "none");
    options.data.dataset = "";
    options.data.edges = files.write("arrows.csv", testing::arrowsText()).string();
    options.data.directed = true;
    const FinishedRun run(options);
    const Edge pair = run.served().split.training.message.table.edges.front();
    EXPECT_TRUE(run.explain(pair).left_out);
    EXPECT_FALSE(run.explain(reversed(pair)).left_out);
    EXPECT_TRUE(run.explain(reversed(pair)).parts.empty());
    if (model == "gae") {
      EXPECT_EQ(run.explain(pair).view, (HopPair{1, 2}));
    }
  }
}

TEST(ExplainPair, TellsADamagedOrForeignModelApart) {
  const FinishedRun run(quickOptions("gae", "ps2"));
  const Edge pair = run.served().split.test.positive.edges.front();
  const auto path = run.folder() / kModelFile;
  const auto refused = [&](std::string_view fragment) {
    expectFailure<DataError>([&] { (void)run.explain(pair); }, fragment);
  };
  const FinishedRun other(quickOptions("gae", "rs"));
  const auto replace = std::filesystem::copy_options::overwrite_existing;
  std::filesystem::copy_file(other.folder() / kModelFile, path, replace);
  refused("trained with selector.kind=\"rs\"");
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  refused("ends early");
  std::ofstream(path) << "not tensors at all";
  refused(kModelFile);
  std::filesystem::remove(path);
  refused("is missing");
}

TEST(ServeRun, RefusesWhatIsUnfinishedOrChanged) {
  const FinishedRun run(quickOptions("cn"));
  StoredRun stored = run.served().stored;
  stored.options.planted.seed = 1;
  expectFailure<DataError>([&] { (void)serveRun(stored, {}); }, "the data has changed");
  std::filesystem::remove(run.folder() / "metrics.json");
  expectFailure<DataError>([&] { (void)readStoredRun(run.folder()); }, "did not finish");
  expectFailure<DataError>([&] { (void)readStoredRun(run.folder() / "nowhere"); },
                           "no such run folder");
}

}  // namespace
}  // namespace edgewise
