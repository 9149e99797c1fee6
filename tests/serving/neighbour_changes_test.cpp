// The neighbours that mattered: what is told is what scoring over the graph without them gives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <stdexcept>
#include <string>

#include "edgewise/serving/explanation.h"
#include "edgewise/serving/run_scorer.h"
#include "edgewise/util/parallel.h"
#include "support/finished_run.h"
#include "support/shops.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::FinishedRun;
using testing::quickOptions;

constexpr ExplainOptions kEveryone{.neighbours = 1'000'000};

// The pair's score by the run's stored model over its test messages, rebuilt without some edges.
double scoreWithout(const ServedRun& run, Edge pair, const std::function<bool(Edge)>& gone) {
  const MessageEdges all = messagesAtTest(run.split, run.stored.options.split.message_at_test);
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < all.table.size(); ++row) {
    if (!gone(all.table.edges[row])) {
      rows.push_back(row);
    }
  }
  const MessageEdges less{all.table.select(rows)};
  return openScorer(run.stored, run.dataset, less, &run.split)->score({&pair, 1}).front();
}

bool joins(Edge edge, NodeId one, NodeId other) {
  return (edge.src == one && edge.dst == other) || (edge.src == other && edge.dst == one);
}

// Every change told is that of the rebuilt graph, and whoever is not told changes nothing.
void expectRecomputed(const ServedRun& run, Edge pair) {
  const Explanation told = explainPair(run, pair, kEveryone);
  ASSERT_TRUE(told.neighbours.has_value());
  EXPECT_EQ(told.neighbours->tried, told.neighbours->count);
  const auto own = [&](Edge edge) { return told.left_out && joins(edge, pair.src, pair.dst); };
  const auto score_without = [&](NodeId node) {
    return scoreWithout(run, pair, [&](Edge edge) {
      return own(edge) || joins(edge, node, pair.src) || joins(edge, node, pair.dst);
    });
  };
  std::set<NodeId> silent;
  for (const Edge& edge :
       messagesAtTest(run.split, run.stored.options.split.message_at_test).table.edges) {
    for (const auto& [end, other] : {std::pair(edge.src, edge.dst), {edge.dst, edge.src}}) {
      if ((end == pair.src || end == pair.dst) && other != pair.src && other != pair.dst) {
        silent.insert(other);
      }
    }
  }
  EXPECT_EQ(silent.size(), told.neighbours->count);
  for (const NeighbourChange& one : told.neighbours->most) {
    silent.erase(one.node);
  }
  for (const NodeId node : silent) {
    EXPECT_NEAR(score_without(node), told.score, 1e-4 * std::max(1.0, std::abs(told.score)))
        << run.dataset.nodeLabel(node);
  }
  for (const NeighbourChange& one : told.neighbours->most) {
    const double without = score_without(one.node);
    EXPECT_NEAR(one.score, without, 1e-4 * std::max(1.0, std::abs(without))) << one.id;
    EXPECT_EQ(one.change, one.score - told.score);
    EXPECT_NE(one.change, 0);
  }
  EXPECT_TRUE(
      std::ranges::is_sorted(told.neighbours->most, std::ranges::greater(),
                             [](const NeighbourChange& one) { return std::abs(one.change); }));
}

RunOptions ownEdges(RunOptions options, const std::filesystem::path& file) {
  options.data.dataset = "";
  options.data.edges = file.string();
  return options;
}

// a and b share c and d; e hangs on a, f on b, and d alone knows g, h and i.
constexpr const char* kHouse =
    "from,to\na,c\na,d\na,e\nb,c\nb,d\nb,f\nd,g\nd,h\nd,i\ng,h\nh,i\ng,i\ne,f\nc,e\n";

class House : public ::testing::Test {
 protected:
  // Nearly all edges carry messages; the pair is told by its names.
  Explanation explained(const std::string& model, const std::string& names) {
    RunOptions options = ownEdges(quickOptions(model), folder_.write("house.csv", kHouse));
    options.split.valid = 0.08;
    options.split.test = 0.08;
    options.split.message_at_test = "train+valid";
    const FinishedRun run(options);
    messages_ =
        messageGraph(run.served().dataset, messagesAtTest(run.served().split, "train+valid"));
    dataset_ = run.served().dataset;
    return explainPair(run.served(), {node(names.substr(0, 1)), node(names.substr(1))}, kEveryone);
  }
  [[nodiscard]] NodeId node(const std::string& name) const {
    for (std::uint32_t i = 0; i < dataset_.node_count; ++i) {
      if (dataset_.nodeLabel(NodeId{i}) == name) {
        return NodeId{i};
      }
    }
    throw std::out_of_range(name);
  }

  testing::TempFolder folder_;
  CsrGraph messages_;
  Dataset dataset_;
};

