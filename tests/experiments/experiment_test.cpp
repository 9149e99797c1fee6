#include "edgewise/experiments/experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "edgewise/experiments/paper_numbers.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

bool always(const std::string&) { return true; }

std::vector<std::string> namesOf(const ExperimentPlan& plan) {
  std::vector<std::string> names;
  for (const Cell& cell : plan.cells) {
    names.push_back(cell.name());
  }
  return names;
}

TEST(Cell, NamesItsRunsAndTheirCommand) {
  const Cell cell{.dataset = "cora",
                  .model = "gae",
                  .selector = "fixed:1,2",
                  .recipe = "best",
                  .variant = "wide",
                  .settings = {"model.hidden=512"}};
  EXPECT_EQ(cell.name(), "cora-gae-fixed1,2-best-wide");
  EXPECT_EQ(cell.method(), "fixed:1,2-wide");
  EXPECT_EQ(cell.command(3),
            "edgewise train --dataset cora --model gae --selector fixed:1,2 --recipe best --set "
            "model.hidden=512 --seeds 3");
  EXPECT_EQ(resolveCell(cell, 4).network.encoder.hidden, 512);
  EXPECT_EQ(resolveCell(cell, 4).seed, 4);
}

TEST(Cell, DropsSettingsThatTheRecipeMakesAnyway) {
  Cell cell{.dataset = "cora",
            .model = "gae",
            .selector = "ps2",
            .recipe = "paper",
            .variant = "finetune",
            .settings = {"selector.apply=finetune"}};
  EXPECT_EQ(simplified(cell).name(), "cora-gae-ps2-paper");
  EXPECT_THAT(simplified(cell).settings, IsEmpty());
  cell.recipe = "best";  // which trains jointly
  EXPECT_EQ(simplified(cell).name(), "cora-gae-ps2-best-finetune");
}

TEST(Experiments, KeepTheMethodsThatAreAskedFor) {
  const Experiment& table = findExperiment("table:planetoid");
  EXPECT_THAT(
      namesOf(planExperiment(
          table, {.datasets = {"cora"}, .models = {"gae"}, .methods = {"ps2", "fixed"}}, always)),
      ElementsAre("cora-gae-ps2-paper", "cora-gae-fixed1,1-paper", "cora-gae-fixed2,2-paper"));
  EXPECT_THAT(namesOf(planExperiment(findExperiment("table:finetune"),
                                     {.datasets = {"cora"},
                                      .models = {"gae"},
                                      .recipes = {"best"},
                                      .methods = {"ps2-scratch"}},
                                     always)),
              ElementsAre("cora-gae-ps2-best-scratch"));
  try {
    (void)planExperiment(table, {.methods = {"ps3"}}, always);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--methods"));
    EXPECT_THAT(error.hint(), HasSubstr("ps2"));
  }
}

TEST(Experiments, HoldEveryNumberOfThePaper) {
  for (const PaperNumber& number : paperNumbers()) {
    const Experiment& experiment = findExperiment(number.table);
    const ExperimentPlan plan = planExperiment(experiment, {}, always);
    const bool found = std::ranges::any_of(plan.cells, [&](const Cell& cell) {
      const std::string method = cell.variant == "timed" ? cell.selector : cell.method();
      return cell.dataset == number.dataset && cell.model == number.model &&
             method == number.method;
    });
    EXPECT_TRUE(found) << number.table << " " << number.dataset << " " << number.model << " "
                       << number.method;
  }
}

TEST(Experiments, NameEveryRunOnce) {
  for (const Experiment& experiment : experiments()) {
    const ExperimentPlan plan = planExperiment(experiment, {.recipes = {"paper", "best"}}, always);
    const std::vector<std::string> names = namesOf(plan);
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size())
        << experiment.name;
    for (const Cell& cell : plan.cells) {
      RunOptions options;
      EXPECT_NO_THROW(options = resolveCell(cell)) << cell.name();
      if (cell.selector == "fixed:2,2") {
        EXPECT_GE(cell.model == "seal" ? options.subgraph.hops : options.network.encoder.layers, 2)
            << cell.name();
      }
    }
  }
}

