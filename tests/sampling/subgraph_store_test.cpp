// Subgraphs that are kept in a file are those that are cut out, whatever happens to the file.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "edgewise/sampling/enclosing_subgraph.h"
#include "edgewise/util/error.h"
#include "edgewise/util/parallel.h"
#include "support/random_graphs.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::expectFailure;
using testing::TempFolder;

struct Case {
  CsrGraph graph = testing::randomGraph(60, 150, 7);
  std::vector<Edge> pairs = testing::randomPairs(60, 80, 8);
  std::vector<HopView> views;
  ExtractionOptions options = {};

  Case() {
    // Each once, so that the order of threads decides nothing.
    std::ranges::sort(pairs);
    pairs.erase(std::ranges::unique(pairs).begin(), pairs.end());
    for (std::uint32_t i = 0; i < pairs.size(); ++i) {
      views.push_back({1 + i % 3, 1 + i % 2});
    }
  }

  [[nodiscard]] SubgraphExtractor extractor() const { return SubgraphExtractor(graph, options); }
  [[nodiscard]] SubgraphBatch plain() const {
    ExtractionOptions without = options;
    without.store = {};
    return SubgraphExtractor(graph, without).extract(pairs, views);
  }
  void expectPlain(const SubgraphBatch& batch, const std::string& what) const {
    const SubgraphBatch expected = plain();
    EXPECT_EQ(batch.node_offsets, expected.node_offsets) << what;
    EXPECT_EQ(batch.nodes, expected.nodes) << what;
    EXPECT_EQ(batch.labels, expected.labels) << what;
    EXPECT_TRUE(std::ranges::equal(batch.graph.offsets(), expected.graph.offsets())) << what;
    EXPECT_TRUE(std::ranges::equal(batch.graph.targets(), expected.graph.targets())) << what;
  }
};

std::filesystem::path onlyFile(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back(entry.path());
  }
  EXPECT_EQ(files.size(), 1U);
  return files.front();
}

std::string bytesOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void writeBytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

TEST(SubgraphStore, GivesWhatIsCutOutAgainAndInAnotherProgram) {
  for (const NodeLabelling labelling : {NodeLabelling::kDrnl, NodeLabelling::kDistances}) {
    for (const double ratio : {1.0, 0.5}) {
      const TempFolder folder;
      Case with;
      with.options.labels.labelling = labelling;
      with.options.sampling = {.ratio = ratio, .seed = 3};
      with.options.store.folder = folder.path() / "made" / "here";
      const std::string what = std::to_string(ratio);
      std::uintmax_t size = 0;
      {
        const SubgraphExtractor first = with.extractor();
        with.expectPlain(first.extract(with.pairs, with.views), what + " cut out");
        size = std::filesystem::file_size(onlyFile(with.options.store.folder));
        EXPECT_GT(size, 60U * 28);
        with.expectPlain(first.extract(with.pairs, with.views), what + " read");
      }
      with.expectPlain(with.extractor().extract(with.pairs, with.views), what + " opened again");
      EXPECT_EQ(std::filesystem::file_size(onlyFile(with.options.store.folder)), size)
          << "nothing is added twice";
    }
  }
}

TEST(SubgraphStore, BelongsToItsGraphAndOptions) {
  const TempFolder folder;
  Case one;
  one.options.store.folder = folder.path();
  (void)one.extractor().extract(one.pairs, one.views);
  Case other = one;
  other.graph = testing::randomGraph(60, 150, 9);
  other.expectPlain(other.extractor().extract(other.pairs, other.views), "another graph");
  other = one;
  other.options.labels.max_label = 2;
  other.expectPlain(other.extractor().extract(other.pairs, other.views), "other labels");
  other = one;
  other.options.sampling.max_nodes = 2;
  other.expectPlain(other.extractor().extract(other.pairs, other.views), "fewer nodes");
  const auto files = std::distance(std::filesystem::directory_iterator(folder.path()), {});
  EXPECT_EQ(files, 4);
  // A seed that decides nothing makes no other file.
  other = one;
  other.options.sampling.seed = 99;
  (void)other.extractor();
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), files);
}

