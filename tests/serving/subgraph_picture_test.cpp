#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "edgewise/serving/explanation.h"

namespace edgewise {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Two ends with one neighbour between them and one that hangs on the source.
ExplainedSubgraph small() {
  return {.labelling = "drnl",
          .nodes = {{.id = "a<b", .label = {1}, .from_source = 0, .from_target = 2},
                    {.id = "c&d", .label = {1}, .from_source = 2, .from_target = 0},
                    {.id = "middle", .label = {2}, .from_source = 1, .from_target = 1},
                    {.id = "leaf", .label = {0}, .from_source = 1, .from_target = std::nullopt}},
          .edges = {{0, 2}, {0, 3}, {1, 2}}};
}

std::size_t countOf(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(ExplainedSubgraph, IsJsonInTheUsersIds) {
  const nlohmann::ordered_json json = small().toJson();
  EXPECT_EQ(json.dump(),
            R"({"labels":"drnl","nodes":[{"id":"a<b","label":1,"from_source":0,"from_target":2},)"
            R"({"id":"c&d","label":1,"from_source":2,"from_target":0},)"
            R"({"id":"middle","label":2,"from_source":1,"from_target":1},)"
            R"({"id":"leaf","label":0,"from_source":1,"from_target":null}],)"
            R"("edges":[["a<b","middle"],["a<b","leaf"],["c&d","middle"]]})");
  ExplainedSubgraph both = small();
  both.nodes[2].label = {1, 1};
  EXPECT_EQ(both.toJson()["nodes"][2]["label"].dump(), "[1,1]");
}

TEST(ExplainedSubgraph, DrawsEveryNodeAndEdgeOnce) {
  const std::string svg = small().toSvg();
  EXPECT_EQ(countOf(svg, "<circle"), 4U);
  EXPECT_EQ(countOf(svg, "<line"), 3U);
  EXPECT_THAT(svg, HasSubstr("a&lt;b - c&amp;d: 4 nodes, 3 edges"));
  EXPECT_THAT(svg, Not(HasSubstr("a<b")));
  EXPECT_THAT(svg, Not(HasSubstr("more")));
}

TEST(ExplainedSubgraph, DrawsTheNearestOfMany) {
  ExplainedSubgraph many = small();
  for (int i = 0; i < 500; ++i) {
    many.nodes.push_back(
        {.id = "far" + std::to_string(i), .label = {9}, .from_source = 3, .from_target = 3});
    many.edges.emplace_back(2, many.nodes.size() - 1);
  }
  const std::string svg = many.toSvg();
  EXPECT_EQ(countOf(svg, "<circle"), 120U);
  EXPECT_THAT(svg, HasSubstr("middle: label 2"));
  EXPECT_THAT(svg, HasSubstr("and 384 more nodes"));
}

}  // namespace
}  // namespace edgewise
