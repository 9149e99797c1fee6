#include "edgewise/data/link_split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "edgewise/data/edge_ages.h"
#include "edgewise/data/planted.h"
#include "edgewise/util/parallel.h"
#include "edgewise/util/rng.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::expectFailure;

std::set<std::uint64_t> keysOf(const std::vector<Edge>& edges,
                               Direction direction = Direction::kUndirected) {
  std::set<std::uint64_t> keys;
  for (const Edge& edge : edges) {
    keys.insert(edgeKey(direction == Direction::kUndirected ? canonical(edge) : edge));
  }
  return keys;
}

bool disjoint(const std::set<std::uint64_t>& left, const std::set<std::uint64_t>& right) {
  return std::ranges::none_of(left, [&](std::uint64_t key) { return right.contains(key); });
}

Dataset randomGraph(std::size_t nodes, std::size_t rows,
                    Direction direction = Direction::kUndirected) {
  DatasetParts parts;
  parts.name = "random";
  parts.direction = direction;
  parts.raw.ids = IdMap::numbers(nodes);
  RngStream random(nodes + rows, "graph");
  for (std::size_t i = 0; i < rows; ++i) {
    parts.raw.table.edges.push_back(makeEdge(static_cast<std::uint32_t>(random.below(nodes)),
                                             static_cast<std::uint32_t>(random.below(nodes))));
    parts.raw.table.time.push_back(static_cast<double>(random.below(50)));
  }
  return makeDataset(std::move(parts));
}

Dataset shoppers(std::size_t users, std::size_t items) {
  DatasetParts parts;
  parts.name = "shoppers";
  parts.raw.ids = IdMap::numbers(users);
  parts.raw.right_ids = IdMap::numbers(items);
  RngStream random(3, "shoppers");
  for (std::uint32_t user = 0; user < users; ++user) {
    for (std::uint64_t i = 0; i < 1 + user % 15; ++i) {
      parts.raw.table.edges.push_back(
          makeEdge(user, static_cast<std::uint32_t>(random.below(items))));
    }
  }
  return makeDataset(std::move(parts));
}

// Nothing is lost, nothing stands in two roles, negatives are non-edges.
void expectSound(const Dataset& dataset, const LinkSplit& split) {
  const auto message = keysOf(split.training.message.table.edges, dataset.direction);
  const auto valid = keysOf(split.training.valid.positive.edges, dataset.direction);
  const auto test = keysOf(split.test.positive.edges, dataset.direction);
  const auto at_valid = keysOf(split.training.revealed_at_valid.table.edges, dataset.direction);
  const auto at_test = keysOf(split.revealed_at_test.table.edges, dataset.direction);
  const std::vector<const std::set<std::uint64_t>*> roles = {&message, &valid, &test, &at_valid,
                                                             &at_test};
  std::size_t total = 0;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    total += roles[i]->size();
    for (std::size_t j = i + 1; j < roles.size(); ++j) {
      EXPECT_TRUE(disjoint(*roles[i], *roles[j])) << i << " and " << j;
    }
  }
  EXPECT_EQ(total, dataset.edges.size());
  const auto known = keysOf(dataset.edges.edges, dataset.direction);
  for (const FrozenNegatives* negative : {&split.training.valid.negative, &split.test.negative}) {
    EXPECT_FALSE(negative->edges.empty());
    EXPECT_TRUE(disjoint(keysOf(negative->edges, dataset.direction), known));
    for (const Edge& edge : negative->edges) {
      EXPECT_NE(edge.src, edge.dst);
    }
  }
}

