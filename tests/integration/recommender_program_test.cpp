// Recommendation as a user meets it: a list of purchases with names, a trained model, its numbers.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/program.h"
#include "support/shops.h"

namespace edgewise {
namespace {

using ::testing::HasSubstr;
using testing::metricsOf;
using testing::Outcome;
using testing::readText;
using testing::runProgram;
using testing::TempFolder;

// Purchases by name, with a header; some occur twice.
std::filesystem::path writePurchases(const TempFolder& folder) {
  std::string text = "user,item\n";
  for (const Edge& edge : testing::shopEdges({})) {
    text += fmt::format("ann-{},tea-{}\n", index(edge.src), index(edge.dst));
  }
  return folder.write("purchases.csv", text);
}

std::vector<std::string> trainWords(const TempFolder& folder, const std::string& model,
                                    const std::filesystem::path& out,
                                    const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = {"train",
                                    "--edges",
                                    writePurchases(folder).string(),
                                    "--bipartite",
                                    "--model",
                                    model,
                                    "--out",
                                    out.string(),
                                    "--overwrite",
                                    "--set",
                                    "negatives.per_positive=20",
                                    "training.epochs=12",
                                    "training.batch_size=128",
                                    "training.lr=0.02",
                                    "model.hidden=16"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(RecommenderProgram, LearnsFromPurchasesWithNames) {
  const TempFolder folder;
  for (const std::string model : {"lightgcn", "ngcf"}) {
    const auto out = folder.path() / model;
    const Outcome outcome = runProgram(trainWords(folder, model, out));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("recall@20"));
    EXPECT_THAT(outcome.out, HasSubstr("hit@10"));
    const nlohmann::json metrics = metricsOf(out);
    EXPECT_EQ(metrics["model"], model);
    EXPECT_EQ(metrics["audit"]["leaks"], 0);
    EXPECT_EQ(metrics["split"]["kind"], "per_user");
    EXPECT_GT(metrics["test"]["hit@10"], 0.7);
    EXPECT_THAT(readText(out / "test_scores.csv"), HasSubstr("ann-"));
    const Outcome evaluated = runProgram({"evaluate", out.string()});
    EXPECT_EQ(evaluated.code, 0) << evaluated.err;
    EXPECT_THAT(evaluated.out, HasSubstr("the same numbers as stored"));
  }
}

TEST(RecommenderProgram, SearchesViewsOfUsersAndItemsAndExplainsThem) {
  const TempFolder folder;
  const auto out = folder.path() / "run";
  auto words = trainWords(
      folder, "lightgcn", out,
      {"model.depth_zero=true", "model.layers=2", "selector.epochs=4", "training.epochs=4"});
  words.insert(words.begin() + 1, {"--selector", "ps2"});
  const Outcome outcome = runProgram(words);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::json views = metricsOf(out)["views"];
  EXPECT_EQ(views["first_hops"], 0);
  EXPECT_EQ(views["test_positive"].size(), 3U);
  EXPECT_THAT(readText(out / "views.csv"), HasSubstr("\n0,0,"));
  const Outcome explained = runProgram({"explain", out.string(), "--pair", "ann-3,tea-4"});
  EXPECT_EQ(explained.code, 0) << explained.err;
}

TEST(RecommenderProgram, TrainsAnewOnAllPurchasesAndStaysClean) {
  const TempFolder folder;
  const auto out = folder.path() / "run";
  const Outcome outcome =
      runProgram(trainWords(folder, "lightgcn", out,
                            {"training.refit=true", "split.message_at_test=train+valid",
                             "training.select_by=recall@20"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::json metrics = metricsOf(out);
  EXPECT_EQ(metrics["audit"]["leaks"], 0);
  EXPECT_EQ(metrics["learning"]["refit_epochs"], metrics["learning"]["best_epoch"]);
  EXPECT_THAT(readText(out / "curves.csv"), HasSubstr("\nrefit,1,"));
  EXPECT_FALSE(std::filesystem::exists(out / "refit.safetensors"));
  EXPECT_EQ(runProgram({"evaluate", out.string()}).code, 0);
}

TEST(RecommenderProgram, SaysWhatDoesNotGoTogether) {
  const TempFolder folder;
  const auto out = folder.path() / "run";
  const Outcome refit = runProgram(trainWords(folder, "lightgcn", out, {"training.refit=true"}));
  EXPECT_EQ(refit.code, 2);
  EXPECT_THAT(refit.err, HasSubstr("split.message_at_test=train+valid"));
  const Outcome loss = runProgram(trainWords(folder, "lightgcn", out, {"training.loss=hinge"}));
  EXPECT_EQ(loss.code, 2);
  EXPECT_THAT(loss.err, HasSubstr("bce, bpr, softmax"));
}

}  // namespace
}  // namespace edgewise
