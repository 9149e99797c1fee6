#include "edgewise/experiments/reproduction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "edgewise/experiments/experiment_report.h"
#include "edgewise/training/run_folder.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using ::testing::HasSubstr;
using testing::TempFolder;

ExperimentPlan smallPlan() {
  return planExperiment(findExperiment("table:finetune"),
                        {.datasets = {"planted"}, .models = {"gae"}, .seeds = 2},
                        [](const std::string&) { return true; });
}

TEST(Reproduction, TellsHowCellsStand) {
  const TempFolder folder;
  const ExperimentPlan plan = smallPlan();
  RunOptions options = resolveCell(plan.cells[0], 1);
  RunFolder::create(runFolderOf(plan.cells[0], 1, folder.path())).writeOptions(options, "hash");
  const std::vector<CellStatus> cells =
      inspectCells(plan, {.out = folder.path(), .data_root = folder.path().string()});
  ASSERT_EQ(cells.size(), 3U);
  EXPECT_EQ(cells[0].begun, 1);
  EXPECT_EQ(cells[0].left(), 2);
  EXPECT_EQ(cells[1].begun, 0);
  EXPECT_GT(cells[1].seconds, cells[0].seconds);
  EXPECT_GT(cells[0].memory_bytes, 0U);
  EXPECT_DOUBLE_EQ(secondsLeft(cells, 1),
                   2 * (cells[0].seconds + cells[1].seconds + cells[2].seconds));
}

TEST(Reproduction, RefusesRunsOfOtherOptions) {
  const TempFolder folder;
  const ExperimentPlan plan = smallPlan();
  RunOptions options = resolveCell(plan.cells[0], 0);
  options.training.epochs = 3;
  RunFolder::create(runFolderOf(plan.cells[0], 0, folder.path())).writeOptions(options, "hash");
  testing::expectFailure<ConfigError>(
      [&] {
        (void)inspectCells(plan, {.out = folder.path(), .data_root = folder.path().string()});
      },
      "training.epochs is 3 there and 100 now");
}

TEST(Reproduction, MarksCellsWithoutData) {
  const TempFolder folder;
  const ExperimentPlan plan = planExperiment(findExperiment("fig:views"),
                                             {.datasets = {"ogbl-collab"}, .recipes = {"paper"}},
                                             [](const std::string&) { return false; });
  const ReproductionOptions options{.out = folder.path(), .data_root = folder.path().string()};
  const std::vector<CellStatus> cells = inspectCells(plan, options);
  ASSERT_EQ(cells.size(), 1U);
  EXPECT_TRUE(cells[0].absent);
  EXPECT_EQ(cells[0].left(), 0);
  EXPECT_THAT(cells[0].remedy, HasSubstr("edgewise datasets ogbl-collab"));
  const ResultBook book = collectResults(cells, folder.path());
  EXPECT_TRUE(book.absent("ogbl-collab"));
  const ExperimentReport report = makeReport(plan, cells, book, folder.path());
  ASSERT_TRUE(report.figure);
  EXPECT_THAT(*report.figure, HasSubstr("nothing to show"));
  EXPECT_THAT(report.html(), HasSubstr("ogbl-collab is not at hand"));
}

}  // namespace
}  // namespace edgewise
