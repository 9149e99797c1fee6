// `edgewise report`, and the pages that `train` writes: through the program, and in a real browser.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/browser.h"
#include "support/friends.h"
#include "support/program.h"

namespace edgewise {
namespace {

using testing::Browser;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Outcome;
using testing::readText;
using testing::runProgram;
using testing::Screen;

namespace fs = std::filesystem;

// A4 without margins.
constexpr Screen kPaper{.width = 794, .height = 1123, .paper = true};

using ReportProgram = testing::FriendsProgram;

TEST_F(ReportProgram, TrainWritesAPageAndSaysWhere) {
  const std::string edges = folder_.write("friends.csv", testing::friendsText()).string();
  const fs::path out = folder_.path() / "run";
  const Outcome run = runProgram({"train", "--edges", edges, "--model", "cn", "--out", out.string(),
                                  "--set", "data.header=yes", "split.valid=0.1"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("report: " + (out / "report.html").string()));
  EXPECT_THAT(run.out, HasSubstr("edgewise report " + out.string() + " OTHER"));
  const std::string page = readText(out / "report.html");
  EXPECT_THAT(page, HasSubstr("<title>cn on friends - edgewise</title>"));
  EXPECT_THAT(page, HasSubstr("19 checks, no leaks"));
  EXPECT_THAT(page, Not(HasSubstr("What to know first")));
  // What is stored for pictures stays small.
  EXPECT_LT(fs::file_size(out / "test_curves.json"), 64U << 10U);
  // The same command gives the same bytes.
  const Outcome again = runProgram({"report", out.string(), "--json"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(nlohmann::json::parse(again.out)["report"], (out / "report.html").string());
  EXPECT_EQ(readText(out / "report.html"), page);
}

TEST_F(ReportProgram, LeavesThePageOutWhenAsked) {
  const fs::path run = train("cn", "", {"--no-report"});
  EXPECT_FALSE(fs::exists(run / "report.html"));
  EXPECT_TRUE(fs::exists(run / "test_curves.json"));
}

TEST_F(ReportProgram, SeveralSeedsMakeOneMethod) {
  const fs::path run = train("gae", "", {"--seeds", "2"});
  EXPECT_TRUE(fs::exists(run / "seed-0" / "report.html"));
  EXPECT_TRUE(fs::exists(run / "seed-1" / "report.html"));
  const std::string page = readText(run / "report.html");
  EXPECT_THAT(page, HasSubstr("gae on friends, 2 seeds: 0, 1"));
  EXPECT_THAT(page, HasSubstr(" ± "));
  EXPECT_THAT(page, HasSubstr("Every run"));
}

TEST_F(ReportProgram, ComparesFolders) {
  const fs::path one = train("cn", "");
  const fs::path two = train("gae", "ps2");
  const fs::path file = folder_.path() / "pages" / "both.html";
  const Outcome told =
      runProgram({"report", one.string(), two.string(), "--out", file.string(), "--json"});
  ASSERT_EQ(told.code, 0) << told.err;
  const auto json = nlohmann::json::parse(told.out);
  EXPECT_EQ(json["runs"], 2);
  EXPECT_EQ(json["methods"], 2);
  EXPECT_TRUE(json["remarks"].empty());
  const std::string page = readText(file);
  EXPECT_THAT(page, HasSubstr("<title>2 methods on friends - edgewise</title>"));
  EXPECT_THAT(page, HasSubstr("Options in which the methods differ"));
  EXPECT_THAT(page, HasSubstr("Views of the test links"));
  expectRefusal({"report", one.string(), two.string()}, 2, "needs a place of its own",
                "--out FILE");
}

TEST_F(ReportProgram, TellsWhatEarlierRunsLackAndEvaluateAddsIt) {
  const fs::path run = train("ra", "");
  fs::remove(run / "test_curves.json");
  const Outcome told = runProgram({"report", run.string()});
  ASSERT_EQ(told.code, 0) << told.err;
  EXPECT_THAT(told.err, HasSubstr("test_curves.json is missing"));
  EXPECT_THAT(readText(run / "report.html"), HasSubstr("What to know first"));
  const Outcome added = runProgram({"evaluate", run.string()});
  ASSERT_EQ(added.code, 0) << added.err;
  EXPECT_THAT(added.err, HasSubstr("added test_curves.json"));
  const Outcome whole = runProgram({"report", run.string()});
  EXPECT_EQ(whole.err, "");
  EXPECT_THAT(readText(run / "report.html"), HasSubstr("Precision and recall"));
}

TEST_F(ReportProgram, DamagedPicturesAreToldDamagedResultsRefused) {
  const fs::path run = train("gae", "");
  std::ofstream(run / "curves.csv") << "phase,epoch,loss\ntrain,1,many\n";
  std::ofstream(run / "test_curves.json") << R"({"format": 1, "positives": "none"})";
  const Outcome told = runProgram({"report", run.string()});
  ASSERT_EQ(told.code, 0) << told.err;
  EXPECT_THAT(told.err, HasSubstr("curves.csv:2: holds something else than numbers"));
  EXPECT_THAT(told.err, HasSubstr("test_curves.json is damaged"));
  std::ofstream(run / "metrics.json") << R"({"dataset": 5})";
  expectRefusal({"report", run.string()}, 3, "is damaged", "run the training again");
  std::ofstream(run / "metrics.json") << "{";
  expectRefusal({"report", run.string()}, 3, "is not valid JSON", "run the training again");
}

TEST_F(ReportProgram, APathThatCannotBeStoredIsRefusedBeforeTheWork) {
  const std::string edges = folder_.write("friends\xFF.csv", testing::friendsText()).string();
  expectRefusal({"train", "--edges", edges, "--model", "cn", "--quiet", "--out",
                 (folder_.path() / "run").string(), "--set", "data.header=yes"},
                2, "is not UTF-8", "another name");
}

TEST_F(ReportProgram, RefusesWhatIsNoFinishedRun) {
  expectRefusal({"report", (folder_.path() / "nowhere").string()}, 3, "no such run folder",
                "--out");
  const fs::path run = train("cn", "", {"--seeds", "2"});
  fs::remove(run / "seed-1" / "metrics.json");
  const Outcome partly = runProgram({"report", run.string()});
  EXPECT_EQ(partly.code, 0);
  EXPECT_THAT(partly.err, HasSubstr("seed-1 is left out: it did not finish"));
  EXPECT_THAT(readText(run / "report.html"), HasSubstr("it did not finish"));
  fs::remove(run / "seed-0" / "metrics.json");
  expectRefusal({"report", run.string()}, 3, "holds no finished run", "--resume");
}

TEST_F(ReportProgram, RefusesAPlaceThatCannotBeWritten) {
  const fs::path run = train("cn", "");
  expectRefusal({"report", run.string(), "--out", (run / "options.json" / "x.html").string()}, 3,
                "", "");
  EXPECT_EQ(runProgram({"report", run.string(), "--out", "/dev/full"}).code, 4);
}

// What a page must be in every browser, whatever it shows.
class ReportPage : public testing::FriendsProgram {
 protected:
  void SetUp() override {
    const auto program = Browser::find();
    if (!program) {
      GTEST_SKIP() << "left out: needs a browser (chromium) on the PATH";
    }
    browser_ = std::make_unique<Browser>(*program);
  }

  // Opens the page and checks that it complains of nothing and asks for nothing but itself.
  void open(const fs::path& file, const Screen& screen = {}) const {
    browser_->open(file, screen);
    EXPECT_THAT(browser_->complaints(), IsEmpty());
    EXPECT_THAT(browser_->requests(), ElementsAre(Browser::urlOf(file)));
  }

  void expectNoOverflow(int width) const {
    EXPECT_LE(browser_->evaluate("document.documentElement.scrollWidth"), width);
  }

  // Every chart is there: drawn by the library in ink of its own, or as a still picture.
  void expectCharts() const {
    const auto blank = browser_->evaluate(R"js(
      [...document.querySelectorAll("figure.chart")].filter((figure) => {
        const still = [...figure.querySelectorAll("svg path[class^=s]")]
          .some((path) => path.getAttribute("d").length > 0);
        if (typeof uPlot === "undefined") {
          return !still || figure.querySelector("svg").getBoundingClientRect().height < 100;
        }
        const canvas = figure.querySelector("canvas");
        if (!canvas || !still || canvas.getBoundingClientRect().height < 100) {
          return true;
        }
        const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        const colours = new Set();
        for (let i = 0; i < pixels.length; i += 4) {
          if (pixels[i + 3] === 255) {
            colours.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
          }
        }
        return colours.size < 3;
      }).map((figure) => figure.id))js");
    EXPECT_EQ(blank, nlohmann::json::array());
  }

  // What people who do not see the page need.
  void expectAccessible() const {
    EXPECT_EQ(browser_->evaluate("document.documentElement.lang"), "en");
    EXPECT_EQ(browser_->evaluate("document.querySelectorAll('h1').length"), 1);
    EXPECT_EQ(browser_->evaluate(
                  "[...document.querySelectorAll('main table:not(.u-legend)')].filter(table => "
                  "!table.caption || !table.querySelector('th[scope=col]') || "
                  "!table.querySelector('th[scope=row]')).length"),
              0);
    EXPECT_EQ(browser_->evaluate("[...document.querySelectorAll('svg')].filter(svg => "
                                 "svg.getAttribute('role') !== 'img' || "
                                 "!svg.getAttribute('aria-label')).length"),
              0);
    EXPECT_EQ(
        browser_->evaluate("[...document.querySelectorAll('[id]')].length - "
                           "new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size"),
        0);
    EXPECT_EQ(browser_->evaluate("[...document.querySelectorAll('nav a')].filter(a => "
                                 "!document.querySelector(a.getAttribute('href'))).length"),
              0);
  }

  [[nodiscard]] std::unique_ptr<Browser>& browser() { return browser_; }

 private:
  std::unique_ptr<Browser> browser_;
};

TEST_F(ReportPage, OfARunOpensEverywhere) {
  const fs::path file = train("gae", "ps2") / "report.html";
  open(file);
  expectCharts();
  expectAccessible();
  EXPECT_GE(browser()->evaluate("document.querySelectorAll('figure.chart').length"), 6);
  EXPECT_EQ(browser()->evaluate("document.querySelectorAll('table.heat').length >= 2"), true);
  open(file, {.width = 390, .height = 844});
  expectCharts();
  expectNoOverflow(390);
  open(file, kPaper);
  expectNoOverflow(kPaper.width);
  open(file, {.dark = true});
  expectCharts();
  // Light letters on dark paper.
  EXPECT_EQ(browser()->evaluate("getComputedStyle(document.body).backgroundColor"),
            "rgb(20, 24, 29)");
}

TEST_F(ReportPage, OfAComparisonOpensEverywhere) {
  const fs::path one = train("ppr", "", {"--seeds", "2"});
  const fs::path two = train("gae", "", {"--seeds", "2"});
  // Its tables are wider by the times of a search.
  const fs::path three = train("sage", "ps2");
  const fs::path file = folder_.path() / "all.html";
  ASSERT_EQ(
      runProgram({"report", one.string(), two.string(), three.string(), "--out", file.string()})
          .code,
      0);
  open(file);
  expectCharts();
  expectAccessible();
  open(file, {.width = 390, .height = 844});
  expectCharts();
  expectNoOverflow(390);
  open(file, kPaper);
  expectNoOverflow(kPaper.width);
}

TEST_F(ReportPage, NamesOfUsersAreTextAndNothingElse) {
  const std::string evil = "<img src=x onerror=window.caught=1>";
  std::string edges = "who,whom\n";
  for (int i = 0; i < 24; ++i) {
    for (const int step : {1, 2, 5}) {
      edges += fmt::format("\"{0}'\"\"&amp; {1}\xFF\",\"{0}'\"\"&amp; {2}\xFF\"\n", evil, i,
                           (i + step) % 24);
    }
  }
  const fs::path file = folder_.write(evil + "'\".csv", edges);
  const fs::path out = folder_.path() / "<" / "script><script>window.caught=1<" / "script>\xFE";
  const Outcome run = runProgram({"train", "--edges", file.string(), "--model", "ra", "--out",
                                  out.string(), "--set", "data.header=yes", "split.valid=0.2",
                                  "split.message_at_train=train+valid"});
  ASSERT_EQ(run.code, 0) << run.err;
  open(out / "report.html");
  expectCharts();
  EXPECT_EQ(browser()->evaluate("window.caught === undefined"), true);
  EXPECT_EQ(browser()->evaluate("document.querySelectorAll('img').length"), 0);
  // They are shown, as they stand: the audit's examples in the user's ids.
  EXPECT_THAT(
      browser()->evaluate("document.getElementById('audit').textContent").get<std::string>(),
      HasSubstr(evil + "'\"&amp; "));
}

}  // namespace
}  // namespace edgewise
