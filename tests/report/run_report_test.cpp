#include "edgewise/report/run_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "edgewise/training/run_folder.h"
#include "report/page_parts.h"
#include "report/run_groups.h"
#include "support/finished_run.h"

namespace edgewise {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::FinishedRun;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::quickOptions;

// A run that was never made.
RunRecord recordOf(const std::string& model, const std::string& selector, std::int64_t seed,
                   double auc) {
  RunRecord record;
  record.folder = "runs/" + model + "-" + std::to_string(seed);
  record.version = "0.0";
  record.options.model = model;
  record.options.network.selector.kind = selector;
  record.options.seed = seed;
  record.metrics.dataset = "toy";
  record.metrics.model = model;
  record.metrics.selector = selector;
  record.metrics.seed = static_cast<std::uint64_t>(seed);
  record.metrics.test.set("auc", auc);
  record.metrics.valid.set("auc", auc / 2);
  return record;
}

std::vector<std::string> namesOf(const std::vector<RunRecord>& records) {
  std::vector<std::string> names;
  names.reserve(records.size());
  for (const RunGroup& group : groupRuns(records)) {
    names.push_back(group.name + " x" + std::to_string(group.runs.size()));
  }
  return names;
}

TEST(RunGroups, SeedsDoNotMakeAMethod) {
  std::vector<RunRecord> records = {recordOf("gae", "ps2", 0, 0.9), recordOf("cn", "none", 0, 0.5),
                                    recordOf("gae", "ps2", 1, 0.7)};
  // Nor does the machine.
  records.back().options.threads = 7;
  EXPECT_THAT(namesOf(records), ElementsAre("gae ps2 x2", "cn x1"));
}

TEST(RunGroups, NamesakesAreToldApartByWhatDiffers) {
  std::vector<RunRecord> records = {recordOf("gae", "none", 0, 0.9),
                                    recordOf("gae", "none", 0, 0.8)};
  records[1].options.network.encoder.hidden = 7;
  EXPECT_THAT(namesOf(records), ElementsAre(HasSubstr("gae hidden="), "gae hidden=7 x1"));
  // The same options on data that changed: only the folders tell.
  records[1].options = records[0].options;
  records[1].metrics.data_hash = "other";
  records[1].folder = "runs/later";
  EXPECT_THAT(namesOf(records), ElementsAre("gae in runs/gae-0 x1", "gae in runs/later x1"));
  records[1].metrics.dataset = "mine";
  EXPECT_THAT(namesOf(records), ElementsAre("gae on toy x1", "gae on mine x1"));
}

TEST(RunReport, ShowsMeanAndDeviationAndTheBest) {
  const RunRecords records{{recordOf("gae", "ps2", 0, 0.9), recordOf("gae", "ps2", 1, 0.7),
                            recordOf("cn", "none", 0, 0.5)},
                           {}};
  const std::string page = runReport(records);
  // Of 0.9 and 0.7.
  EXPECT_THAT(page, HasSubstr("<td class=\"best\">0.8000 ± 0.1414</td>"));
  EXPECT_THAT(page, HasSubstr("Best: gae ps2, test auc <strong>0.8000 ± 0.1414</strong>"));
  EXPECT_THAT(page, HasSubstr("<td>0.5000</td>"));
  EXPECT_THAT(page, HasSubstr("3 runs."));
  EXPECT_EQ(page, runReport(records));
}

TEST(RunReport, TellsOfSeedsThatCountTwice) {
  RunRecord copy = recordOf("cn", "none", 0, 0.5);
  copy.folder = "runs/copy";
  EXPECT_THAT(runReport({{recordOf("cn", "none", 0, 0.5), copy}, {}}),
              HasSubstr("runs/copy: seed 0 of cn is there twice, and counts twice"));
}

TEST(RunReport, NamesNoBestOfWhatDoesNotCompare) {
  std::vector<RunRecord> records = {recordOf("gae", "none", 0, 0.9),
                                    recordOf("cn", "none", 0, 0.5)};
  EXPECT_THAT(runReport({records, {}}),
              AllOf(HasSubstr("Best: gae"), HasSubstr("<td class=\"best\">0.9")));
  records[1].metrics.split.hash = "another";
  std::string page = runReport({records, {}});
  EXPECT_THAT(page, HasSubstr("runs/gae-0 and runs/cn-0 were measured on different splits of toy"));
  EXPECT_THAT(page, Not(HasSubstr("Best: ")));
  EXPECT_THAT(page, Not(HasSubstr("<td class=\"best\">0.9")));
  records[1].metrics.data_hash = "other";
  page = runReport({records, {}});
  EXPECT_THAT(page, HasSubstr("runs/gae-0 and runs/cn-0 were made on different data"));
  EXPECT_THAT(page, Not(HasSubstr("Best: ")));
  // Other names say that it is other data.
  records[1].metrics.dataset = "mine";
  EXPECT_THAT(runReport({records, {}}), Not(HasSubstr("do not compare")));
}

TEST(RunReport, TellsOfMeansOverDifferentSeeds) {
  std::vector<RunRecord> records = {recordOf("gae", "none", 0, 0.9),
                                    recordOf("cn", "none", 0, 0.5)};
  EXPECT_THAT(runReport({records, {}}), Not(HasSubstr("different seeds")));
  records.push_back(recordOf("cn", "none", 1, 0.6));
  // One split for all seeds, as published ones are.
  EXPECT_THAT(runReport({records, {}}), Not(HasSubstr("different seeds")));
  records.back().metrics.split.hash = "of seed 1";
  const std::string page = runReport({records, {}});
  EXPECT_THAT(page, HasSubstr("methods were run with different seeds"));
  EXPECT_THAT(page, HasSubstr("Best: gae"));
}

TEST(RunReport, MarksOptionsThatWereChanged) {
  RunRecord record = recordOf("cn", "none", 0, 0.5);
  record.options.split.test = 0.25;
  const std::string page = runReport({{record}, {}});
  EXPECT_THAT(page, HasSubstr("<th scope=\"row\">split.test</th><td><strong>0.25</strong><span "
                              "class=\"changed\"> changed</span></td><td>-1</td>"));
}

TEST(RunReport, NamesEveryLeak) {
  RunRecord record = recordOf("cn", "none", 3, 0.5);
  record.metrics.audit.leaks.push_back(
      {.what = "test edges among the messages", .count = 2, .examples = {"<a>,b"}});
  const std::string page = runReport({{record}, {}});
  EXPECT_THAT(page, HasSubstr("The audit found 2 leaks."));
  EXPECT_THAT(page, HasSubstr("2 test edges among the messages (for example &lt;a&gt;,b)"));
}

TEST(RunReport, AsksNobodyForAnything) {
  const std::string page = runReport({{recordOf("cn", "none", 0, 0.5)}, {}});
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("<meta name=\"viewport\""));
  for (const char* forbidden : {" src=", "<link", "@import", "url(", "href=\"http"}) {
    EXPECT_THAT(page, Not(HasSubstr(forbidden))) << forbidden;
  }
  const PageParts& parts = pageParts();
  if (!parts.chart_script.empty()) {
    EXPECT_THAT(page, HasSubstr(std::string(parts.chart_licence)));
    EXPECT_THAT(page, HasSubstr(std::string(parts.chart_script)));
  } else {
    EXPECT_THAT(page, HasSubstr("built without its chart library"));
  }
}