TEST_F(House, ACommonNeighbourTakesItsPartAlong) {
  const Explanation told = explained("ra", "ab");
  double sum = 0;
  ASSERT_FALSE(told.neighbours->most.empty());
  for (const NeighbourChange& one : told.neighbours->most) {
    EXPECT_TRUE(one.of_source && one.of_target) << one.id << " adds nothing";
    EXPECT_EQ(one.degree, messages_.degree(one.node));
    EXPECT_NEAR(one.change, -1 / static_cast<double>(one.degree), 1e-12);
    sum += one.change;
  }
  EXPECT_NEAR(told.score + sum, 0, 1e-12);
  // Those with few friends weigh most.
  EXPECT_TRUE(std::ranges::is_sorted(told.neighbours->most, {}, &NeighbourChange::degree));
}

TEST_F(House, AStrangerSpeaksAgainstJaccard) {
  const Explanation told = explained("jaccard", "ab");
  const auto shared = static_cast<double>(told.common.size());
  const double all = shared / told.score;
  for (const NeighbourChange& one : told.neighbours->most) {
    const bool common = one.of_source && one.of_target;
    EXPECT_NEAR(one.score, (shared - (common ? 1 : 0)) / (all - 1), 1e-12) << one.id;
    EXPECT_EQ(one.change < 0, common) << one.id;
  }
  EXPECT_EQ(told.neighbours->most.size(), told.neighbours->count);
}

TEST_F(House, DegreesShrinkWithEveryNeighbour) {
  const Explanation told = explained("pa", "ab");
  const auto source = static_cast<double>(told.source.degree);
  const auto target = static_cast<double>(told.target.degree);
  ASSERT_FALSE(told.neighbours->most.empty());
  for (const NeighbourChange& one : told.neighbours->most) {
    EXPECT_EQ(one.score, (source - (one.of_source ? 1 : 0)) * (target - (one.of_target ? 1 : 0)));
  }
}

TEST(NeighbourChanges, AreThoseOfTheGraphWithoutThem) {
  for (const char* model : {"gae", "sage", "seal", "ppr", "aa"}) {
    RunOptions options = quickOptions(model);
    options.subgraph.hops = 1;
    const FinishedRun run(options);
    const LinkSplit& split = run.served().split;
    SCOPED_TRACE(model);
    expectRecomputed(run.served(), split.test.positive.edges.front());
    expectRecomputed(run.served(), split.test.negative.edges.front());
    expectRecomputed(run.served(), split.training.message.table.edges[3]);
  }
}

// The views may change too.
TEST(NeighbourChanges, FollowTheSelector) {
  for (const char* model : {"gae", "seal"}) {
    RunOptions options = quickOptions(model, "ps2");
    options.subgraph.hops = 2;
    const FinishedRun run(options);
    SCOPED_TRACE(model);
    for (const Edge& pair : std::span(run.served().split.test.positive.edges).first(3)) {
      expectRecomputed(run.served(), pair);
    }
    expectRecomputed(run.served(), run.served().split.training.message.table.edges[3]);
  }
}

TEST(NeighbourChanges, KnowUsersAndItems) {
  testing::TempFolder files;
  std::string text = "user,item\n";
  for (const Edge& edge :
       testing::shopEdges({.users = 30, .items = 24, .groups = 3, .bought = 6})) {
    text += std::to_string(index(edge.src)) + "," + std::to_string(index(edge.dst)) + "\n";
  }
  for (const char* model : {"lightgcn", "ngcf"}) {
    RunOptions options = ownEdges(quickOptions(model), files.write("shop.csv", text));
    options.data.bipartite = true;
    const FinishedRun run(options);
    SCOPED_TRACE(model);
    const Edge pair = run.served().split.training.message.table.edges.front();
    expectRecomputed(run.served(), pair);
    const Explanation told = explainPair(run.served(), pair, kEveryone);
    const std::size_t users = run.served().dataset.bipartite->users;
    ASSERT_FALSE(told.neighbours->most.empty());
    for (const NeighbourChange& one : told.neighbours->most) {
      EXPECT_NE(one.of_source, one.of_target) << "users know items, and items users";
      EXPECT_EQ(one.of_source, index(one.node) >= users);
    }
  }
}

TEST(NeighbourChanges, GoBothWaysAlongDirectedEdges) {
  testing::TempFolder files;
  for (const char* model : {"gae", "cn", "aa"}) {
    RunOptions options =
        ownEdges(quickOptions(model), files.write("arrows.csv", testing::arrowsText()));
    options.data.directed = true;
    const FinishedRun run(options);
    SCOPED_TRACE(model);
    const Edge known = run.served().split.training.message.table.edges.front();
    for (const Edge& pair : {run.served().split.test.positive.edges.front(), reversed(known)}) {
      expectRecomputed(run.served(), pair);
    }
  }
}