bool tells(const LinkSplit& split, std::string_view text) {
  return std::ranges::any_of(
      split.notes, [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

TEST(SplitLinks, CutsAtRandomByTheGivenShares) {
  const Dataset dataset = randomGraph(200, 1200);
  const LinkSplit split = splitLinks(dataset, {}, {}, 5);
  EXPECT_EQ(split.kind, "random");
  expectSound(dataset, split);
  const auto edges = static_cast<double>(dataset.edges.size());
  EXPECT_EQ(split.training.valid.positive.size(), static_cast<std::size_t>(0.05 * edges));
  EXPECT_EQ(split.test.positive.size(), static_cast<std::size_t>(0.10 * edges));
  EXPECT_EQ(split.test.negative.edges.size(), split.test.positive.size());
  EXPECT_EQ(keysOf(split.test.negative.edges).size(), split.test.negative.edges.size());
  EXPECT_TRUE(
      disjoint(keysOf(split.test.negative.edges), keysOf(split.training.valid.negative.edges)));
  EXPECT_EQ(split.training.supervision.table.edges, split.training.message.table.edges);
}

TEST(SplitLinks, DependsOnTheSeedAndNothingElse) {
  const Dataset dataset = randomGraph(200, 1200);
  const Dataset large = randomGraph(5000, 60'000);
  const auto hashes = [&](int threads) {
    setThreadCount(threads);
    std::vector<std::string> all;
    // Large enough for several blocks of every sampler.
    all.push_back(splitLinks(large, {}, {}, 5).hash);
    all.push_back(splitLinks(large, {}, {.kind = "degree"}, 5).hash);
    all.push_back(splitLinks(large, {}, {.per_positive = 4}, 5).hash);
    all.push_back(splitLinks(dataset, {}, {.kind = "hard", .per_positive = 6}, 5).hash);
    setThreadCount(0);
    return all;
  };
  EXPECT_EQ(hashes(1), hashes(2));
  const LinkSplit first = splitLinks(dataset, {}, {}, 5);
  EXPECT_NE(splitLinks(dataset, {}, {}, 6).hash, first.hash);
  EXPECT_NE(splitLinks(dataset, {.test = 0.2}, {}, 5).hash, first.hash);
  EXPECT_NE(splitLinks(dataset, {}, {.kind = "degree"}, 5).hash, first.hash);
  EXPECT_EQ(splitHash(first), first.hash);
}

TEST(SplitLinks, LetsThePastPredictTheFuture) {
  const Dataset dataset = randomGraph(200, 1200);
  const LinkSplit split = splitLinks(dataset, {.kind = "time", .valid = 0.2, .test = 0.2}, {}, 0);
  expectSound(dataset, split);
  const auto last = [](const EdgeTable& table) { return *std::ranges::max_element(table.time); };
  const auto first = [](const EdgeTable& table) { return *std::ranges::min_element(table.time); };
  EXPECT_LT(last(split.training.message.table), first(split.training.valid.positive));
  EXPECT_LT(last(split.training.valid.positive), first(split.test.positive));
}

TEST(SplitLinks, HidesHeldOutNodesUntilTheirTime) {
  const Dataset dataset = randomGraph(300, 2000);
  const LinkSplit split = splitLinks(dataset, {.kind = "nodes", .valid = 0.1, .test = 0.1}, {}, 1);
  expectSound(dataset, split);
  std::set<NodeId> trained;
  for (const Edge& edge : split.training.message.table.edges) {
    trained.insert(edge.src);
    trained.insert(edge.dst);
  }
  for (const EdgeTable* table : {&split.training.valid.positive, &split.test.positive}) {
    for (const Edge& edge : table->edges) {
      EXPECT_FALSE(trained.contains(edge.src) && trained.contains(edge.dst));
    }
  }
  EXPECT_FALSE(split.revealed_at_test.table.empty());
  EXPECT_EQ(messagesAtTest(split, "train").table.size(),
            split.training.message.table.size() + split.training.revealed_at_valid.table.size() +
                split.revealed_at_test.table.size());
}

TEST(SplitLinks, AsksAboutHeldOutNodesInNegativesToo) {
  const Dataset dataset = randomGraph(300, 2000);
  for (const std::int64_t per_positive : {0, 5}) {
    const LinkSplit split = splitLinks(dataset, {.kind = "nodes", .valid = 0.1, .test = 0.1},
                                       {.per_positive = per_positive}, 1);
    expectSound(dataset, split);
    std::set<NodeId> trained;
    for (const Edge& edge : split.training.message.table.edges) {
      trained.insert(edge.src);
      trained.insert(edge.dst);
    }
    for (const FrozenNegatives* negative : {&split.training.valid.negative, &split.test.negative}) {
      for (const Edge& edge : negative->edges) {
        EXPECT_FALSE(trained.contains(edge.src) && trained.contains(edge.dst));
      }
    }
  }
}

// On a graph without structure nothing may predict: what does has found a flaw of the protocol.
TEST(SplitLinks, GivesNothingAwayOnARandomGraph) {
  const Dataset dataset = randomGraph(600, 6000);
  for (const std::string kind : {"random", "time", "nodes"}) {
    const LinkSplit split = splitLinks(dataset, {.kind = kind, .valid = 0.1, .test = 0.2}, {}, 1);
    const CsrGraph graph = messageGraph(dataset, messagesAtTest(split, "train"));
    const auto degrees = [&](const std::vector<Edge>& edges) {
      double sum = 0;
      for (const Edge& edge : edges) {
        sum += static_cast<double>(graph.degree(edge.src) * graph.degree(edge.dst));
      }
      return sum / static_cast<double>(edges.size());
    };
    const double positive = degrees(split.test.positive.edges);
    const double negative = degrees(split.test.negative.edges);
    EXPECT_NEAR(positive / negative, 1.0, 0.15) << kind;
  }
}

TEST(SplitLinks, RanksAgainstWhatThereIsInASmallCatalogue) {
  const Dataset dataset = shoppers(40, 60);
  const LinkSplit split = splitLinks(dataset, {}, {}, 2);
  EXPECT_LT(split.test.negative.per_positive, 60U);
  EXPECT_GT(split.test.negative.per_positive, 30U);
  EXPECT_TRUE(tells(split, "items left to rank against"));
  expectSound(dataset, split);
}

// A user or an item that only validation or test know is counted once, whoever knows it.
TEST(SplitLinks, TellsOfUsersAndItemsWithoutTraining) {
  DatasetParts parts;
  parts.name = "shop";
  parts.raw.ids = IdMap::numbers(4);
  parts.raw.right_ids = IdMap::numbers(30);
  parts.raw.table.edges = {makeEdge(0, 0), makeEdge(0, 1), makeEdge(1, 0),
                           makeEdge(1, 1), makeEdge(2, 5), makeEdge(1, 7)};
  Dataset dataset = makeDataset(std::move(parts));
  OfficialSplit official;
  const auto at = [&](std::size_t row) { return dataset.edges.edges[row]; };
  official.train.edges = {at(0), at(1), at(2), at(3)};
  official.valid.edges = {at(4)};
  official.test.edges = {at(5)};
  dataset.official = official;
  const LinkSplit split = splitLinks(dataset, {}, {.per_positive = 5}, 0);
  EXPECT_TRUE(tells(split, "2 of 4 users and 28 of 30 items have no training interaction"));
}

TEST(SplitLinks, KeepsEitherEndOfAnUndirectedPositive) {
  const Dataset dataset = randomGraph(200, 1500);
  const LinkSplit split = splitLinks(dataset, {}, {.per_positive = 3}, 2);
  std::size_t source_kept = 0;
  for (std::size_t i = 0; i < split.test.positive.size(); ++i) {
    const Edge positive = split.test.positive.edges[i];
    const Edge negative = split.test.negative.edges[3 * i];
    EXPECT_TRUE(negative.src == positive.src || negative.src == positive.dst);
    source_kept += negative.src == positive.src ? 1 : 0;
  }
  EXPECT_GT(source_kept, split.test.positive.size() / 3);
  EXPECT_LT(source_kept, split.test.positive.size() * 2 / 3);
}

TEST(SplitLinks, KeepsATrainingItemForEveryUser) {
  const Dataset dataset = shoppers(100, 400);
  const LinkSplit split = splitLinks(dataset, {}, {.per_positive = 30}, 2);
  EXPECT_EQ(split.kind, "per_user");
  expectSound(dataset, split);
  std::set<NodeId> users;
  for (const Edge& edge : split.training.message.table.edges) {
    users.insert(edge.src);
  }
  EXPECT_EQ(users.size(), 100U);
  EXPECT_EQ(split.test.negative.per_positive, 30U);
  ASSERT_EQ(split.test.negative.edges.size(), 30 * split.test.positive.size());
  for (std::size_t i = 0; i < split.test.negative.edges.size(); ++i) {
    const Edge edge = split.test.negative.edges[i];
    EXPECT_EQ(edge.src, split.test.positive.edges[i / 30].src);
    EXPECT_GE(index(edge.dst), 100U);
  }
}

TEST(SplitLinks, TakesOfficialSplitsAsTheyAre) {
  Dataset dataset = randomGraph(50, 300);
  dataset.official = OfficialSplit{.train = {.edges = {makeEdge(1, 0), makeEdge(3, 2)}},
                                   .valid = {.edges = {makeEdge(5, 4)}},
                                   .test = {.edges = {makeEdge(7, 6)}},
                                   .valid_negative = {makeEdge(9, 8)},
                                   .test_negative = {makeEdge(11, 10), makeEdge(13, 12)}};
  const LinkSplit split = splitLinks(dataset, {}, {}, 0);
  EXPECT_EQ(split.kind, "official");
  EXPECT_EQ(split.test.positive.edges.front(), makeEdge(7, 6));
  EXPECT_EQ(split.test.negative.kind, "official");
  EXPECT_EQ(split.test.negative.edges.size(), 2U);
  EXPECT_EQ(messagesAtTest(split, "train").table.size(), 2U);
  EXPECT_EQ(messagesAtTest(split, "train+valid").table.size(), 3U);
}

TEST(TrainingEdges, KeepValidationEdgesOutOfTheMessagesUnlessAsked) {
  const Dataset dataset = randomGraph(50, 300);
  const LinkSplit split = splitLinks(dataset, {}, {}, 0);
  const std::vector<Edge>& messages = split.training.message.table.edges;
  const std::vector<Edge>& valid = split.training.valid.positive.edges;
  EXPECT_EQ(SplitOptions().message_at_train, "train");
  const TrainingEdges clean = trainingEdges(split, "train");
  EXPECT_EQ(clean.message.table.edges, messages);
  EXPECT_EQ(clean.valid.positive.edges, valid);
  const TrainingEdges leaky = trainingEdges(split, "train+valid");
  std::vector<Edge> both = messages;
  both.insert(both.end(), valid.begin(), valid.end());
  EXPECT_EQ(leaky.message.table.edges, both);
  EXPECT_EQ(leaky.valid.positive.edges, valid);
  EXPECT_EQ(leaky.supervision.table.edges, split.training.supervision.table.edges);
}

TEST(SplitLinks, CarvesValidationWhereNoneWasPublished) {
  Dataset dataset = shoppers(100, 60);
  OfficialSplit official;
  for (std::size_t row = 0; row < dataset.edges.size(); ++row) {
    const std::vector<std::size_t> one = {row};
    (row % 5 == 0 ? official.test : official.train)
        .edges.push_back(dataset.edges.select(one).edges.front());
  }
  dataset.official = official;
  const LinkSplit split = splitLinks(dataset, {}, {.per_positive = 10}, 0);
  expectSound(dataset, split);
  EXPECT_EQ(split.test.positive.edges, official.test.edges);
  EXPECT_NEAR(static_cast<double>(split.training.valid.positive.size()),
              0.1 * static_cast<double>(dataset.edges.size()), 1.0);
  EXPECT_TRUE(tells(split, "of the training edges moved there"));
}

// Purchases as a file lists them: ten of user 0, five of user 1, one of user 2, and the first 20 of
// 25 items by user 3, who alone has bought 16 to 19.
Dataset listedShoppers() {
  const auto bought = [](std::uint32_t user, std::uint32_t item) {
    return makeEdge(user, 4 + item);
  };
  OfficialSplit official;
  for (std::uint32_t item = 0; item < 20; ++item) {
    official.train.edges.push_back(bought(3, item));
  }
  for (const std::uint32_t item : {9, 3, 7, 1, 5, 0, 8, 2, 6, 4}) {
    official.train.edges.push_back(bought(0, item));
  }
  for (const std::uint32_t item : {14, 10, 13, 11, 12}) {
    official.train.edges.push_back(bought(1, item));
  }
  official.train.edges.push_back(bought(2, 15));
  official.test.edges = {bought(0, 16), bought(1, 17), bought(0, 18), bought(1, 19)};
  DatasetParts parts;
  parts.name = "shop";
  parts.raw.ids = IdMap::numbers(4);
  parts.raw.right_ids = IdMap::numbers(25);
  for (const EdgeTable* table : {&official.train, &official.test}) {
    for (const Edge& edge : table->edges) {
      parts.raw.table.edges.push_back(
          makeEdge(static_cast<std::uint32_t>(edge.src), static_cast<std::uint32_t>(edge.dst) - 4));
    }
  }
  Dataset dataset = makeDataset(std::move(parts));
  dataset.official = std::move(official);
  return dataset;
}

TEST(SplitLinks, CarvesTheLastOfEveryListWhereAsked) {
  Dataset dataset = listedShoppers();
  // Five of 40. From the ends, as shares of the lists: user 0's 4 (0.05), user 1's 12 (0.1), user
  // 0's 6 (0.15), user 3's 15 (0.225; 16 to 19 would be left without an edge), user 0's 2 (0.25).
  const SplitOptions last{.valid = 0.125, .carve = "last"};
  const LinkSplit split = splitLinks(dataset, last, {.per_positive = 2}, 0);
  EXPECT_EQ(split.training.valid.positive.edges,
            (std::vector<Edge>{makeEdge(3, 4 + 15), makeEdge(0, 4 + 2), makeEdge(0, 4 + 6),
                               makeEdge(0, 4 + 4), makeEdge(1, 4 + 12)}));
  EXPECT_EQ(split.training.message.table.size(), 31U);
  EXPECT_TRUE(tells(split, "5 of the training edges, the last of users' lists, moved there"));
  // Times go before the file's order.
  EdgeTable& train = dataset.official->train;
  for (std::size_t row = 0; row < train.size(); ++row) {
    train.time.push_back(-static_cast<double>(row));
  }
  const LinkSplit timed = splitLinks(dataset, last, {.per_positive = 2}, 0);
  EXPECT_EQ(timed.training.valid.positive.edges,
            (std::vector<Edge>{makeEdge(3, 4), makeEdge(3, 4 + 1), makeEdge(3, 4 + 2),
                               makeEdge(0, 4 + 9), makeEdge(1, 4 + 14)}));
}

// Training edges know their place among each other, whatever is held out.
TEST(SplitLinks, TellsTheOrderOfListsWithoutTimes) {
  Dataset dataset = listedShoppers();
  const SplitOptions last{.valid = 0.125, .carve = "last"};
  const LinkSplit split = splitLinks(dataset, last, {.per_positive = 2}, 0);
  const EdgeTable& train = split.training.supervision.table;
  const EdgeTable& valid = split.training.valid.positive;
  ASSERT_EQ(train.place.size(), train.size());
  ASSERT_EQ(valid.place.size(), valid.size());
  const std::vector<Edge>& file = dataset.official->train.edges;
  for (std::size_t row = 0; row < train.size(); ++row) {
    EXPECT_EQ(file[train.place[row]], train.edges[row]);
  }
  for (std::size_t row = 0; row < valid.size(); ++row) {
    EXPECT_EQ(file[valid.place[row]], valid.edges[row]);
  }
  // Columns stay in step when validation edges join the messages.
  const MessageEdges both = messagesAtTest(split, "train+valid");
  EXPECT_EQ(both.table.place.size(), both.table.size());
  EXPECT_EQ(trainingEdges(split, "train+valid").message.table.place.size(), both.table.size());
  // Times say it all, and lists that were dealt out at random say nothing.
  EdgeTable& listed = dataset.official->train;
  for (std::size_t row = 0; row < listed.size(); ++row) {
    listed.time.push_back(-static_cast<double>(row));
  }
  EXPECT_TRUE(
      splitLinks(dataset, last, {.per_positive = 2}, 0).training.supervision.table.place.empty());
  EXPECT_TRUE(splitLinks(shoppers(30, 20), {}, {.per_positive = 2}, 0)
                  .training.supervision.table.place.empty());
}

TEST(EdgeAges, AreTheSharesOfListsThatCameLater) {
  EdgeTable table{.edges = {makeEdge(0, 5), makeEdge(1, 5), makeEdge(0, 6), makeEdge(0, 7),
                            makeEdge(0, 8), makeEdge(2, 5)},
                  .place = {3, 9, 1, 0, 7, 4}};
  const EdgeLists by_source{.node_count = 9, .by_source = true};
  EXPECT_EQ(edgeAges(table, by_source),
            (std::vector<double>{0.375, 0.5, 0.625, 0.875, 0.125, 0.5}));
  // Times go before places, and what came at the same time is equally old.
  table.time = {2010, 2010, 2012, 2010, 2011, 2010};
  EXPECT_EQ(edgeAges(table, by_source), (std::vector<double>{0.75, 0.5, 0.125, 0.75, 0.375, 0.5}));
  const std::vector<double> together = edgeAges(table, {.node_count = 9});
  EXPECT_DOUBLE_EQ(together[2], 0.5 / 6);
  EXPECT_DOUBLE_EQ(together[4], 1.5 / 6);
  EXPECT_DOUBLE_EQ(together[0], 4.0 / 6);
  EXPECT_TRUE(edgeAges({.edges = table.edges}, by_source).empty());
}

TEST(EdgeTable, AppendsColumnsThatBothHave) {
  EdgeTable one{.edges = {makeEdge(0, 1)}, .weight = {2}, .time = {5}};
  one.append({.edges = {makeEdge(1, 2)}, .weight = {3}, .place = {5}});
  EXPECT_EQ(one.edges, (std::vector<Edge>{makeEdge(0, 1), makeEdge(1, 2)}));
  EXPECT_EQ(one.weight, (std::vector<float>{2, 3}));
  EXPECT_TRUE(one.time.empty());
  EXPECT_TRUE(one.place.empty());
  EdgeTable none;
  none.append(one);
  EXPECT_EQ(none.weight, one.weight);
  none.append({});
  EXPECT_EQ(none.weight, one.weight);
}

TEST(SplitLinks, KeepsContextEdgesAsMessagesAndDrawsNegativesAmongTargets) {
  const Dataset dataset = makePlanted({});
  const LinkSplit split = splitLinks(dataset, {}, {}, 0);
  std::set<NodeId> ends;
  for (std::size_t row = 0; row < dataset.edges.size(); ++row) {
    if (dataset.isTarget(row)) {
      ends.insert(dataset.edges.edges[row].src);
      ends.insert(dataset.edges.edges[row].dst);
    }
  }
  const auto context = [&](const EdgeTable& table) {
    return std::ranges::count_if(table.edge_class, [&](std::uint8_t edge_class) {
      return !dataset.edge_classes[edge_class].target;
    });
  };
  EXPECT_EQ(context(split.training.supervision.table), 0);
  EXPECT_EQ(context(split.training.valid.positive), 0);
  EXPECT_EQ(context(split.test.positive), 0);
  EXPECT_EQ(context(split.training.message.table), context(dataset.edges));
  for (const Edge& edge : split.test.negative.edges) {
    EXPECT_TRUE(ends.contains(edge.src) && ends.contains(edge.dst));
  }
}

TEST(SplitLinks, DrawsDegreeWeightedAndHardNegatives) {
  const Dataset dataset = randomGraph(200, 1500);
  for (const std::string kind : {"degree", "hard"}) {
    const LinkSplit split = splitLinks(dataset, {}, {.kind = kind}, 1);
    expectSound(dataset, split);
    EXPECT_EQ(split.test.negative.kind, kind);
  }
  const LinkSplit hard = splitLinks(dataset, {}, {.kind = "hard", .per_positive = 20}, 1);
  EXPECT_EQ(hard.test.negative.per_positive, 20U);
  for (std::size_t i = 0; i < hard.test.negative.edges.size(); ++i) {
    const Edge negative = hard.test.negative.edges[i];
    const Edge positive = hard.test.positive.edges[i / 20];
    EXPECT_TRUE(negative.src == positive.src || negative.dst == positive.dst ||
                negative.src == positive.dst || negative.dst == positive.src);
  }
}

TEST(SplitLinks, KeepsDirectedEdgesApart) {
  const Dataset dataset = randomGraph(100, 1500, Direction::kDirected);
  expectSound(dataset, splitLinks(dataset, {}, {}, 3));
}

TEST(SplitLinks, SaysWhenAKindDoesNotFitTheData) {
  Dataset dataset = randomGraph(50, 300);
  expectFailure<ConfigError>([&] { (void)splitLinks(dataset, {.kind = "per_user"}, {}, 0); },
                             "not bipartite");
  expectFailure<ConfigError>([&] { (void)splitLinks(dataset, {.kind = "official"}, {}, 0); },
                             "no official split");
  expectFailure<ConfigError>([&] { (void)splitLinks(dataset, {.valid = 0.5, .test = 0.5}, {}, 0); },
                             "leave nothing to train on");
  dataset.edges.time.clear();
  expectFailure<ConfigError>([&] { (void)splitLinks(dataset, {.kind = "time"}, {}, 0); },
                             "has no times");
  expectFailure<DataError>([&] { (void)splitLinks(dataset, {.valid = 0.0}, {}, 0); },
                           "leaves no validation edges");
}

TEST(MessageGraph, HoldsTheMessagesAndNothingElse) {
  const Dataset dataset = randomGraph(100, 500);
  const LinkSplit split = splitLinks(dataset, {}, {}, 0);
  const CsrGraph graph = messageGraph(dataset, split.training.message);
  EXPECT_EQ(graph.nodeCount(), 100U);
  EXPECT_EQ(graph.entryCount(), 2 * split.training.message.table.size());
  for (const Edge& edge : split.test.positive.edges) {
    EXPECT_FALSE(graph.hasEdge(edge.src, edge.dst));
  }
}

}  // namespace
}  // namespace edgewise
