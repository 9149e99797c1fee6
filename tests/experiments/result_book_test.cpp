#include "edgewise/experiments/result_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <nlohmann/json.hpp>
#include <vector>

#include "edgewise/experiments/paper_tables.h"
#include "edgewise/experiments/results_page.h"
#include "edgewise/util/file.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TempFolder;

Cell cellOf(const std::string& selector, const std::string& dataset = "cora") {
  return {.dataset = dataset, .model = "gae", .selector = selector, .recipe = "paper"};
}

std::string textOf(const std::filesystem::path& file) { return std::string(readFile(file).view()); }

SeedResult resultOf(std::uint64_t seed, double auc, double valid = 0.5) {
  SeedResult run;
  run.seed = seed;
  run.version = "0.1.0";
  run.split = "0123456789ab";
  run.test.set("auc", auc);
  run.test.set("ap", auc / 2);
  run.valid.set("auc", valid);
  run.time = {{"apply_s", 2.5}, {"apply_step_ms", 10}};
  return run;
}

TEST(ResultBook, ReadsWhatItWrote) {
  const TempFolder folder;
  ResultBook book;
  SeedResult run = resultOf(3, 0.1 + 0.2);
  run.effective = 1.5;
  run.views_positive = {0.25, 0.25, 0.25, 0.25};
  run.views_negative = {1, 0, 0, 0};
  run.best_view = HopPair{1, 2};
  run.best_view_test.set("auc", 0.75);
  Cell cell = cellOf("ps2");
  cell.variant = "scratch";
  cell.settings = {"selector.apply=scratch"};
  book.add(cell, run);
  book.add(cellOf("none"), resultOf(0, 0.25));
  book.setAbsent("ogbl-ppa", "is not at hand");
  book.setAbsent("cora", "never said: it has results");
  book.addTo(folder.path());

  const ResultBook again = ResultBook::read(folder.path());
  ASSERT_EQ(again.cells().size(), 2U);
  const CellResult* found = again.find("cora-gae-ps2-paper-scratch");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->cell, cell);
  EXPECT_EQ(found->runs.front().toJson(), run.toJson());
  EXPECT_EQ(found->runs.front().test.at("auc"), 0.1 + 0.2);  // the same bits
  EXPECT_EQ(found->runs.front().seconds(), 2.5);
  EXPECT_EQ(again.absent("ogbl-ppa"), "is not at hand");
  EXPECT_FALSE(again.absent("cora"));
}

TEST(ResultBook, MergesSeedBySeed) {
  ResultBook book;
  book.add(cellOf("none"), resultOf(1, 0.5));
  book.add(cellOf("none"), resultOf(0, 0.25));
  book.setAbsent("pubmed", "not here");
  ResultBook news;
  news.add(cellOf("none"), resultOf(1, 0.75));
  news.add(cellOf("none", "pubmed"), resultOf(0, 0.5));
  book.merge(news);
  const CellResult* none = book.find("cora-gae-none-paper");
  ASSERT_NE(none, nullptr);
  ASSERT_EQ(none->runs.size(), 2U);
  EXPECT_EQ(none->runs[0].seed, 0U);
  EXPECT_EQ(none->test("auc")->mean, 0.5);
  EXPECT_FALSE(none->test("hits@20"));
  EXPECT_FALSE(book.absent("pubmed"));
}

TEST(ResultBook, NamesTheLineThatIsDamaged) {
  const TempFolder folder;
  (void)folder.write("cora.jsonl", "\n{\"dataset\": \"cora\"\n");
  testing::expectFailure<DataError>([&] { (void)ResultBook::read(folder.path()); }, "cora.jsonl:2");
  EXPECT_TRUE(ResultBook::read(folder.path() / "nowhere").cells().empty());
}

TEST(ResultBook, PairsRunsOfTheSameSeed) {
  ResultBook book;
  for (const auto& [seed, ours, theirs] :
       {std::tuple{0, 0.5, 0.25}, std::tuple{1, 0.75, 0.25}, std::tuple{2, 0.5, 0.5}}) {
    book.add(cellOf("ps2"), resultOf(seed, ours));
    if (seed < 2) {
      book.add(cellOf("none"), resultOf(seed, theirs));
    }
  }
  const auto* ps2 = book.find("cora-gae-ps2-paper");
  const auto* none = book.find("cora-gae-none-paper");
  const auto test = pairedDifference(*ps2, *none, "auc");
  ASSERT_TRUE(test);
  EXPECT_EQ(test->count, 2U);
  EXPECT_DOUBLE_EQ(test->mean_difference, 0.375);
  EXPECT_EQ(differenceText(ps2, none), "+37.50 (t 3.0)");
  EXPECT_EQ(differenceText(none, ps2), "−37.50 (t −3.0)");
  EXPECT_EQ(differenceText(none, nullptr), "");
}

