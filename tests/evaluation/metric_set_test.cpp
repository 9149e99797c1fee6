#include "edgewise/evaluation/metric_set.h"

#include <gmock/gmock.h>

#include <limits>

#include "edgewise/evaluation/binary_metrics.h"
#include "edgewise/evaluation/hits.h"
#include "evaluation/brute_force.h"

namespace edgewise {
namespace {

using Scores = std::vector<double>;
using testing::expectFailure;

template <class Action>
std::string hintOf(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.hint();
  }
  return "nothing was thrown";
}

TEST(MetricRequest, ReadsAndWritesEveryName) {
  for (const char* name : {"auc", "ap", "mrr", "hits@20", "recall@5", "ndcg@50", "hit@10",
                           "precision@1", "hits@9223372036854775807"}) {
    EXPECT_EQ(metricName(parseMetric(name)), name);
  }
  EXPECT_EQ(parseMetric("hits@20"), (MetricRequest{MetricKind::kHits, 20}));
  EXPECT_EQ(parseMetric("hit@20"), (MetricRequest{MetricKind::kHit, 20}));
}

TEST(MetricRequest, SuggestsTheNearestName) {
  expectFailure<ConfigError>([] { (void)parseMetric("acu"); }, "unknown metric 'acu'");
  EXPECT_EQ(hintOf([] { (void)parseMetric("acu"); }), "did you mean 'auc'?");
  EXPECT_EQ(hintOf([] { (void)parseMetric("hitss@20"); }), "did you mean 'hits@20'?");
  EXPECT_EQ(hintOf([] { (void)parseMetric("recal@50"); }), "did you mean 'recall@50'?");
  EXPECT_THAT(hintOf([] { (void)parseMetric("something"); }), ::testing::HasSubstr("hits@K"));
  EXPECT_THAT(hintOf([] { (void)parseMetric(""); }), ::testing::Not(::testing::IsEmpty()));
}

TEST(MetricRequest, ChecksK) {
  for (const char* name : {"hits@0", "hits@-3", "hits@", "hits@x", "hits@2.5", "hits@20 ",
                           "hits@@3", "hits@99999999999999999999"}) {
    expectFailure<ConfigError>([&] { (void)parseMetric(name); }, "not a whole number from 1");
  }
  expectFailure<ConfigError>([] { (void)parseMetric("hits"); }, "needs a K");
  expectFailure<ConfigError>([] { (void)parseMetric("auc@3"); }, "has no K");
}

TEST(MetricRequest, ReadsLists) {
  EXPECT_THAT(parseMetrics(" auc, ap ,hits@20"),
              ::testing::ElementsAre(MetricRequest{MetricKind::kAuc, 0},
                                     MetricRequest{MetricKind::kAveragePrecision, 0},
                                     MetricRequest{MetricKind::kHits, 20}));
  expectFailure<ConfigError>([] { (void)parseMetrics(" "); }, "no metric");
  expectFailure<ConfigError>([] { (void)parseMetrics("auc,,ap"); }, "unknown metric ''");
  expectFailure<ConfigError>([] { (void)parseMetrics("auc,hits@5,auc"); }, "'auc' is named twice");
  EXPECT_THAT(requestedKs(parseMetrics("recall@20,auc,ndcg@20,hit@10")),
              ::testing::ElementsAre(20, 10));
}

TEST(MetricSet, KeepsOrderAndValuesThroughJson) {
  MetricSet metrics;
  metrics.set("hits@20", 0.1 + 0.2);
  metrics.set("auc", 1.0 / 3.0);
  metrics.set("hits@20", 0.7);
  EXPECT_EQ(metrics.size(), 2U);
  const auto json = metrics.toJson();
  EXPECT_EQ(json.dump(), R"({"hits@20":0.7,"auc":0.3333333333333333,"ties":")" +
                             std::string(kTiePolicy) + "\"}");
  EXPECT_EQ(MetricSet::fromJson(nlohmann::ordered_json::parse(json.dump())), metrics);
  EXPECT_EQ(metrics.at("auc"), 1.0 / 3.0);
  EXPECT_EQ(metrics.find("ap"), std::nullopt);
  expectFailure<DataError>([&] { (void)metrics.at("ap"); }, "no metric 'ap'");
}

