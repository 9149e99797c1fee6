#include "edgewise/evaluation/link_evaluation.h"

#include <gtest/gtest.h>

#include <map>

#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::expectFailure;

// Scores written down by hand; pairs that are not listed score 0.
class HandScorer final : public LinkScorer {
 public:
  HandScorer(std::size_t nodes, std::map<std::pair<int, int>, double> scores)
      : nodes_(nodes), scores_(std::move(scores)) {}

  [[nodiscard]] std::vector<double> score(std::span<const Edge> pairs,
                                          ProgressSink&) const override {
    std::vector<double> all;
    for (const Edge& pair : pairs) {
      all.push_back(at(index(pair.src), index(pair.dst)));
    }
    return all;
  }
  void scoreSources(std::span<const NodeId> sources, std::span<double> out,
                    ProgressSink&) const override {
    for (std::size_t i = 0; i < sources.size(); ++i) {
      for (std::size_t node = 0; node < nodes_; ++node) {
        out[i * nodes_ + node] = at(index(sources[i]), static_cast<std::uint32_t>(node));
      }
    }
  }

 private:
  [[nodiscard]] double at(std::uint32_t src, std::uint32_t dst) const {
    const auto found = scores_.find({static_cast<int>(src), static_cast<int>(dst)});
    return found == scores_.end() ? 0.0 : found->second;
  }
  std::size_t nodes_;
  std::map<std::pair<int, int>, double> scores_;
};

TEST(EvaluateHeldOut, TakesAPoolForAllPositives) {
  const HandScorer scorer(6, {{{0, 1}, 3}, {{0, 2}, 1}, {{3, 4}, 2}, {{3, 5}, 0.5}});
  const EdgeTable positive{.edges = {makeEdge(0, 1), makeEdge(0, 2)}};
  const FrozenNegatives pool{
      .edges = {makeEdge(3, 4), makeEdge(3, 5)}, .per_positive = 0, .kind = "uniform"};
  const MetricSet metrics = evaluateHeldOut(scorer, positive, pool, parseMetrics("auc,hits@1"));
  EXPECT_DOUBLE_EQ(metrics.at("auc"), 0.75);
  EXPECT_DOUBLE_EQ(metrics.at("hits@1"), 0.5);
}

TEST(EvaluateHeldOut, RanksEachPositiveAgainstItsOwn) {
  const HandScorer scorer(6, {{{0, 1}, 3}, {{0, 3}, 4}, {{2, 3}, 1}});
  const EdgeTable positive{.edges = {makeEdge(0, 1), makeEdge(2, 3)}};
  const FrozenNegatives own{
      .edges = {makeEdge(0, 3), makeEdge(0, 4), makeEdge(2, 4), makeEdge(2, 5)},
      .per_positive = 2,
      .kind = "uniform"};
  const MetricSet metrics = evaluateHeldOut(scorer, positive, own, parseMetrics("mrr,hit@1"));
  EXPECT_DOUBLE_EQ(metrics.at("mrr"), (0.5 + 1.0) / 2);
  EXPECT_DOUBLE_EQ(metrics.at("hit@1"), 0.5);
  expectFailure<ConfigError>(
      [&] { (void)evaluateHeldOut(scorer, positive, own, parseMetrics("auc")); }, "auc");
}

// Two users (0, 1), four items (2..5). User 0 knows item 2 and wants 3; user 1 knows nothing and
// wants 4 and 5.
TEST(EvaluateFullRanking, MasksWhatIsKnownAndRanksTheRest) {
  Dataset dataset;
  dataset.name = "shop";
  dataset.node_count = 6;
  dataset.bipartite = BipartiteShape{.users = 2, .items = 4};
  const HandScorer scorer(
      6, {{{0, 2}, 9}, {{0, 3}, 5}, {{0, 4}, 7}, {{1, 4}, 3}, {{1, 2}, 2}, {{1, 5}, 1}});
  const MessageEdges known{.table = {.edges = {makeEdge(0, 2)}}};
  const EdgeTable relevant{.edges = {makeEdge(0, 3), makeEdge(1, 4), makeEdge(1, 5)}};
  const MetricSet metrics = evaluateFullRanking(
      scorer, dataset, known, relevant, {.requests = parseMetrics("recall@1,recall@2,hit@1")});
  // User 0: item 4 before item 3 (item 2 is masked). User 1: item 4, item 2, item 5.
  EXPECT_DOUBLE_EQ(metrics.at("recall@1"), (0.0 + 0.5) / 2);
  EXPECT_DOUBLE_EQ(metrics.at("recall@2"), (1.0 + 0.5) / 2);
  EXPECT_DOUBLE_EQ(metrics.at("hit@1"), 0.5);
  const MetricSet unmasked = evaluateFullRanking(scorer, dataset, MessageEdges{}, relevant,
                                                 {.requests = parseMetrics("recall@2")});
  EXPECT_DOUBLE_EQ(unmasked.at("recall@2"), (0.0 + 0.5) / 2)
      << "item 2 takes a place when unmasked";
}

TEST(EvaluateFullRanking, RanksAsManyUsersAsAskedForOrWithinReach) {
  class SlowScorer final : public LinkScorer {
   public:
    [[nodiscard]] std::vector<double> score(std::span<const Edge>, ProgressSink&) const override {
      return {};
    }
    void scoreSources(std::span<const NodeId>, std::span<double>, ProgressSink&) const override {}
    [[nodiscard]] std::uint64_t pairsWithinReach() const override { return 1000; }
  };
  const SlowScorer slow;
  const HandScorer quick(6, {});
  const auto users = [](std::int64_t asked) { return FullRankingRequest{{}, asked}; };
  EXPECT_EQ(usersToRank(users(0), slow, 50, 100), 50U);
  EXPECT_EQ(usersToRank(users(-1), slow, 50, 100), 10U);
  EXPECT_EQ(usersToRank(users(-1), slow, 5, 100), 5U);
  EXPECT_EQ(usersToRank(users(-1), slow, 50, 5000), 1U);
  EXPECT_EQ(usersToRank(users(-1), quick, 50, 100), 50U);
  EXPECT_EQ(usersToRank(users(7), quick, 50, 100), 7U);
  EXPECT_EQ(usersToRank(users(70), quick, 50, 100), 50U);
}

TEST(EvaluateFullRanking, NeedsItems) {
  Dataset dataset;
  dataset.name = "plain";
  const HandScorer scorer(2, {});
  expectFailure<ConfigError>(
      [&] {
        (void)evaluateFullRanking(scorer, dataset, MessageEdges{}, EdgeTable{},
                                  {.requests = parseMetrics("recall@2")});
      },
      "not bipartite");
}

}  // namespace
}  // namespace edgewise
