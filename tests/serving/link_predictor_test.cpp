#include "edgewise/serving/link_predictor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "edgewise/data/open_dataset.h"
#include "edgewise/util/parallel.h"
#include "support/finished_run.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::expectFailure;
using testing::FinishedRun;
using testing::quickOptions;

LinkPredictor predictorOf(const FinishedRun& run, std::string_view messages = {}) {
  return {run.served().stored, run.served().dataset, runGraph(run.served(), messages),
          calibrateRun(run.served()), &run.served().split};
}

bool isKnown(const Dataset& dataset, Edge pair) {
  return std::ranges::any_of(dataset.edges.edges, [&](Edge edge) {
    return edge == pair || (dataset.direction == Direction::kUndirected && edge == reversed(pair));
  });
}

// All pairs of a source with what could be its targets, scored one by one and sorted.
std::vector<Prediction> bruteForce(const LinkPredictor& predictor, const Dataset& dataset,
                                   NodeId source, std::span<const NodeId> targets) {
  std::vector<Edge> pairs;
  for (const NodeId target : targets) {
    if (target != source && !isKnown(dataset, {source, target})) {
      pairs.push_back({source, target});
    }
  }
  std::vector<Prediction> all = predictor.scorePairs(pairs);
  std::ranges::stable_sort(all, {}, &Prediction::rank);
  return all;
}

constexpr double kRounding = 2e-5;
// Subgraphs are pooled in the order of what the network made of their nodes, and of many views the
// best few are kept: where two are as good, rounding decides, and with it the pairs of a batch.
constexpr double kRoundedOrder = 1e-3;

// Entry by entry; where scores are closer than rounding either order will do.
void expectSameList(std::span<const Prediction> found, std::span<const Prediction> all,
                    std::size_t top, const std::string& name, double rounding) {
  ASSERT_EQ(found.size(), std::min(top, all.size())) << name;
  std::set<Edge> seen;
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].rank, i + 1);
    EXPECT_NEAR(found[i].score, all[i].score, rounding) << name << " " << i;
    const auto twin = std::ranges::find(all, found[i].pair, &Prediction::pair);
    ASSERT_NE(twin, all.end()) << name << ": a pair that is no candidate";
    EXPECT_NEAR(found[i].score, twin->score, rounding) << name;
    EXPECT_EQ(found[i].view, twin->view) << name;
    EXPECT_NEAR(*found[i].probability, *twin->probability, rounding) << name;
    EXPECT_TRUE(seen.insert(found[i].pair).second) << name << ": a pair twice";
  }
}

void expectBruteForce(const FinishedRun& run, std::size_t top, const std::string& name,
                      double rounding = kRounding) {
  const LinkPredictor predictor = predictorOf(run);
  const TopRequest request = predictor.requestForAll(top);
  std::size_t sources = 0;
  predictor.topOfAll(request, [&](std::span<const Prediction> found) {
    const NodeId source = request.sources[sources++];
    const auto all = bruteForce(predictor, run.served().dataset, source, request.targets);
    expectSameList(found, all, top, name, rounding);
  });
  EXPECT_EQ(sources, request.sources.size()) << name;
  const NodeId one = request.sources[sources / 3];
  expectSameList(predictor.topOf(one, top),
                 bruteForce(predictor, run.served().dataset, one, request.targets), top, name,
                 rounding);
}

TEST(LinkPredictor, FindsWhatBruteForceFindsWithEverySelector) {
  for (const std::string selector : {"none", "fixed:1,2", "mean", "jk", "rs", "ps2"}) {
    expectBruteForce(FinishedRun(quickOptions("gae", selector)), 7, "gae " + selector);
  }
  expectBruteForce(FinishedRun(quickOptions("sage", "ps2")), 3, "sage ps2");
  for (const std::string predictor : {"dot", "concat"}) {
    RunOptions options = quickOptions("sage", "none");
    options.network.predictor.kind = predictor;
    expectBruteForce(FinishedRun(options), 5, predictor);
  }
}