TEST(MetricSet, RefusesOddJsonAndValues) {
  const auto read = [](const char* text) {
    return [text] { (void)MetricSet::fromJson(nlohmann::ordered_json::parse(text)); };
  };
  expectFailure<DataError>(read("[1]"), "must be a JSON object");
  expectFailure<DataError>(read(R"({"auc": "high"})"), "'auc' must be a number");
  expectFailure<DataError>(read(R"({"auc": null})"), "'auc' must be a number");
  expectFailure<DataError>(read(R"({"ties": 3})"), "'ties'");
  expectFailure<DataError>(read(R"({"": 3})"), "no name");
  EXPECT_EQ(MetricSet::fromJson(nlohmann::ordered_json::parse(R"({"n": 3})")).at("n"), 3.0);
  MetricSet metrics;
  expectFailure<DataError>([&] { metrics.set("auc", std::numeric_limits<double>::quiet_NaN()); },
                           "'auc' is nan");
  expectFailure<DataError>([&] { metrics.set("ties", 1.0); }, "no name");
  EXPECT_TRUE(metrics.empty());
}

TEST(EvaluateBinary, AnswersInTheOrderAsked) {
  RngStream rng(71, "binary");
  const Scores positives = testing::tiedScores(rng, 40, 20);
  const Scores negatives = testing::tiedScores(rng, 60, 20);
  const auto metrics =
      evaluateBinary(positives, negatives, parseMetrics("hits@5,auc,mrr,ap,hit@3,ndcg@10"));
  std::vector<std::string> names;
  for (const auto& [name, value] : metrics.values()) {
    names.push_back(name);
  }
  EXPECT_THAT(names, ::testing::ElementsAre("hits@5", "auc", "mrr", "ap", "hit@3", "ndcg@10"));
  EXPECT_EQ(metrics.at("hits@5"), hitsAtK(positives, negatives, 5));
  EXPECT_EQ(metrics.at("auc"), auc(positives, negatives));
  EXPECT_EQ(metrics.at("ap"), averagePrecision(positives, negatives));
  const BinaryRanking ranking(positives, negatives);
  EXPECT_EQ(metrics.at("mrr"), meanReciprocalRank(ranking));
  EXPECT_EQ(metrics.at("hit@3"), meanHit(ranking, 3));
  EXPECT_EQ(metrics.at("ndcg@10"), meanNdcg(ranking, 10));
  expectFailure<ConfigError>(
      [&] { (void)evaluateBinary(positives, negatives, parseMetrics("recall@5")); },
      "'recall@5' cannot come from positives against a shared pool");
}

TEST(EvaluateRanks, OffersWhatRanksCanTell) {
  const std::vector<RankCounts> ranks = {{0, 0}, {1, 2}, {30, 0}};
  const auto metrics = evaluateRanks(ranks, parseMetrics("mrr,hit@10,ndcg@50"));
  EXPECT_EQ(metrics.at("mrr"), meanReciprocalRank(ranks));
  EXPECT_EQ(metrics.at("hit@10"), meanHit(ranks, 10));
  EXPECT_EQ(metrics.at("ndcg@50"), meanNdcg(ranks, 50));
  expectFailure<ConfigError>([&] { (void)evaluateRanks(ranks, parseMetrics("auc")); }, "'auc'");
}

TEST(EvaluateFullRanking, PicksOutTheMetricsAsked) {
  const FullRankingResult result{
      .users = 3, .skipped = 0, .at = {{20, 0.1, 0.2, 0.3, 0.4}, {5, 0.5, 0.6, 0.7, 0.8}}};
  const auto metrics =
      evaluateFullRanking(result, parseMetrics("recall@20,ndcg@5,hit@20,precision@5"));
  EXPECT_EQ(metrics.at("recall@20"), 0.1);
  EXPECT_EQ(metrics.at("precision@5"), 0.6);
  EXPECT_EQ(metrics.at("hit@20"), 0.3);
  EXPECT_EQ(metrics.at("ndcg@5"), 0.8);
  for (const char* name : {"auc", "hits@20", "recall@7"}) {
    expectFailure<ConfigError>([&] { (void)evaluateFullRanking(result, parseMetrics(name)); },
                               name);
  }
}

}  // namespace
}  // namespace edgewise
