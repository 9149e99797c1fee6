#include "edgewise/data/planetoid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "edgewise/data/npy.h"
#include "edgewise/util/error.h"
#include "edgewise/util/file.h"
#include "edgewise/util/text.h"
#include "support/byte_writers.h"
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

using testing::arrayBytes;
using ::testing::ElementsAre;
using testing::expectFailure;
using testing::PickleWriter;
using testing::TempFolder;

// A csr_matrix as scipy pickled it under Python 2.
std::string sparsePickle(std::initializer_list<std::int32_t> offsets,
                         std::initializer_list<std::int32_t> columns,
                         std::initializer_list<float> values, std::int32_t column_count) {
  const auto count = [](const auto& list) { return static_cast<std::int32_t>(list.size()); };
  PickleWriter pickle;
  pickle.global("scipy.sparse.csr", "csr_matrix").op(")\x81}(");
  pickle.bytes("format").bytes("csr").bytes("_shape").integer(count(offsets) - 1);
  pickle.integer(column_count).op("\x86").bytes("indptr");
  pickle.array("i4", std::array{count(offsets)}, arrayBytes(offsets), false).bytes("indices");
  pickle.array("i4", std::array{count(columns)}, arrayBytes(columns), false).bytes("data");
  pickle.array("f4", std::array{count(values)}, arrayBytes(values), false);
  return pickle.op("ub").finish();
}

std::string labelPickle(std::int32_t rows, std::initializer_list<std::int32_t> one_hot) {
  return PickleWriter().array("i4", std::array{rows, 2}, arrayBytes(one_hot), false).finish();
}

std::string graphPickle(const std::vector<std::vector<std::int32_t>>& lists) {
  PickleWriter pickle;
  pickle.global("collections", "defaultdict").global("__builtin__", "list").op("\x85").op("R(");
  std::int32_t node = 0;
  for (const auto& list : lists) {
    pickle.integer(node++).op("](");
    for (const std::int32_t neighbor : list) {
      pickle.integer(neighbor);
    }
    pickle.op("e");
  }
  return pickle.op("u").finish();
}

// Six nodes: 0, 1, 2 in allx, 5 and 3 in the test part (in this order), 4 in neither. The lists
// name 0-1 twice at both ends, 1-2 once, 3-5 at one end only, and a loop at 2.
void writeTiny(const TempFolder& folder) {
  const auto put = [&](const char* part, const std::string& content) {
    (void)folder.write(std::string("ind.tiny.") + part, content);
  };
  put("x", sparsePickle({0, 1}, {0}, {1}, 3));
  put("y", labelPickle(1, {0, 1}));
  put("allx", sparsePickle({0, 1, 1, 3}, {0, 2, 1}, {1, 3, 2}, 3));
  put("ally", labelPickle(3, {0, 1, 1, 0, 0, 0}));
  put("tx", testing::gzipBytes(sparsePickle({0, 1, 2}, {0, 2}, {5, 6}, 3)));
  put("ty", labelPickle(2, {0, 1, 1, 0}));
  put("graph", graphPickle({{1, 1}, {0, 2, 0}, {1, 2, 2}, {5}, {}, {}}));
  put("test.index", "5\n3\n");
}

TEST(ReadPlanetoid, PutsTestRowsIntoGraphOrder) {
  const TempFolder folder;
  writeTiny(folder);
  const DatasetParts parts = readPlanetoid(folder.path(), "tiny");
  EXPECT_EQ(parts.raw.ids.size(), 6U);
  EXPECT_THAT(parts.features.rowOffsets(), ElementsAre(0, 1, 1, 3, 4, 4, 5));
  EXPECT_THAT(parts.features.columnIndices(), ElementsAre(0, 1, 2, 2, 0));
  EXPECT_THAT(parts.features.values(), ElementsAre(1, 2, 3, 6, 5));
  EXPECT_THAT(parts.labels, ElementsAre(1, 0, -1, 0, -1, 1));
  EXPECT_THAT(parts.raw.notes, ElementsAre("9 adjacency entries, 2 of them self-loops",
                                           "1 nodes have neither features nor a label"));
}

TEST(ReadPlanetoid, ListsRepeatsAndLoopsOnceForBothEnds) {
  const TempFolder folder;
  writeTiny(folder);
  EXPECT_THAT(
      readPlanetoid(folder.path(), "tiny").raw.table.edges,
      ElementsAre(makeEdge(0, 1), makeEdge(0, 1), makeEdge(1, 2), makeEdge(2, 2), makeEdge(3, 5)));
}

TEST(ReadPlanetoid, NamesWhatIsWrong) {
  struct Case {
    const char* part;
    std::string content;
    const char* message;
  };
  const std::vector<Case> cases = {
      {"graph", graphPickle({{6}, {}, {}, {}, {}, {}}), "node 6 is not one of the 6 nodes 0..5"},
      {"graph", "].", "does not hold a dictionary of adjacency lists"},
      {"graph", "}I0\nI1\ns.", "node 0 has no adjacency list"},
      {"graph", "}I0\n]S'x'\nas.", "a node id is not a whole number"},
      {"graph", "cos\nsystem\n(S'true'\ntR.", "'os.system'"},
      {"graph", graphPickle({{1}, {0}}), "'5' is not one of the nodes 0..1"},
      {"test.index", "5\n", "1 test nodes, but 2 were expected"},
      {"test.index", "5\nx\n", "test.index:2: 'x' is not one of the nodes"},
      {"test.index", "5\n5\n", "test.index:2: test node 5 stands there twice"},
      {"test.index", "5\n1\n", "test node 1 is among the 3 nodes of allx"},
      {"tx", sparsePickle({0, 1, 2}, {0, 1}, {5, 6}, 2), "2 feature columns, but 3 were expected"},
      {"allx", labelPickle(1, {0, 1}), "does not hold a scipy csr_matrix"},
      {"allx", sparsePickle({0, 2, 1, 3}, {0, 2, 1}, {1, 3, 2}, 3), "must rise from 0"},
      {"ally", labelPickle(2, {0, 1, 1, 0}), "2 label rows, but 3 were expected"},
      {"y", labelPickle(2, {0, 1, 1, 0}), "2 label rows, but 1 were expected"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.message);
    const TempFolder folder;
    writeTiny(folder);
    (void)folder.write(std::string("ind.tiny.") + each.part, each.content);
    expectFailure<DataError>([&] { (void)readPlanetoid(folder.path(), "tiny"); }, each.message);
  }
}

TEST(ReadPlanetoid, NamesTheMissingFile) {
  const TempFolder folder;
  writeTiny(folder);
  std::filesystem::remove(folder.path() / "ind.tiny.ty");
  expectFailure<DataError>([&] { (void)readPlanetoid(folder.path(), "tiny"); },
                           "holds no file ind.tiny.ty");
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