TEST(LinkPredictor, FindsWhatBruteForceFindsWithViewsFromTwoHopsOn) {
  for (const std::string selector : {"none", "fixed:2,3", "mean", "jk", "rs", "ps2"}) {
    RunOptions options = quickOptions("gae", selector);
    options.network.encoder.layers = 3;
    options.network.encoder.first_depth = 2;
    const FinishedRun run(options);
    expectBruteForce(run, 4, selector);
    for (const HopPair view : run.reported().test_views) {
      EXPECT_GE(std::min(view.source, view.target), 2);
    }
    options.network.encoder.first_depth = 1;
    const bool same = selector == "none" || selector == "fixed:2,3";
    EXPECT_EQ(FinishedRun(options).reported().test_scores == run.reported().test_scores, same);
  }
}

TEST(LinkPredictor, FindsWhatBruteForceFindsInSubgraphs) {
  RunOptions options = quickOptions("seal", "rs");
  options.subgraph.hops = 2;
  expectBruteForce(FinishedRun(options), 3, "seal rs", kRoundedOrder);
  options.network.selector.kind = "ps2";
  expectBruteForce(FinishedRun(options), 3, "seal ps2", kRoundedOrder);
  options.network.selector.temperature = 1;
  options.network.selector.top = 3;
  expectBruteForce(FinishedRun(options), 3, "seal ps2 by three views", kRoundedOrder);
}

TEST(LinkPredictor, FindsWhatBruteForceFindsWithFormulas) {
  for (const std::string model : {"cn", "aa", "ra", "jaccard", "pa", "katz", "ppr"}) {
    expectBruteForce(FinishedRun(quickOptions(model)), 4, model);
  }
}

TEST(LinkPredictor, KeepsTheDirectionOfLinks) {
  testing::TempFolder files;
  for (const std::string model : {"gae", "cn"}) {
    RunOptions options = quickOptions(model, model == "gae" ? "fixed:1,2" : "none");
    options.data.dataset = "";
    options.data.edges = files.write("arrows.csv", testing::arrowsText()).string();
    options.data.directed = true;
    const FinishedRun run(options);
    EXPECT_FALSE(predictorOf(run).requestForAll(3).mutual);
    expectBruteForce(run, 6, "directed " + model);
  }
}

TEST(LinkPredictor, RecommendsUnseenItemsToUsers) {
  testing::TempFolder files;
  std::string text = "user,item\n";
  for (int user = 0; user < 30; ++user) {
    for (int i = 0; i < 6; ++i) {
      text += "u" + std::to_string(user) + ",i" +
              std::to_string((user % 3 * 10 + i * i + user) % 25) + "\n";
    }
  }
  for (const std::string model : {"gae", "lightgcn", "ppr"}) {
    RunOptions options = quickOptions(model, model == "lightgcn" ? "fixed:1,2" : "none");
    options.data.dataset = "";
    options.data.edges = files.write("shop.csv", text).string();
    options.data.bipartite = true;
    const FinishedRun run(options);
    const Dataset& dataset = run.served().dataset;
    const std::size_t users = dataset.bipartite->users;
    const LinkPredictor predictor = predictorOf(run);
    const TopRequest request = predictor.requestForAll(5);
    EXPECT_EQ(request.sources.size(), users);
    for (const NodeId target : request.targets) {
      EXPECT_GE(index(target), users);
    }
    expectBruteForce(run, 5, "bipartite " + model);
    const NodeId item{static_cast<std::uint32_t>(users)};
    const std::vector<Prediction> buyers = predictor.topOf(item, 4);
    for (const Prediction& buyer : buyers) {
      // Whichever end is asked about, the user is the source.
      const std::vector<Edge> told = {reversed(buyer.pair)};
      EXPECT_NEAR(predictor.scorePairs(told).front().score, buyer.score, 1e-4);
    }
    for (const Prediction& buyer : buyers) {
      EXPECT_LT(index(buyer.pair.dst), users);
      EXPECT_FALSE(isKnown(dataset, reversed(buyer.pair)));
    }
  }
}