TEST(Experiments, CompareWithViewsThatAreNotTheVanillaOne) {
  const Experiment& table = findExperiment("table:planetoid");
  // Cora has two layers in recipe best, so fixed:2,2 is what `none` looks at.
  const auto cora = namesOf(planExperiment(
      table, {.datasets = {"cora"}, .models = {"gae"}, .recipes = {"best"}}, always));
  EXPECT_THAT(cora, ElementsAre("cora-gae-none-best", "cora-gae-rs-best", "cora-gae-ps2-best",
                                "cora-gae-fixed1,1-best", "cora-gae-jk-best"));
  const auto seal =
      namesOf(planExperiment(table, {.datasets = {"cora"}, .models = {"seal"}}, always));
  EXPECT_THAT(seal, Not(Contains("cora-seal-jk-paper")));
  const auto bare = namesOf(
      planExperiment(table, {.datasets = {"cora"}, .models = {"gae"}, .controls = false}, always));
  EXPECT_EQ(bare.size(), 3U);
}

// A recipe may refit, which joint training cannot.
TEST(Experiments, AskForNothingThatDoesNotGoTogether) {
  const auto plan =
      planExperiment(findExperiment("fig:optimization"), {.recipes = {"paper", "best"}}, always);
  int joint = 0;
  for (const Cell& cell : plan.cells) {
    const RunOptions options = resolveCell(cell);
    EXPECT_FALSE(options.training.refit) << cell.name();
    joint += options.network.selector.joins() ? 1 : 0;
  }
  EXPECT_EQ(joint, 18);
}

TEST(Experiments, ShareRuns) {
  const ExperimentRequest request{.datasets = {"cora"}, .models = {"gae"}};
  const auto table = namesOf(planExperiment(findExperiment("table:planetoid"), request, always));
  const auto finetune = namesOf(planExperiment(findExperiment("table:finetune"), request, always));
  EXPECT_THAT(finetune, ElementsAre("cora-gae-none-paper", "cora-gae-ps2-paper-scratch",
                                    "cora-gae-ps2-paper"));
  EXPECT_THAT(table, Contains("cora-gae-ps2-paper"));
  const auto hyper = namesOf(planExperiment(findExperiment("fig:hyper"), request, always));
  EXPECT_EQ(hyper.size(), 20U);
  // K=3 and D=256 are the paper's.
  EXPECT_THAT(hyper, Contains("cora-gae-ps2-paper"));
}

TEST(Experiments, TimeGeneratedGraphsWhereTheRealOnesAreMissing) {
  const ExperimentPlan plan = planExperiment(
      findExperiment("table:efficiency"), {.datasets = {"ogbl-ddi", "ogbl-ppa"}, .models = {"gae"}},
      [](const std::string& dataset) { return dataset == "ogbl-ddi"; });
  EXPECT_THAT(namesOf(plan),
              ElementsAre("ogbl-ddi-gae-none-paper-timed", "ogbl-ddi-gae-ps2-paper-timed",
                          "sized-ppa-gae-none-paper-timed", "sized-ppa-gae-ps2-paper-timed"));
  // As the recipe has it for the real one.
  EXPECT_EQ(resolveCell(plan.cells.back()).network.encoder.hidden, 256);
  EXPECT_EQ(resolveCell(plan.cells.back()).training.batch_size, 10240);
}

TEST(Experiments, SuggestTheNearestName) {
  try {
    (void)findExperiment("tabel:rec");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.hint(), "did you mean 'table:rec'?");
  }
  try {
    (void)findExperiment("curves");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.hint(), "did you mean 'fig:curves'?");
  }
  const Experiment& table = findExperiment("table:planetoid");
  testing::expectFailure<ConfigError>(
      [&] { (void)planExperiment(table, {.datasets = {"coral"}}, always); }, "coral");
  testing::expectFailure<ConfigError>(
      [&] { (void)planExperiment(table, {.models = {"lightgcn"}}, always); }, "lightgcn");
  testing::expectFailure<ConfigError>(
      [&] { (void)planExperiment(table, {.recipes = {"papr"}}, always); }, "papr");
  testing::expectFailure<ConfigError>(
      [&] { (void)planExperiment(table, {.datasets = {"gowalla"}}, always); },
      "none of the models");
}

}  // namespace
}  // namespace edgewise
