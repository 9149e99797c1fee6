#include "edgewise/training/run_folder.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/test_support.h"

namespace edgewise {
namespace {

using testing::expectFailure;
using testing::TempFolder;

TEST(RunFolder, StoresAndRestoresEveryOption) {
  const TempFolder temp;
  RunOptions options;
  options.bind().set("split.test", "0.25", "test");
  options.bind().set("model.kind", "katz", "test");
  options.bind().set("data.edges", "some file.csv", "test");
  const RunFolder folder = RunFolder::create(temp.path() / "run");
  folder.writeOptions(options, "abc");
  RunOptions restored;
  EXPECT_EQ(RunFolder::open(temp.path() / "run").readOptions(restored), "abc");
  EXPECT_EQ(restored.bind().toJson(), options.bind().toJson());
}

TEST(RunFolder, RefusesUnknownOptionsOfADamagedRun) {
  const TempFolder temp;
  (void)temp.write(
      "run/options.json",
      R"({"format": 1, "version": "0", "data_hash": "", "options": {"split": {"tset": 1}}})");
  RunOptions options;
  expectFailure<DataError>([&] { (void)RunFolder::open(temp.path() / "run").readOptions(options); },
                           "unknown option 'split.tset'");
}

TEST(RunFolder, SaysWhatIsMissing) {
  const TempFolder temp;
  expectFailure<DataError>([&] { (void)RunFolder::open(temp.path() / "none"); },
                           "no such run folder");
  expectFailure<DataError>([&] { (void)RunFolder::open(temp.path()); }, "holds no run");
  (void)temp.write("run/options.json", "{}");
  expectFailure<DataError>(
      [&] { (void)RunFolder::open(temp.path() / "run").readJson("metrics.json"); },
      "the run did not finish");
}

TEST(FreeRunFolder, CountsUp) {
  const TempFolder temp;
  EXPECT_EQ(freeRunFolder(temp.path(), "cora-ra"), temp.path() / "cora-ra");
  std::filesystem::create_directory(temp.path() / "cora-ra");
  EXPECT_EQ(freeRunFolder(temp.path(), "cora-ra"), temp.path() / "cora-ra-2");
}

TEST(ResolveMetrics, FollowsTheProtocol) {
  Dataset dataset;
  const auto names = [&](const FrozenNegatives& negatives, const std::string& asked) {
    std::string text;
    for (const MetricRequest& request : resolveMetrics({.metrics = asked}, dataset, negatives)) {
      text += metricName(request) + " ";
    }
    return text;
  };
  const FrozenNegatives pool;
  const FrozenNegatives own = {.edges = {}, .per_positive = 100, .kind = "uniform"};
  EXPECT_EQ(names(pool, "auto"), "auc ap ");
  EXPECT_EQ(names(own, "auto"), "mrr hit@10 ");
  EXPECT_EQ(names(pool, "hits@20,auc"), "hits@20 auc ");
  dataset.metrics = {"hits@20"};
  EXPECT_EQ(names(pool, "auto"), "hits@20 ");
  dataset.bipartite = BipartiteShape{.users = 1, .items = 1};
  EXPECT_EQ(names(own, "auto"), "hit@10 ndcg@50 mrr ");
}

}  // namespace
}  // namespace edgewise
