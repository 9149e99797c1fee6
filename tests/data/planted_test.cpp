#include "edgewise/data/planted.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "edgewise/util/rng.h"

namespace edgewise {
namespace {

constexpr std::size_t kHops = 3;
constexpr std::size_t kCommunities = 8;
constexpr std::size_t kWordsPerCommunity = 16;
using Topics = std::array<double, kCommunities>;

// Hops to every node that is within reach.
std::map<std::uint32_t, std::size_t> hopsFrom(std::uint32_t start, const CsrGraph& graph) {
  std::map<std::uint32_t, std::size_t> hops = {{start, 0}};
  std::vector<std::uint32_t> front = {start};
  for (std::size_t hop = 1; hop <= kHops; ++hop) {
    std::vector<std::uint32_t> next;
    for (const std::uint32_t node : front) {
      for (const NodeId neighbour : graph.neighbours(NodeId{node})) {
        if (hops.emplace(index(neighbour), hop).second) {
          next.push_back(index(neighbour));
        }
      }
    }
    front = std::move(next);
  }
  return hops;
}

// What is said of communities exactly k hops from a node, for every k: words counted by community,
// centred and scaled to length 1. An independent stand-in for an encoder that has learned where to
// listen.
std::array<Topics, kHops + 1> heardBy(std::uint32_t start, const Dataset& dataset,
                                      const CsrGraph& graph) {
  std::array<Topics, kHops + 1> heard{};
  const auto offsets = dataset.features.rowOffsets();
  const auto words = dataset.features.columnIndices();
  for (const auto& [node, hop] : hopsFrom(start, graph)) {
    for (std::uint64_t at = offsets[node]; at < offsets[node + 1]; ++at) {
      if (words[at] / kWordsPerCommunity < kCommunities) {
        heard[hop][words[at] / kWordsPerCommunity] += 1;
      }
    }
  }
  for (Topics& topics : heard) {
    double mean = 0;
    for (const double value : topics) {
      mean += value / kCommunities;
    }
    double length = 1e-12;
    for (double& value : topics) {
      value -= mean;
      length += value * value;
    }
    for (double& value : topics) {
      value /= std::sqrt(length);
    }
  }
  return heard;
}

double auc(std::vector<double> positive, std::vector<double> negative) {
  std::ranges::sort(negative);
  double wins = 0;
  for (const double score : positive) {
    const auto [low, high] = std::ranges::equal_range(negative, score);
    wins += static_cast<double>((low - negative.begin()) + (high - negative.begin())) / 2;
  }
  return wins / static_cast<double>(positive.size() * negative.size());
}

class PlantedViews : public ::testing::Test {
 protected:
  void SetUp() override {
    dataset_ = makePlanted({});
    // A fifth of the target edges is held out; the rest carries messages.
    const CounterRng coin(1, "hold out");
    std::vector<Edge> messages;
    for (std::size_t row = 0; row < dataset_.edges.size(); ++row) {
      if (dataset_.isTarget(row) && coin.uniform(row) < 0.2) {
        held_out_[dataset_.edges.edge_class[row]].push_back(dataset_.edges.edges[row]);
      } else {
        messages.push_back(dataset_.edges.edges[row]);
      }
    }
    const CsrGraph graph = CsrGraph::fromEdges(dataset_.node_count, messages);
    for (std::uint32_t node = 0; node < dataset_.node_count; ++node) {
      heard_.push_back(heardBy(node, dataset_, graph));
    }
  }

  // AUC of one class under one view, against pairs of the same kinds of node.
  double viewAuc(std::uint8_t edge_class, int i, int j) {
    const auto score = [&](Edge edge) {
      double sum = 0;
      for (std::size_t c = 0; c < kCommunities; ++c) {
        sum += heard_[index(edge.src)][static_cast<std::size_t>(i)][c] *
               heard_[index(edge.dst)][static_cast<std::size_t>(j)][c];
      }
      return sum;
    };
    const std::vector<Edge>& edges = held_out_[edge_class];
    std::vector<double> positive;
    std::vector<double> negative;
    for (const Edge& edge : edges) {
      positive.push_back(score(edge));
      // Sources and targets of the class at random: the same kinds, mostly other communities.
      RngStream random(edgeKey(edge), "pairs");
      for (int draw = 0; draw < 5; ++draw) {
        negative.push_back(score({edge.src, edges[random.below(edges.size())].dst}));
      }
    }
    return auc(std::move(positive), std::move(negative));
  }