TEST(NeighbourChanges, AreBoundedAndTheSameAgain) {
  std::string text = "from,to\n";
  // A hub that knows 160 others, of whom every fourth knows its partner too.
  for (int i = 0; i < 160; ++i) {
    text += "hub,n" + std::to_string(i) + "\nn" + std::to_string(i) + ",n" +
            std::to_string((i + 1) % 160) + "\n";
    if (i % 4 == 0) {
      text += "partner,n" + std::to_string(i) + "\n";
    }
  }
  testing::TempFolder files;
  const FinishedRun run(ownEdges(quickOptions("gae"), files.write("hub.csv", text)));
  const CsrGraph graph = messageGraph(run.served().dataset, run.served().split.training.message);
  NodeId hub{};
  NodeId partner{};
  for (std::uint32_t i = 0; i < graph.nodeCount(); ++i) {
    const std::string id = run.served().dataset.nodeLabel(NodeId{i});
    hub = id == "hub" ? NodeId{i} : hub;
    partner = id == "partner" ? NodeId{i} : partner;
  }
  const auto told = [&](std::size_t neighbours, int threads) {
    const int before = threadCount();
    setThreadCount(threads);
    Explanation result = explainPair(run.served(), {hub, partner}, {.neighbours = neighbours});
    setThreadCount(before);
    return result;
  };
  const Explanation few = told(5, 1);
  EXPECT_GT(few.neighbours->count, 120U);
  EXPECT_EQ(few.neighbours->tried, 100U);
  EXPECT_EQ(few.neighbours->most.size(), 5U);
  EXPECT_EQ(few.toJson(), told(5, 2).toJson());
  EXPECT_EQ(told(110, 2).neighbours->tried, 110U);
  // All common neighbours are among those tried.
  const Explanation many = told(100, 2);
  const auto common = std::ranges::count_if(many.neighbours->most, [](const NeighbourChange& one) {
    return one.of_source && one.of_target;
  });
  std::size_t between = 0;
  for (const NodeId node : graph.neighbours(hub)) {
    between += graph.hasEdge(node, partner) ? 1 : 0;
  }
  // Whose absence changes nothing is not told.
  EXPECT_LE(static_cast<std::size_t>(common), between);
  EXPECT_GT(2 * static_cast<std::size_t>(common), between);
  EXPECT_FALSE(told(0, 2).neighbours.has_value());
}

TEST(NeighbourChanges, AreNoneWhereTheEndsStandAlone) {
  testing::TempFolder files;
  // Two pairs that know each other alone, beside a ring.
  std::string text = "from,to\n";
  for (int i = 0; i < 30; ++i) {
    text += "r" + std::to_string(i) + ",r" + std::to_string((i + 1) % 30) + "\n";
  }
  for (int i = 0; i < 6; ++i) {
    text += "p" + std::to_string(i) + ",q" + std::to_string(i) + "\n";
  }
  const FinishedRun run(ownEdges(quickOptions("sage"), files.write("alone.csv", text)));
  for (const Edge& edge : run.served().split.training.message.table.edges) {
    if (run.served().dataset.nodeLabel(edge.src).front() == 'r') {
      continue;
    }
    const Explanation told = explainPair(run.served(), edge);
    ASSERT_TRUE(told.neighbours.has_value());
    EXPECT_EQ(told.neighbours->count, 0U);
    EXPECT_EQ(told.toJson()["neighbours"].dump(), R"({"count":0,"tried":0,"most":[]})");
    return;
  }
  FAIL() << "no such pair carries messages";
}

TEST(NeighbourChanges, SpeakJsonAndMarkThePicture) {
  const FinishedRun run(quickOptions("gae"));
  const Edge pair = run.served().split.test.positive.edges[1];
  const Explanation told = explainPair(run.served(), pair, {.neighbours = 3});
  const nlohmann::ordered_json json = told.toJson()["neighbours"];
  ASSERT_FALSE(told.neighbours->most.empty());
  const NeighbourChange& first = told.neighbours->most.front();
  ASSERT_EQ(json["most"].size(), told.neighbours->most.size());
  EXPECT_EQ(json["count"], told.neighbours->count);
  EXPECT_EQ(json["most"][0]["id"], first.id);
  EXPECT_EQ(json["most"][0]["of"],
            first.of_source ? first.of_target ? "both" : "source" : "target");
  EXPECT_EQ(json["most"][0]["degree"], first.degree);
  EXPECT_EQ(json["most"][0]["score"], first.score);
  EXPECT_EQ(json["most"][0]["change"], first.change);
  ASSERT_TRUE(told.subgraph.has_value());
  const auto marked = std::ranges::count_if(
      told.subgraph->nodes, [](const auto& node) { return node.change.has_value(); });
  EXPECT_EQ(static_cast<std::size_t>(marked), told.neighbours->most.size());
  EXPECT_THAT(told.subgraph->toSvg(), ::testing::HasSubstr("without it the score changes by"));
  EXPECT_TRUE(explainPair(run.served(), pair, {.neighbours = 0}).toJson()["neighbours"].is_null());
}

}  // namespace
}  // namespace edgewise
