#include "edgewise/evaluation/audit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "edgewise/util/rng.h"

namespace edgewise {
namespace {

Dataset sample() {
  DatasetParts parts;
  parts.name = "sample";
  parts.raw.ids = IdMap::numbers(60);
  RngStream random(4, "graph");
  for (int i = 0; i < 400; ++i) {
    parts.raw.table.edges.push_back(makeEdge(static_cast<std::uint32_t>(random.below(60)),
                                             static_cast<std::uint32_t>(random.below(60))));
    parts.raw.table.time.push_back(i);
  }
  return makeDataset(std::move(parts));
}

AuditReport audit(const Dataset& dataset, const LinkSplit& split) {
  const MessageEdges at_valid = messagesAtValid(split.training);
  const MessageEdges at_test = messagesAtTest(split, "train");
  return auditSplit(dataset, split,
                    {.training = split.training.message, .valid = at_valid, .test = at_test});
}

bool mentions(const AuditReport& report, std::string_view what) {
  return std::ranges::any_of(report.leaks, [&](const Leak& leak) { return leak.what == what; });
}

TEST(Audit, FindsNothingInEveryKindOfSplit) {
  const Dataset dataset = sample();
  for (const std::string kind : {"random", "time", "nodes"}) {
    const AuditReport report =
        audit(dataset, splitLinks(dataset, {.kind = kind, .valid = 0.1, .test = 0.2}, {}, 0));
    EXPECT_TRUE(report.clean()) << kind << ": " << report.toJson().dump();
    EXPECT_GE(report.checks.size(), 15U);
  }
}

TEST(Audit, NamesEveryPlantedLeak) {
  const Dataset dataset = sample();
  const LinkSplit clean = splitLinks(dataset, {}, {}, 0);
  const auto leaked = [&](const auto& spoil) {
    LinkSplit split = clean;
    spoil(split);
    return audit(dataset, split);
  };
  const Edge test = clean.test.positive.edges[3];
  const Edge valid = clean.training.valid.positive.edges[1];
  const AuditReport message = leaked(
      [&](LinkSplit& split) { split.training.message.table.edges.push_back(reversed(test)); });
  EXPECT_TRUE(mentions(message, "test edges among the training messages"));
  EXPECT_TRUE(mentions(message, "test edges among the messages used to test"));
  EXPECT_EQ(message.leaks.front().examples.size(), 1U);
  EXPECT_TRUE(mentions(
      leaked([&](LinkSplit& split) { split.training.message.table.edges.push_back(valid); }),
      "validation edges among the training messages"));
  EXPECT_TRUE(mentions(
      leaked([&](LinkSplit& split) { split.training.supervision.table.edges.push_back(test); }),
      "test edges among the supervision edges"));
  EXPECT_TRUE(
      mentions(leaked([&](LinkSplit& split) { split.test.positive.edges.push_back(valid); }),
               "edges in both validation and test"));
  EXPECT_TRUE(mentions(leaked([&](LinkSplit& split) {
                         split.test.negative.edges.front() = reversed(dataset.edges.edges.front());
                       }),
                       "test negatives that are known edges"));
  EXPECT_TRUE(mentions(leaked([&](LinkSplit& split) {
                         split.training.valid.negative.edges.front() = makeEdge(7, 7);
                       }),
                       "validation negatives from a node to itself"));
}

TEST(Audit, SaysWhereValidationEdgesThatCarryMessagesLeak) {
  const Dataset dataset = sample();
  const LinkSplit split = splitLinks(dataset, {}, {}, 0);
  const TrainingEdges leaky = trainingEdges(split, "train+valid");
  const MessageEdges at_valid = messagesAtValid(leaky);
  const MessageEdges at_test = messagesAtTest(split, "train");
  const AuditReport report =
      auditSplit(dataset, split, {.training = leaky.message, .valid = at_valid, .test = at_test});
  ASSERT_EQ(report.leaks.size(), 2U);
  EXPECT_EQ(report.leaks[0].what, "validation edges among the training messages");
  EXPECT_EQ(report.leaks[1].what, "validation edges among the messages used to validate");
  for (const Leak& leak : report.leaks) {
    EXPECT_EQ(leak.count, split.training.valid.positive.size());
    EXPECT_EQ(leak.examples.size(), 3U);
  }
}

TEST(Audit, SeesThroughTimeAndNodeSplits) {
  const Dataset dataset = sample();
  LinkSplit by_time = splitLinks(dataset, {.kind = "time"}, {}, 0);
  by_time.training.message.table.time.front() = 1e9;
  EXPECT_TRUE(
      mentions(audit(dataset, by_time), "training edges later than the first validation edge"));
  LinkSplit by_nodes = splitLinks(dataset, {.kind = "nodes", .valid = 0.1, .test = 0.1}, {}, 0);
  by_nodes.training.message.table.edges.push_back(by_nodes.revealed_at_test.table.edges.front());
  const Edge seen = by_nodes.training.message.table.edges.front();
  by_nodes.test.positive.edges.push_back({seen.src, by_nodes.training.message.table.edges[1].src});
  EXPECT_TRUE(mentions(audit(dataset, by_nodes), "test edges between two training nodes"));
}

TEST(Audit, CountsInJson) {
  const Dataset dataset = sample();
  LinkSplit split = splitLinks(dataset, {}, {}, 0);
  const auto json = audit(dataset, split).toJson();
  EXPECT_EQ(json["leaks"], 0);
  split.training.message.table.edges.push_back(split.test.positive.edges.front());
  EXPECT_EQ(audit(dataset, split).toJson()["leaks"], 3) << "training, validation and test messages";
}

}  // namespace
}  // namespace edgewise