TEST(PaperTables, ChooseTheFixedViewByValidation) {
  ResultBook book;
  book.add(cellOf("none"), resultOf(0, 0.9, 0.6));
  book.add(cellOf("fixed:1,1"), resultOf(0, 0.5, 0.8));
  book.add(cellOf("fixed:2,2"), resultOf(0, 0.95, 0.7));
  book.add(cellOf("jk"), resultOf(0, 0.95, 0.9));
  ASSERT_NE(bestFixed(book, cellOf("ps2")), nullptr);
  EXPECT_EQ(bestFixed(book, cellOf("ps2"))->cell.selector, "fixed:1,1");
  EXPECT_EQ(bestFixed(book, cellOf("ps2", "citeseer")), nullptr);
}

// The paper's PS2 is fine-tuned: its number belongs to the variant that does so where a recipe
// trains otherwise.
TEST(PaperTables, KnowThatThePaperFineTunes) {
  const auto number = [](const std::string& recipe, const std::string& method) {
    const ExperimentPlan plan = planExperiment(
        findExperiment("table:finetune"),
        {.datasets = {"cora"}, .models = {"sage"}, .recipes = {recipe}, .methods = {method}},
        [](const std::string&) { return true; });
    return paperText("table:finetune", plan.cells.at(0));
  };
  EXPECT_EQ(number("best", "ps2-finetune"), "93.80");
  EXPECT_EQ(number("paper", "ps2"), "93.80");
  EXPECT_EQ(number("best", "ps2-scratch"), "92.50");
  EXPECT_EQ(number("best", "none"), "86.30");
}

TEST(ResultBook, AddsToWhatIsStoredAndLeavesOtherDatasetsAlone) {
  const TempFolder folder;
  ResultBook first;
  first.add(cellOf("none"), resultOf(0, 0.5));
  first.add(cellOf("none", "citeseer"), resultOf(0, 0.6));
  first.addTo(folder.path());
  // As somebody has it open in an editor.
  (void)folder.write("citeseer.jsonl", textOf(folder.path() / "citeseer.jsonl") + "\n");
  const std::string edited = textOf(folder.path() / "citeseer.jsonl");
  ResultBook second;
  second.add(cellOf("none"), resultOf(1, 0.7));
  second.addTo(folder.path());
  EXPECT_EQ(textOf(folder.path() / "citeseer.jsonl"), edited);
  const ResultBook both = ResultBook::read(folder.path());
  ASSERT_NE(both.find(cellOf("none").name()), nullptr);
  EXPECT_EQ(both.find(cellOf("none").name())->runs.size(), 2U);
}

TEST(ResultBook, IsAddedToBySeveralAtOnce) {
  const TempFolder folder;
  constexpr std::uint64_t kWriters = 4;
  constexpr std::uint64_t kRuns = 5;
  std::vector<std::future<void>> writers;
  for (std::uint64_t writer = 0; writer < kWriters; ++writer) {
    writers.push_back(std::async(std::launch::async, [&folder, writer] {
      for (std::uint64_t i = 0; i < kRuns; ++i) {
        ResultBook book;
        book.add(cellOf("none"), resultOf(writer * kRuns + i, 0.5));
        book.addTo(folder.path());
      }
    }));
  }
  for (std::future<void>& writer : writers) {
    EXPECT_NO_THROW(writer.get());
  }
  const ResultBook all = ResultBook::read(folder.path());
  ASSERT_NE(all.find(cellOf("none").name()), nullptr);
  EXPECT_EQ(all.find(cellOf("none").name())->runs.size(), kWriters * kRuns);
}

TEST(PaperTables, StandBesideThePaper) {
  const ExperimentPlan plan = planExperiment(findExperiment("table:planetoid"),
                                             {.datasets = {"cora"}, .models = {"gae"}, .seeds = 2},
                                             [](const std::string&) { return true; });
  std::vector<CellStatus> cells;
  for (const Cell& cell : plan.cells) {
    cells.push_back({.cell = cell, .wanted = 2});
  }
  cells[1].obstacle = "cora is not at hand";
  cells[1].absent = true;
  ResultBook book;
  for (const std::uint64_t seed : {0, 1}) {
    book.add(plan.cells[0], resultOf(seed, 0.5 + 0.25 * static_cast<double>(seed)));
    SeedResult chosen = resultOf(seed, 0.75);
    chosen.effective = 1.25;
    book.add(plan.cells[2], chosen);
  }
  const Grid grid = comparisonGrid(plan, cells, book);
  EXPECT_THAT(grid.rows[0], ElementsAre("cora", "gae", "paper", "none", "auc / ap", "91.08 / 92.03",
                                        "62.50 ± 17.68 / 31.25 ± 8.84", "", "2"));
  EXPECT_EQ(grid.rows[1].back(), "no data");
  EXPECT_EQ(grid.rows[2][7], "1.2");
  EXPECT_EQ(grid.rows[3].back(), "0 of 2");
  EXPECT_THAT(grid.rows[6],
              ElementsAre("cora", "gae", "paper", "ps2 − none", "auc", "", "+12.50 (t 1.0)"));
  const auto json = resultsJson(plan, cells, book);
  EXPECT_EQ(json["cells"][0]["test"]["auc"]["mean"], 0.625);
  EXPECT_DOUBLE_EQ(json["cells"][2]["paper"]["auc"]["mean"].get<double>(), 0.9225);
  EXPECT_EQ(json["cells"][1]["obstacle"], "cora is not at hand");
}