TEST(LinkPredictor, ScoresTestPairsAsTheRunDid) {
  for (const std::string selector : {"none", "ps2"}) {
    const FinishedRun run(quickOptions("gae", selector));
    const LinkPredictor predictor = predictorOf(run);
    const auto found = predictor.scorePairs(run.served().split.test.positive.edges);
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i].score, run.reported().test_scores[i], 1e-5);
      EXPECT_EQ(found[i].known, "test");
      EXPECT_FALSE(found[i].carried);
      EXPECT_EQ(found[i].view.has_value(), selector == "ps2");
    }
  }
}

TEST(LinkPredictor, RanksPairsAndKnowsTheirParts) {
  const FinishedRun run(quickOptions("ra"));
  const LinkSplit& split = run.served().split;
  const std::vector<Edge> pairs = {
      split.training.message.table.edges[0], split.training.valid.positive.edges[0],
      split.test.negative.edges[0], reversed(split.test.positive.edges[0])};
  const auto found = predictorOf(run).scorePairs(pairs);
  EXPECT_EQ(found[0].known, "train");
  EXPECT_TRUE(found[0].carried);
  EXPECT_EQ(found[1].known, "valid");
  EXPECT_FALSE(found[1].carried);
  EXPECT_EQ(found[2].known, "");
  EXPECT_EQ(found[3].known, "test");
  std::vector<std::size_t> ranks;
  for (const Prediction& one : found) {
    ranks.push_back(one.rank);
    for (const Prediction& other : found) {
      EXPECT_TRUE(one.score <= other.score || one.rank < other.rank);
      EXPECT_TRUE(one.score < other.score || *one.probability >= *other.probability);
    }
  }
  std::ranges::sort(ranks);
  EXPECT_EQ(ranks, (std::vector<std::size_t>{1, 2, 3, 4}));
  EXPECT_TRUE(predictorOf(run, "all").scorePairs(pairs)[3].carried);
}

TEST(LinkPredictor, SaysWhichEdgesCarry) {
  const FinishedRun run(quickOptions("cn"));
  const LinkSplit& split = run.served().split;
  const auto counts = [&](std::string_view messages) {
    const PredictionGraph graph = runGraph(run.served(), messages);
    return std::pair(graph.carrying.size(), graph.messages.table.size());
  };
  const std::size_t train = split.training.message.table.size();
  EXPECT_EQ(counts(""), std::pair(std::size_t{1}, train));
  EXPECT_EQ(counts("train+valid"),
            std::pair(std::size_t{2}, train + split.training.valid.positive.size()));
  EXPECT_EQ(counts("all"), std::pair(std::size_t{3}, run.served().dataset.edges.size()));
  EXPECT_NE(runGraph(run.served()).describe().find(" train edges carry messages; "),
            std::string::npos);
  expectFailure<ConfigError>([&] { (void)runGraph(run.served(), "some"); }, "'some'");
}

TEST(LinkPredictor, DoesNotDependOnThreads) {
  const FinishedRun run(quickOptions("gae", "jk"));
  const auto listed = [&](int threads) {
    setThreadCount(threads);
    std::vector<std::pair<Edge, double>> all;
    const LinkPredictor predictor = predictorOf(run);
    predictor.topOfAll(predictor.requestForAll(5), [&](std::span<const Prediction> found) {
      for (const Prediction& one : found) {
        all.emplace_back(one.pair, one.score);
      }
    });
    return all;
  };
  const int before = threadCount();
  const auto alone = listed(1);
  EXPECT_EQ(listed(4), alone);
  setThreadCount(before);
}

TEST(LinkPredictor, ForecastsItsWork) {
  const FinishedRun run(quickOptions("gae"));
  const LinkPredictor predictor = predictorOf(run);
  const TopRequest request = predictor.requestForAll(5);
  const SearchEstimate estimate = predictor.estimate(request);
  EXPECT_EQ(estimate.pairs, request.sources.size() * (request.sources.size() - 1) / 2);
  EXPECT_GT(estimate.seconds, 0);
  EXPECT_GT(estimate.memory_bytes, 0U);
}