  Dataset dataset_;                                     // NOLINT: a fixture's state
  std::map<std::uint8_t, std::vector<Edge>> held_out_;  // NOLINT
  std::vector<std::array<Topics, kHops + 1>> heard_;    // NOLINT
};

TEST_F(PlantedViews, EachClassIsToldByItsMarkedViewsAndNoOther) {
  constexpr double kMargin = 0.05;
  for (std::uint8_t edge_class = 0; edge_class < 3; ++edge_class) {
    const std::vector<HopPair>& marked = dataset_.edge_classes[edge_class].views;
    double worst_marked = 1;
    double best_other = 0;
    for (int i = 1; i <= 3; ++i) {
      for (int j = 1; j <= 3; ++j) {
        const double value = viewAuc(edge_class, i, j);
        if (std::ranges::find(marked, HopPair{i, j}) != marked.end()) {
          worst_marked = std::min(worst_marked, value);
        } else {
          best_other = std::max(best_other, value);
        }
      }
    }
    EXPECT_GT(worst_marked, 0.9) << dataset_.edge_classes[edge_class].name;
    EXPECT_LT(best_other, worst_marked - kMargin) << dataset_.edge_classes[edge_class].name;
  }
}

TEST(Planted, HasTheAdvertisedShape) {
  const Dataset dataset = makePlanted({});
  EXPECT_EQ(dataset.node_count, 4000U);
  EXPECT_EQ(dataset.edge_classes.size(), 4U);
  std::array<std::size_t, 4> counts{};
  for (const std::uint8_t edge_class : dataset.edges.edge_class) {
    ++counts[edge_class];
  }
  // Kinds of pairs get edges in proportion to how many such pairs there are: 1 : 2 : 1.
  EXPECT_NEAR(static_cast<double>(counts[1]), 2.0 * static_cast<double>(counts[0]), 200);
  EXPECT_NEAR(static_cast<double>(counts[2]), static_cast<double>(counts[0]), 120);
  EXPECT_EQ(counts[0] + counts[1] + counts[2], 2800U);
  for (std::size_t row = 0; row < dataset.edges.size(); ++row) {
    if (dataset.isTarget(row)) {
      const Edge edge = dataset.edges.edges[row];
      EXPECT_EQ(dataset.labels[index(edge.src)], dataset.labels[index(edge.dst)]);
    }
  }
}

// A node and the words around it, one hop away and at all: kinds look alike until two hops away.
TEST(Planted, ShowsKindsTwoHopsAwayAndNoNearer) {
  const Dataset dataset = makePlanted({});
  const CsrGraph graph = CsrGraph::fromEdges(dataset.node_count, dataset.edges.edges);
  const std::uint32_t marks = kCommunities * kWordsPerCommunity;
  const auto offsets = dataset.features.rowOffsets();
  const auto words = dataset.features.columnIndices();
  std::array<std::array<std::size_t, 2>, kHops + 1> seen{};
  for (std::uint32_t start = 0; start < 20; ++start) {
    for (const auto& [node, hop] : hopsFrom(start, graph)) {
      for (std::uint64_t at = offsets[node]; at < offsets[node + 1]; ++at) {
        if (words[at] >= marks && words[at] < marks + 32) {
          ++seen[hop][(words[at] - marks) / 16];
        }
      }
    }
  }
  EXPECT_EQ(seen[0][0] + seen[1][0] + seen[0][1] + seen[1][1], 0U);
  EXPECT_GT(seen[2][0], 1000U) << "nodes from 0 on are near";
  EXPECT_EQ(seen[2][1], 0U);
}

TEST(Planted, DependsOnItsOptionsAlone) {
  EXPECT_EQ(makePlanted({}).hash, makePlanted({}).hash);
  EXPECT_NE(makePlanted({}).hash, makePlanted({.seed = 1}).hash);
  EXPECT_NE(makePlanted({}).hash, makePlanted({.noise = 0.5}).hash);
  EXPECT_EQ(makePlanted({.nodes = 500}).node_count, 500U);
}

}  // namespace
}  // namespace edgewise
