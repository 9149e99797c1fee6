#include "edgewise/data/planetoid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "edgewise/data/npy.h"
#include "edgewise/util/error.h"
#include "edgewise/util/file.h"
#include "edgewise/util/text.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

// Rows of two whole numbers after a header line.
std::vector<std::pair<std::int64_t, std::int64_t>> readPairs(const std::filesystem::path& path) {
  const FileBytes bytes = readFile(path);
  std::vector<std::pair<std::int64_t, std::int64_t>> rows;
  for (const std::string_view line : splitText(bytes.view(), '\n')) {
    const auto cells = splitText(trimmed(line), ',');
    if (cells.size() == 2 && parseInteger(cells[0])) {
      rows.emplace_back(*parseInteger(cells[0]), parseInteger(cells[1]).value());
    }
  }
  return rows;
}

struct PublishedCounts {
  std::string name;
  std::size_t nodes;
  std::size_t columns;
  std::size_t nonzeros;
  std::size_t listed_edges;
  std::size_t loops;
  std::size_t edges;
  std::string remark;
};

class PlanetoidData : public ::testing::TestWithParam<PublishedCounts> {};

TEST_P(PlanetoidData, EqualsItsPickleFreeTwin) {
  const PublishedCounts& published = GetParam();
  EDGEWISE_NEEDS_DATA(folder, published.name);
  const DatasetParts parts = readPlanetoid(folder, published.name);
  EXPECT_EQ(parts.name, published.name);
  EXPECT_EQ(parts.raw.ids.size(), published.nodes);
  EXPECT_EQ(parts.features.rows(), published.nodes);
  EXPECT_EQ(parts.features.columns(), published.columns);
  EXPECT_EQ(parts.features.nonzeroCount(), published.nonzeros);
  const FeatureMatrix twin = readFeaturesNpz(folder / "features.npz");
  EXPECT_TRUE(std::ranges::equal(parts.features.rowOffsets(), twin.rowOffsets()));
  EXPECT_TRUE(std::ranges::equal(parts.features.columnIndices(), twin.columnIndices()));
  EXPECT_TRUE(std::ranges::equal(parts.features.values(), twin.values()));
  const auto labels = readPairs(folder / "labels.csv");
  ASSERT_EQ(labels.size(), parts.labels.size());
  for (const auto& [node, label] : labels) {
    ASSERT_EQ(parts.labels[static_cast<std::size_t>(node)], label) << "node " << node;
  }
}

TEST_P(PlanetoidData, ListsEveryEdgeAsOftenAsItsSource) {
  const PublishedCounts& published = GetParam();
  EDGEWISE_NEEDS_DATA(folder, published.name);
  const DatasetParts parts = readPlanetoid(folder, published.name);
  const std::vector<Edge>& rows = parts.raw.table.edges;
  EXPECT_EQ(rows.size(), published.listed_edges);
  EXPECT_EQ(std::ranges::count_if(rows, [](Edge edge) { return edge.src == edge.dst; }),
            static_cast<std::ptrdiff_t>(published.loops));
  std::set<Edge> distinct(rows.begin(), rows.end());
  std::erase_if(distinct, [](Edge edge) { return edge.src == edge.dst; });
  EXPECT_EQ(distinct.size(), published.edges);
  std::set<Edge> twin;
  for (const auto& [src, dst] : readPairs(folder / "edges.csv")) {
    twin.insert(makeEdge(static_cast<std::uint32_t>(src), static_cast<std::uint32_t>(dst)));
  }
  EXPECT_EQ(distinct, twin);
  EXPECT_EQ(parts.raw.notes.front(), published.remark);
}

INSTANTIATE_TEST_SUITE_P(
    All, PlanetoidData,
    ::testing::Values(PublishedCounts{"cora", 2708, 1433, 49216, 5429, 0, 5278,
                                      "10,858 adjacency entries, 0 of them self-loops"},
                      PublishedCounts{"citeseer", 3327, 3703, 105165, 4732, 124, 4552,
                                      "9,464 adjacency entries, 248 of them self-loops"},
                      PublishedCounts{"pubmed", 19717, 500, 988031, 44338, 3, 44324,
                                      "88,676 adjacency entries, 6 of them self-loops"}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace edgewise