// The same graph under other names, its nodes in another order: scores follow the nodes.
TEST(LinkPredictor, ScoresNodesItWasNotTrainedOn) {
  testing::TempFolder files;
  const auto edges_for = [](auto name) {
    std::string text = "source,target\n";
    for (int i = 0; i < 40; ++i) {
      for (const int step : {1, 2, 5}) {
        text += name(i) + "," + name((i + step) % 40) + "\n";
      }
    }
    return text;
  };
  const auto features_for = [](auto name, bool backwards) {
    std::string text = "id,x,y,z\n";
    for (int k = 0; k < 40; ++k) {
      const int i = backwards ? 39 - k : k;
      text += name(i) + "," + std::to_string(i % 7) + "," + std::to_string(i * 0.1) + "," +
              std::to_string(i % 2) + "\n";
    }
    return text;
  };
  const auto old_name = [](int i) { return "old" + std::to_string(i); };
  const auto new_name = [](int i) { return "new" + std::to_string(i); };
  for (const std::string selector : {"none", "ps2"}) {
    RunOptions options = quickOptions("sage", selector);
    options.data.dataset = "";
    options.data.edges = files.write("old.csv", edges_for(old_name)).string();
    options.data.features = files.write("old_x.csv", features_for(old_name, false)).string();
    const FinishedRun run(options);
    DataOptions data;
    data.edges = files.write("new.csv", edges_for(new_name)).string();
    data.features = files.write("new_x.csv", features_for(new_name, true)).string();
    const Dataset fresh = openDataset(data, {}, {});
    const LinkPredictor seen = predictorOf(run, "all");
    const LinkPredictor unseen(run.served().stored, fresh, newGraph(fresh), std::nullopt);
    for (const auto& [a, b] : {std::pair(0, 7), std::pair(3, 30), std::pair(11, 12)}) {
      const Edge before{*run.served().dataset.ids.find(old_name(a)),
                        *run.served().dataset.ids.find(old_name(b))};
      const Edge now{*fresh.ids.find(new_name(a)), *fresh.ids.find(new_name(b))};
      const Prediction one = seen.scorePairs({&before, 1}).front();
      const Prediction two = unseen.scorePairs({&now, 1}).front();
      EXPECT_NEAR(one.score, two.score, 1e-4);
      EXPECT_EQ(one.view, two.view);
      EXPECT_FALSE(two.probability.has_value());
    }
    data.features = "";
    const Dataset bare = openDataset(data, {}, {});
    expectFailure<ConfigError>(
        [&] { LinkPredictor(run.served().stored, bare, newGraph(bare), std::nullopt); },
        "have no features");
    std::string thin = "id,x\n";
    for (int i = 0; i < 40; ++i) {
      thin += new_name(i) + ",1\n";
    }
    data.features = files.write("thin.csv", thin).string();
    const Dataset narrow = openDataset(data, {}, {});
    expectFailure<ConfigError>(
        [&] { LinkPredictor(run.served().stored, narrow, newGraph(narrow), std::nullopt); },
        "have 1 features, but the model was trained on 3");
  }
}

TEST(LinkPredictor, RefusesNewNodesWhereEachHasAnEmbedding) {
  testing::TempFolder files;
  RunOptions options = quickOptions("gae");
  options.network.features = "embedding";
  const FinishedRun run(options);
  DataOptions data;
  data.edges = files.write("new.csv", "a,b\nb,c\nc,d\n").string();
  const Dataset fresh = openDataset(data, {}, {});
  expectFailure<ConfigError>(
      [&] { LinkPredictor(run.served().stored, fresh, newGraph(fresh), std::nullopt); },
      "learned an embedding of each node");
}

}  // namespace
}  // namespace edgewise