TEST(RunReport, HostileNamesStayText) {
  RunRecord record = recordOf("cn", "none", 0, 0.5);
  const std::string evil = "</title></style></script><script>alert(1)</script>\xFF";
  record.metrics.dataset = evil;
  record.folder = evil;
  record.version = evil;
  record.metrics.split.kind = evil;
  record.metrics.data = DatasetFacts{};
  record.metrics.data->remarks = {evil};
  record.options.data.edges = evil;
  record.metrics.test.set(evil, 0.5);
  record.phases = {{.name = evil, .epoch = {1, 2}, .loss = {1, 0}, .valid = {{evil, {0, 1}}}}};
  record.missing = {evil};
  const std::string page = runReport({{record, recordOf("cn", "none", 1, 0.4)}, {evil}});
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, Not(HasSubstr("\xFF")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)"));
}

TEST(RunRecord, HoldsWhatTheFolderTells) {
  const FinishedRun run(quickOptions("gae", "ps2"));
  RunRecord record = readRunRecord(run.folder());
  EXPECT_EQ(record.metrics.toJson(), run.reported().toJson());
  ASSERT_EQ(record.phases.size(), 2U);
  EXPECT_EQ(record.phases[0].name, "search");
  EXPECT_EQ(record.phases[1].name, "apply");
  EXPECT_THAT(record.phases[1].epoch, ElementsAre(1, 2, 3));
  EXPECT_EQ(record.phases[1].valid.front().first, "auc");
  // As an earlier version left it.
  EXPECT_FALSE(record.curves);
  EXPECT_THAT(record.missing, ElementsAre(HasSubstr("test_curves.json is missing")));
  const auto curves = testCurvesOf(run.reported());
  ASSERT_TRUE(curves);
  RunFolder::open(run.folder()).writeJson(kTestCurvesFile, curves->toJson());
  record = readRunRecord(run.folder());
  EXPECT_THAT(record.missing, IsEmpty());
  ASSERT_TRUE(record.curves);
  const std::string page = runReport({{record}, {}});
  for (const char* part :
       {"Loss, search for views", "Validation, training with the views found",
        "Views of the test links", "Views of the other test pairs", ">ROC<", "Precision and recall",
        "Calibration", "Scores, gae ps2", "Time and memory", "Leak audit", "mean degree"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
}

TEST(RunRecord, RefusesMatricesThatAreNone) {
  const FinishedRun run(quickOptions("gae", "ps2"));
  const RunFolder folder = RunFolder::open(run.folder());
  nlohmann::ordered_json metrics = folder.readJson("metrics.json");
  metrics["views"]["test_positive"][0].push_back(0.5);
  folder.writeJson("metrics.json", metrics);
  EXPECT_THROW((void)readRunRecord(run.folder()), DataError);
}

}  // namespace
}  // namespace edgewise
