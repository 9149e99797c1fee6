#include "edgewise/sampling/target_sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "edgewise/util/parallel.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::expectFailure;

std::vector<std::uint32_t> range(std::uint32_t first, std::uint32_t count) {
  std::vector<std::uint32_t> nodes(count);
  std::iota(nodes.begin(), nodes.end(), first);
  return nodes;
}

// Users 0..2, items 3..8.
TargetSampler smallShop() {
  const std::vector<Edge> known = {makeEdge(0, 3), makeEdge(0, 8), makeEdge(0, 5), makeEdge(0, 5),
                                   makeEdge(1, 4), makeEdge(2, 3), makeEdge(2, 4), makeEdge(2, 5),
                                   makeEdge(2, 6), makeEdge(2, 8)};
  return {9, range(3, 6), known, Direction::kUndirected};
}

TEST(TargetSampler, GivesEveryTargetThatIsNotKnownAndNoOther) {
  const TargetSampler sampler = smallShop();
  const CounterRng rng(1, "test");
  const std::map<std::uint32_t, std::vector<std::uint32_t>> expected = {
      {0, {4, 6, 7}}, {1, {3, 5, 6, 7, 8}}, {2, {7}}};
  for (const auto& [user, items] : expected) {
    EXPECT_EQ(sampler.available(NodeId{user}), items.size());
    std::map<std::uint32_t, int> counts;
    constexpr int kDraws = 6000;
    for (std::uint64_t i = 0; i < kDraws; ++i) {
      ++counts[index(sampler.draw(NodeId{user}, rng, i))];
    }
    ASSERT_EQ(counts.size(), items.size()) << user;
    // Within six standard deviations of equal shares.
    const double share = kDraws / static_cast<double>(items.size());
    for (const std::uint32_t item : items) {
      EXPECT_NEAR(counts[item], share, 6 * std::sqrt(share)) << user << " " << item;
    }
  }
}

TEST(TargetSampler, FollowsThePositivesInOrderOnAnyNumberOfThreads) {
  const TargetSampler sampler = smallShop();
  const CounterRng rng(5, "test");
  std::vector<Edge> positives;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    positives.push_back(makeEdge(i % 3, 3));
  }
  const std::vector<Edge> drawn = sampler.sample(positives, 3, rng);
  ASSERT_EQ(drawn.size(), 15'000U);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    EXPECT_EQ(drawn[i].src, positives[i / 3].src);
    EXPECT_EQ(drawn[i].dst, sampler.draw(drawn[i].src, rng, i));
  }
  const int before = threadCount();
  for (const int threads : {1, 3}) {
    setThreadCount(threads);
    EXPECT_EQ(sampler.sample(positives, 3, rng), drawn);
  }
  setThreadCount(before);
}

TEST(TargetSampler, NeverGivesANodeItselfAndHeedsDirections) {
  const std::vector<Edge> known = {makeEdge(0, 1), makeEdge(2, 0)};
  const CounterRng rng(2, "test");
  const TargetSampler undirected(4, range(0, 4), known, Direction::kUndirected);
  EXPECT_EQ(undirected.available(NodeId{0}), 1U);
  EXPECT_EQ(undirected.draw(NodeId{0}, rng, 7), NodeId{3});
  const TargetSampler directed(4, range(0, 4), known, Direction::kDirected);
  EXPECT_EQ(directed.available(NodeId{0}), 2U);
  for (std::uint64_t i = 0; i < 50; ++i) {
    const NodeId drawn = directed.draw(NodeId{0}, rng, i);
    EXPECT_TRUE(drawn == NodeId{2} || drawn == NodeId{3});
  }
}

TEST(TargetSampler, RefusesNodesThatAreNotThere) {
  expectFailure<ShapeError>(
      [] {
        (void)TargetSampler(3, range(1, 2), std::vector<Edge>{makeEdge(0, 3)},
                            Direction::kUndirected);
      },
      "(0, 3)");
  expectFailure<ShapeError>([] { (void)TargetSampler(3, range(1, 3), {}, Direction::kUndirected); },
                            "target 3");
}

}  // namespace
}  // namespace edgewise