TEST(ResultsPage, MakesTheTablesAnewAndNothingElse) {
  const TempFolder folder;
  const auto page = folder.write("page.md",
                                 "# Page\n\n<!-- results: against-paper table:planetoid -->\nold\n"
                                 "<!-- /results -->\nend without newline");
  ResultBook book;
  book.add(cellOf("none"), resultOf(0, 0.5));
  book.setAbsent("pubmed", "not here");
  const PageUpdate update = updateResultsPage(page, book);
  EXPECT_EQ(update.blocks, 1U);
  EXPECT_TRUE(update.changed);
  EXPECT_THAT(update.text, HasSubstr("| cora | gae | none | auc / ap | 91.08 / 92.03 | 50.00 / "
                                     "25.00 | not run | 1, - |\n"));
  EXPECT_THAT(update.text, HasSubstr("| pubmed | gae | none | auc / ap | 96.40 / 96.50 | no data | "
                                     "no data | - |\n"));
  EXPECT_THAT(update.text, Not(HasSubstr("old")));
  EXPECT_TRUE(update.text.ends_with("<!-- /results -->\nend without newline"));
  writeResultsPage(page, update);
  EXPECT_FALSE(updateResultsPage(page, book).changed);
}

TEST(ResultsPage, ComparesViewsOnTheDataAtHandOfAnyTable) {
  const TempFolder folder;
  const auto page =
      folder.write("page.md", "<!-- results: controls best gae table:ogb -->\n<!-- /results -->\n");
  ResultBook book;
  book.setAbsent("ogbl-collab", "not here");
  book.setAbsent("ogbl-ppa", "not here");
  const std::string text = updateResultsPage(page, book).text;
  EXPECT_THAT(text, HasSubstr("| gae: test hits@20 (%) | ogbl-ddi |\n"));
  EXPECT_THAT(text, HasSubstr("| PS2 in the paper | 49.53 |\n"));
  EXPECT_THAT(text, HasSubstr("| **ps2** | - |\n"));
  // Nothing was run that it could be compared with.
  EXPECT_THAT(text, Not(HasSubstr("jk")));
  // No data at all is no reason to fail.
  book.setAbsent("ogbl-ddi", "not here");
  EXPECT_THAT(updateResultsPage(page, book).text,
              HasSubstr("| gae: test (%) | ogbl-ddi hits@20 | ogbl-collab hits@50 |"));
}

TEST(ResultsPage, NamesTheLineOfATableThatCannotBeMade) {
  const TempFolder folder;
  const auto open = folder.write("open.md", "one\n<!-- results: planted -->\n| a |\n");
  testing::expectFailure<DataError>([&] { (void)updateResultsPage(open, {}); }, "open.md:2");
  const auto wrong = folder.write("wrong.md", "<!-- results: contrls best gae -->\n");
  testing::expectFailure<DataError>([&] { (void)updateResultsPage(wrong, {}); }, "contrls");
  const auto table =
      folder.write("table.md", "<!-- results: against-paper table:non -->\n<!-- /results -->\n");
  testing::expectFailure<DataError>([&] { (void)updateResultsPage(table, {}); }, "table:non");
}

// What the documentation says is what is stored; `make results` writes it anew.
TEST(ResultsPage, OfTheDocumentationIsUpToDate) {
  const std::filesystem::path root = EDGEWISE_SOURCE_DIR;
  const ResultBook book = ResultBook::read(root / "results");
  EXPECT_FALSE(book.cells().empty());
  const PageUpdate update = updateResultsPage(root / "docs" / "results.md", book);
  EXPECT_GT(update.blocks, 5U);
  EXPECT_FALSE(update.changed) << "run `make results`";
}

// A cell's name, settings and command say the same.
TEST(ResultBook, OfTheProjectIsConsistent) {
  const ResultBook book = ResultBook::read(std::filesystem::path(EDGEWISE_SOURCE_DIR) / "results");
  for (const auto& [name, result] : book.cells()) {
    EXPECT_EQ(result.cell.name(), name);
    EXPECT_EQ(simplified(result.cell), result.cell) << name;
    EXPECT_NO_THROW((void)resolveCell(result.cell)) << name;
    EXPECT_FALSE(result.runs.empty()) << name;
  }
}

}  // namespace
}  // namespace edgewise