TEST(SubgraphStore, OutlivesDamage) {
  const TempFolder folder;
  Case with;
  with.options.store.folder = folder.path();
  (void)with.extractor().extract(with.pairs, with.views);
  const auto file = onlyFile(folder.path());
  const std::string whole = bytesOf(file);
  for (std::size_t size = 0; size < whole.size(); size += whole.size() / 37) {
    writeBytes(file, whole.substr(0, size));
    with.expectPlain(with.extractor().extract(with.pairs, with.views),
                     "cut off at " + std::to_string(size));
    EXPECT_EQ(bytesOf(file).size(), whole.size()) << "mended, " << size;
  }
  for (std::size_t place = 0; place < whole.size(); place += whole.size() / 211) {
    std::string bytes = whole;
    bytes[place] = static_cast<char>(bytes[place] ^ 0x10);
    writeBytes(file, bytes);
    with.expectPlain(with.extractor().extract(with.pairs, with.views),
                     "flipped at " + std::to_string(place));
    with.expectPlain(with.extractor().extract(with.pairs, with.views),
                     "afterwards " + std::to_string(place));
  }
}

TEST(SubgraphStore, GrowsNoFurtherThanItMay) {
  const TempFolder folder;
  Case with;
  with.options.store = {.folder = folder.path(), .most_bytes = 5000};
  const SubgraphExtractor extractor = with.extractor();
  with.expectPlain(extractor.extract(with.pairs, with.views), "first");
  with.expectPlain(extractor.extract(with.pairs, with.views), "second");
  EXPECT_LE(std::filesystem::file_size(onlyFile(folder.path())), 5000U);
  EXPECT_GT(std::filesystem::file_size(onlyFile(folder.path())), 1000U);
}

TEST(SubgraphStore, KeepsTheFirstPairsAlone) {
  const TempFolder folder;
  Case with;
  with.options.store.folder = folder.path();
  const SubgraphExtractor extractor = with.extractor();
  (void)extractor.extract(with.pairs, with.views, 0);
  const auto file = onlyFile(folder.path());
  const auto empty = std::filesystem::file_size(file);
  (void)extractor.extract(with.pairs, with.views, 10);
  const auto some = std::filesystem::file_size(file);
  EXPECT_GT(some, empty);
  (void)extractor.extract(std::span(with.pairs).first(10), std::span(with.views).first(10));
  EXPECT_EQ(std::filesystem::file_size(file), some);
  with.expectPlain(extractor.extract(with.pairs, with.views), "all");
}

TEST(SubgraphStore, IsAddedToByOneAtATime) {
  const TempFolder folder;
  Case with;
  with.options.store.folder = folder.path();
  const SubgraphExtractor first = with.extractor();
  (void)first.extract(std::span(with.pairs).first(40), std::span(with.views).first(40));
  const auto size = std::filesystem::file_size(onlyFile(folder.path()));
  const SubgraphExtractor second = with.extractor();
  with.expectPlain(second.extract(with.pairs, with.views), "while another adds");
  EXPECT_EQ(std::filesystem::file_size(onlyFile(folder.path())), size);
  with.expectPlain(first.extract(with.pairs, with.views), "by the one that adds");
}

TEST(SubgraphStore, ServesManyThreads) {
  const int threads = threadCount();
  const TempFolder folder;
  Case with;
  with.options.store.folder = folder.path();
  setThreadCount(4);
  const SubgraphExtractor extractor = with.extractor();
  for (int round = 0; round < 5; ++round) {
    with.expectPlain(extractor.extract(with.pairs, with.views), std::to_string(round));
  }
  setThreadCount(threads);
}

TEST(SubgraphStore, SaysWhereItCannotBe) {
  const TempFolder folder;
  Case with;
  with.options.store.folder = folder.write("file", "in the way");
  expectFailure<ResourceError>([&] { (void)with.extractor(); }, "cannot be made");
}

}  // namespace
}  // namespace edgewise
