// The program on real data, where published figures say what must come out.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/program.h"

namespace edgewise {
namespace {

using testing::Outcome;
using testing::readText;
using testing::runProgram;
using testing::TempFolder;

// Test Hits@20 with training edges as the only messages: 17.73, 18.61 and 6.23 percent are the
// public figures.
TEST(KnownDatasets, HeuristicsOnDdiAgreeWithThePublicFigures) {
  EDGEWISE_NEEDS_DATA(ddi, "ogbl_ddi");
  const TempFolder folder;
  const std::string out = (folder.path() / "run").string();
  const Outcome outcome = runProgram({"train", "--dataset", "ogbl-ddi", "--model", "cn,aa,ra",
                                      "--out", out, "--data", ddi.parent_path().string()});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto summary = nlohmann::json::parse(readText(folder.path() / "run/summary.json"));
  constexpr double kTolerance = 1e-4;
  EXPECT_NEAR(summary["cn"]["test"]["hits@20"]["mean"], 0.1773, kTolerance);
  EXPECT_NEAR(summary["aa"]["test"]["hits@20"]["mean"], 0.1861, kTolerance);
  EXPECT_NEAR(summary["ra"]["test"]["hits@20"]["mean"], 0.0623, kTolerance);
  const auto metrics = nlohmann::json::parse(readText(folder.path() / "run/cn/metrics.json"));
  EXPECT_EQ(metrics["audit"]["leaks"], 0);
  EXPECT_EQ(metrics["split"]["message_at_test"], "train");
}

TEST(KnownDatasets, PublishedFilesAndTheirTwinGiveTheSameNumbers) {
  EDGEWISE_NEEDS_DATA(cora, "cora");
  const TempFolder folder;
  std::vector<nlohmann::json> results;
  for (const std::string source : {"raw", "csv"}) {
    const std::string out = (folder.path() / source).string();
    const Outcome outcome =
        runProgram({"train", "--dataset", "cora", "--model", "ppr", "--out", out, "--data",
                    cora.parent_path().string(), "--set", "data.source=" + source});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    results.push_back(nlohmann::json::parse(readText(folder.path() / source / "metrics.json")));
  }
  EXPECT_EQ(results[0]["data_hash"], results[1]["data_hash"]);
  EXPECT_EQ(results[0]["split"]["hash"], results[1]["split"]["hash"]);
  EXPECT_EQ(results[0]["test"], results[1]["test"]);
}

}  // namespace
}  // namespace edgewise
