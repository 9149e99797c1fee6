#include "edgewise/evaluation/full_ranking.h"

#include <cmath>
#include <limits>

#include "edgewise/util/parallel.h"
#include "evaluation/brute_force.h"

namespace edgewise {
namespace {

using Items = std::vector<std::uint32_t>;
using Scores = std::vector<double>;
using testing::expectFailure;
using testing::kTight;

TopKMetrics rankOne(const Scores& scores, const Items& masked, const Items& relevant,
                    std::size_t k) {
  FullRankingAccumulator ranking(scores.size(), {k});
  ranking.add(scores, UserItems{masked, relevant});
  return ranking.result().at.front();
}

void expectSame(const TopKMetrics& got, const TopKMetrics& want) {
  EXPECT_EQ(got.k, want.k);
  EXPECT_NEAR(got.recall, want.recall, kTight);
  EXPECT_NEAR(got.precision, want.precision, kTight);
  EXPECT_NEAR(got.hit, want.hit, kTight);
  EXPECT_NEAR(got.ndcg, want.ndcg, kTight);
}

TEST(FullRanking, MatchesTheGoldenValues) {
  const auto golden = testing::goldenMetrics();
  ASSERT_FALSE(golden.at("full_ranking").empty());
  for (const auto& entry : golden.at("full_ranking")) {
    const TopKMetrics got =
        rankOne(entry.at("score").get<Scores>(), entry.at("train").get<Items>(),
                entry.at("test").get<Items>(), entry.at("k").get<std::size_t>());
    EXPECT_NEAR(got.recall, entry.at("recall").get<double>(), kTight);
    EXPECT_NEAR(got.ndcg, entry.at("ndcg").get<double>(), kTight);
  }
}

TEST(FullRanking, FollowsAHandWorkedUser) {
  // Item 0 is masked, so the ranking is 1, 2, 3, 4; tests are 2, 4 and (never reached) 5.
  const TopKMetrics got = rankOne({9, 8, 7, 6, 5, 0}, {0}, {2, 4, 5}, 4);
  EXPECT_DOUBLE_EQ(got.recall, 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(got.precision, 0.5);
  EXPECT_EQ(got.hit, 1.0);
  const double gain = 1.0 / std::log2(3.0) + 1.0 / std::log2(5.0);
  const double ideal = 1.0 + 1.0 / std::log2(3.0) + 0.5;
  EXPECT_DOUBLE_EQ(got.ndcg, gain / ideal);
}

TEST(FullRanking, SharesTheCutAmongTies) {
  // One place is left for three tied items, of which two are tests.
  const TopKMetrics got = rankOne({5, 3, 3, 3}, {}, {1, 2}, 2);
  EXPECT_DOUBLE_EQ(got.recall, (2.0 / 3.0) / 2.0);
  EXPECT_DOUBLE_EQ(got.precision, (2.0 / 3.0) / 2.0);
  EXPECT_DOUBLE_EQ(got.hit, 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(got.ndcg, (2.0 / 3.0) / std::log2(3.0) / (1.0 + 1.0 / std::log2(3.0)));
}

TEST(FullRanking, IsChanceWhenAllScoresAreEqual) {
  // Of 10 candidates 4 are drawn; the one test item is among them with probability 0.4.
  const TopKMetrics got = rankOne(Scores(12, 1.5), {3, 4}, {7}, 4);
  EXPECT_DOUBLE_EQ(got.recall, 0.4);
  EXPECT_DOUBLE_EQ(got.hit, 0.4);
  EXPECT_DOUBLE_EQ(got.precision, 0.1);
}

TEST(FullRanking, IsTheMeanOverAllOrdersOfTies) {
  RngStream rng(51, "orders");
  for (int round = 0; round < 150; ++round) {
    const Scores scores = testing::tiedScores(rng, 1 + rng.below(7), 1 + rng.below(4));
    Items order(scores.size());
    std::iota(order.begin(), order.end(), 0U);
    rng.shuffle(std::span(order));
    const std::size_t relevant_count = 1 + rng.below(scores.size());
    const std::size_t masked_count = rng.below(scores.size() - relevant_count + 1);
    const Items relevant(order.begin(), order.begin() + static_cast<int>(relevant_count));
    const Items masked(order.end() - static_cast<int>(masked_count), order.end());
    const std::size_t k = 1 + rng.below(8);
    expectSame(rankOne(scores, masked, relevant, k),
               testing::bruteTopK(scores, UserItems{masked, relevant}, k));
  }
}

// By sorting all candidates: for rows too long to enumerate orders, but without ties.
TopKMetrics sortedTopK(const Scores& scores, const UserItems& user, std::size_t k) {
  Items order;
  for (std::uint32_t item = 0; item < scores.size(); ++item) {
    if (std::ranges::find(user.masked, item) == user.masked.end()) {
      order.push_back(item);
    }
  }
  std::ranges::sort(order, std::greater<>(), [&](std::uint32_t item) { return scores[item]; });
  double found = 0.0;
  double gain = 0.0;
  double ideal = 0.0;
  for (std::size_t i = 0; i < std::min(k, order.size()); ++i) {
    const bool relevant = std::ranges::find(user.relevant, order[i]) != user.relevant.end();
    const double discount = 1.0 / std::log2(static_cast<double>(i) + 2.0);
    found += relevant ? 1.0 : 0.0;
    gain += relevant ? discount : 0.0;
    ideal += i < user.relevant.size() ? discount : 0.0;
  }
  return {k, found / static_cast<double>(user.relevant.size()), found / static_cast<double>(k),
          found > 0.0 ? 1.0 : 0.0, gain / ideal};
}

TEST(FullRanking, SelectsTheSameTopAsASortInAnyOrderOfItems) {
  RngStream rng(52, "select");
  Scores scores = testing::normalScores(rng, 3'000);
  const Items masked = {5, 17, 2'999, 0, 5};
  const Items relevant = {1, 40, 700, 701, 2'998, 1'500, 4, 77};
  for (int order = 0; order < 3; ++order) {
    for (const std::size_t k : {1U, 20U, 500U, 1'600U, 2'995U, 2'996U, 2'997U, 5'000U}) {
      expectSame(rankOne(scores, masked, relevant, k),
                 sortedTopK(scores, UserItems{masked, relevant}, k));
    }
    std::ranges::sort(scores);
    if (order == 1) {
      std::ranges::reverse(scores);
    }
  }
}

TEST(FullRanking, TakesInfinitiesAsScoresAndMasksByNumber) {
  const double infinity = std::numeric_limits<double>::infinity();
  // The masked item has the best score; -inf is a candidate like any other.
  const TopKMetrics got = rankOne({infinity, -infinity, -infinity, infinity}, {0}, {1}, 2);
  EXPECT_DOUBLE_EQ(got.recall, 0.5);
  EXPECT_EQ(rankOne({-infinity, -infinity}, {1}, {0}, 1).recall, 1.0);
}

struct Users {
  std::vector<Items> masked;
  std::vector<Items> relevant;
  std::vector<UserItems> views;
  std::vector<float> scores;
};

Users makeUsers(std::size_t users, std::size_t items) {
  RngStream rng(53, "users");
  Users made;
  for (std::size_t user = 0; user < users; ++user) {
    Items order(items);
    std::iota(order.begin(), order.end(), 0U);
    rng.shuffle(std::span(order));
    const auto relevant = static_cast<std::ptrdiff_t>(rng.below(6));
    const auto masked = static_cast<std::ptrdiff_t>(rng.below(30));
    made.relevant.emplace_back(order.begin(), order.begin() + relevant);
    made.masked.emplace_back(order.end() - masked, order.end());
    for (std::size_t item = 0; item < items; ++item) {
      made.scores.push_back(static_cast<float>(rng.below(40)) / 8.0F);
    }
  }
  for (std::size_t user = 0; user < users; ++user) {
    made.views.push_back({made.masked[user], made.relevant[user]});
  }
  return made;
}

TEST(FullRankingAccumulator, DependsNeitherOnThreadsNorOnBlocks) {
  constexpr std::size_t kUsers = 90;
  constexpr std::size_t kItems = 200;
  const Users made = makeUsers(kUsers, kItems);
  const std::vector<double> wide(made.scores.begin(), made.scores.end());
  const int threads = threadCount();
  setThreadCount(1);
  FullRankingAccumulator whole(kItems, {5, 20, 1});
  whole.add(made.scores, made.views);
  const FullRankingResult expected = whole.result();
  for (const std::size_t block : {1U, 7U, 64U}) {
    setThreadCount(static_cast<int>(block % 5) + 1);
    FullRankingAccumulator pieces(kItems, {5, 20, 1});
    for (std::size_t begin = 0; begin < kUsers; begin += block) {
      const std::size_t size = std::min(block, kUsers - begin);
      pieces.add(std::span(wide).subspan(begin * kItems, size * kItems),
                 std::span(made.views).subspan(begin, size));
    }
    const FullRankingResult got = pieces.result();
    EXPECT_EQ(got.users, expected.users);
    EXPECT_EQ(got.skipped, expected.skipped);
    for (std::size_t i = 0; i < expected.at.size(); ++i) {
      EXPECT_EQ(got.at[i].k, expected.at[i].k);
      EXPECT_EQ(got.at[i].recall, expected.at[i].recall);
      EXPECT_EQ(got.at[i].precision, expected.at[i].precision);
      EXPECT_EQ(got.at[i].hit, expected.at[i].hit);
      EXPECT_EQ(got.at[i].ndcg, expected.at[i].ndcg);
    }
  }
  setThreadCount(threads);
}

// Scores in steps, so that many are equal at the last place.
TEST(FullRankingAccumulator, NeedsTheBestCandidatesAlone) {
  constexpr std::size_t kUsers = 60;
  constexpr std::size_t kItems = 80;
  Users made = makeUsers(kUsers, kItems);
  for (float& score : made.scores) {
    score = std::round(score * 8) / 8;
  }
  FullRankingAccumulator all(kItems, {5, 20});
  all.add(made.scores, made.views);
  TopLists best;
  for (std::size_t user = 0; user < kUsers; ++user) {
    const auto row = std::span(made.scores).subspan(user * kItems, kItems);
    const auto& masked = made.views[user].masked;
    std::vector<std::pair<float, std::uint32_t>> candidates;
    for (std::uint32_t item = 0; item < kItems; ++item) {
      if (std::ranges::find(masked, item) == masked.end()) {
        candidates.emplace_back(row[item], item);
      }
    }
    std::ranges::sort(candidates, std::greater<>());
    const float bar = candidates[std::min(candidates.size(), all.places()) - 1].first;
    for (const auto& [score, item] : candidates) {
      if (score >= bar) {
        best.items.push_back(item);
        best.scores.push_back(score);
      }
    }
    best.offsets.push_back(best.items.size());
  }
  FullRankingAccumulator some(kItems, {5, 20});
  some.add(best, made.views);
  const FullRankingResult want = all.result();
  const FullRankingResult got = some.result();
  EXPECT_EQ(got.users, want.users);
  EXPECT_EQ(got.skipped, want.skipped);
  for (std::size_t i = 0; i < want.at.size(); ++i) {
    expectSame(got.at[i], want.at[i]);
  }
  best.offsets.pop_back();
  expectFailure<ShapeError>([&] { some.add(best, made.views); }, "lists of 59 users for 60");
}

TEST(FullRankingAccumulator, SkipsAndCountsUsersWithoutTestItems) {
  FullRankingAccumulator ranking(3, {1});
  const Items first = {0};
  const std::vector<UserItems> users = {{{}, first}, {first, {}}, {{}, first}};
  ranking.add(Scores{3, 2, 1, 3, 2, 1, 1, 2, 3}, users);
  const FullRankingResult result = ranking.result();
  EXPECT_EQ(result.users, 2U);
  EXPECT_EQ(result.skipped, 1U);
  EXPECT_DOUBLE_EQ(result.at[0].recall, 0.5);
}

TEST(FullRankingAccumulator, GivesNothingWhereAllCandidatesAreMasked) {
  FullRankingAccumulator ranking(2, {1});
  expectFailure<DataError>([&] { (void)ranking.result(); }, "none of 0 users");
  const Items both = {0, 1};
  ranking.add(Scores{1, 2}, UserItems{both, {}});
  expectFailure<DataError>([&] { (void)ranking.result(); }, "none of 1 users");
}

TEST(FullRankingAccumulator, RefusesBadInputAndStaysAsItWas) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  FullRankingAccumulator ranking(3, {2});
  const Items one = {1};
  const Items twice = {1, 1};
  const Items far = {3};
  ranking.add(Scores{3, 2, 1}, UserItems{{}, one});
  expectFailure<ShapeError>([&] { ranking.add(Scores{1, 2}, UserItems{{}, one}); },
                            "2 scores are not 1 users x 3 items");
  expectFailure<DataError>([&] { ranking.add(Scores{1, 2, nan}, UserItems{{}, one}); },
                           "scores of user row 1[2]");
  expectFailure<DataError>([&] { ranking.add(Scores{nan, nan, nan}, UserItems{{}, one}); },
                           "scores of user row 1[0]");
  expectFailure<DataError>([&] { ranking.add(Scores{1, nan, 3}, UserItems{one, far}); },
                           "names item 3");
  expectFailure<DataError>([&] { ranking.add(Scores{1, nan, 3}, UserItems{one, Items{0}}); },
                           "scores of user row 1[1]");
  expectFailure<DataError>([&] { ranking.add(Scores{1, 2, 3}, UserItems{far, one}); },
                           "names item 3");
  expectFailure<DataError>([&] { ranking.add(Scores{1, 2, 3}, UserItems{one, one}); },
                           "both masked");
  expectFailure<DataError>([&] { ranking.add(Scores{1, 2, 3}, UserItems{{}, twice}); }, "twice");
  EXPECT_EQ(ranking.result().users, 1U);
}

TEST(FullRankingAccumulator, RefusesBadKs) {
  expectFailure<ConfigError>([] { FullRankingAccumulator(3, {}); }, "at least one K");
  expectFailure<ConfigError>([] { FullRankingAccumulator(3, {5, 0}); }, "K = 0");
  expectFailure<ConfigError>([] { FullRankingAccumulator(3, {5, 2, 5}); }, "K = 5");
  const std::size_t huge = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(rankOne({1, 2}, {}, {0}, huge).recall, 1.0);
}

}  // namespace
}  // namespace edgewise
