#include "edgewise/serving/embeddings.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "edgewise/data/npy.h"
#include "edgewise/serving/link_predictor.h"
#include "edgewise/util/file.h"
#include "support/finished_run.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::expectFailure;
using testing::FinishedRun;
using testing::quickOptions;
using testing::TempFolder;

// With a dot product as predictor, embeddings are all there is to a score.
TEST(Embeddings, AreWhatScoresAreMadeFrom) {
  RunOptions options = quickOptions("gae");
  options.network.predictor.kind = "dot";
  const FinishedRun run(options);
  const ServedRun& served = run.served();
  const PredictionGraph graph = runGraph(served);
  const NodeEmbeddings found = embedNodes(served.stored, served.dataset, graph.messages);
  ASSERT_EQ(found.layers.size(), 2U);
  EXPECT_EQ(found.width, 8U);
  EXPECT_EQ(found.nodes, served.dataset.node_count);
  for (std::size_t i = 0; i < 5; ++i) {
    const Edge pair = served.split.test.positive.edges[i];
    double dot = 0;
    for (std::size_t k = 0; k < found.width; ++k) {
      dot += found.layers.back()[index(pair.src) * found.width + k] *
             found.layers.back()[index(pair.dst) * found.width + k];
    }
    EXPECT_NEAR(dot, run.reported().test_scores[i], 1e-4);
  }
}

TEST(Embeddings, GoToFilesOfAnyForm) {
  const TempFolder folder;
  const FinishedRun run(quickOptions("sage", "ps2"));
  const ServedRun& served = run.served();
  const NodeEmbeddings found = embedNodes(served.stored, served.dataset, runGraph(served).messages);
  writeEmbeddings(folder.path() / "all.npz", served.dataset, found);
  const NpzFile npz(folder.path() / "all.npz");
  EXPECT_EQ(npz.names(), (std::vector<std::string>{"layer_1", "layer_2", "ids"}));
  EXPECT_EQ(npz.read("layer_2").shape(),
            (std::vector<std::size_t>{served.dataset.node_count, found.width}));
  writeEmbeddings(folder.path() / "all.npy", served.dataset, found);
  const FileBytes npy = readFile(folder.path() / "all.npy");
  EXPECT_EQ(readNpy(npy.view(), "all").shape(),
            (std::vector<std::size_t>{2, served.dataset.node_count, found.width}));
  EXPECT_TRUE(readFile(folder.path() / "all.ids.csv").view().starts_with("row,id\n0,"));
  writeEmbeddings(folder.path() / "all.csv", served.dataset, found);
  const FileBytes csv = readFile(folder.path() / "all.csv");
  std::istringstream rows{std::string(csv.view())};
  std::string row;
  std::getline(rows, row);
  EXPECT_TRUE(row.starts_with("id,layer,x1,x2,"));
  std::getline(rows, row);
  EXPECT_TRUE(row.starts_with(served.dataset.nodeLabel(NodeId{0}) + ",1,"));
  // Layers go by the hops they look.
  RunOptions later = quickOptions("sage", "rs");
  later.network.encoder.layers = 3;
  later.network.encoder.first_depth = 2;
  const FinishedRun second(later);
  writeEmbeddings(folder.path() / "later.npz", second.served().dataset,
                  embedNodes(second.served().stored, second.served().dataset,
                             runGraph(second.served()).messages));
  EXPECT_EQ(NpzFile(folder.path() / "later.npz").names(),
            (std::vector<std::string>{"layer_2", "layer_3", "ids"}));
  expectFailure<ConfigError>(
      [&] { writeEmbeddings(folder.path() / "all.parquet", served.dataset, found); },
      "no name of a known form");
}

TEST(Embeddings, AreNotToBeHadFromFormulas) {
  const FinishedRun run(quickOptions("cn"));
  const ServedRun& served = run.served();
  expectFailure<ConfigError>(
      [&] { (void)embedNodes(served.stored, served.dataset, runGraph(served).messages); },
      "is a formula and has no embeddings");
}

}  // namespace
}  // namespace edgewise
