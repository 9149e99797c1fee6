// The program as a user meets it: words in, tables, files and exit codes out.
#include "support/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "edgewise/util/rng.h"

namespace edgewise {
namespace {

using ::testing::HasSubstr;
using testing::metricsOf;
using ::testing::Not;
using testing::Outcome;
using testing::ProgramRun;
using testing::readText;
using testing::runProgram;
using testing::TempFolder;

// A small social network with names as ids: two circles of friends and a bridge.
std::string friends() {
  std::string text = "source,target\n";
  for (const std::string_view circle : {"a", "b"}) {
    for (int i = 0; i < 12; ++i) {
      for (int j = i + 1; j < 12; ++j) {
        if ((i * 7 + j * 3) % 4 != 0) {
          text += std::string(circle) + std::to_string(i) + "," + std::string(circle) +
                  std::to_string(j) + "\n";
        }
      }
    }
  }
  return text + "a0,b0\n";
}

TEST(Program, ShowsVersionAndHelp) {
  const Outcome version = runProgram({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_THAT(version.out, HasSubstr("edgewise 0."));
  EXPECT_THAT(version.out, HasSubstr("libtorch"));
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--help"},
                                             {"train", "--help"},
                                             {"evaluate", "--help"},
                                             {"datasets", "--help"},
                                             {"bench", "--help"},
                                             {"options", "--help"}}) {
    const Outcome help = runProgram(words);
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.out, HasSubstr("--help"));
    EXPECT_THAT(help.out, Not(HasSubstr("\x1b")));
  }
}

TEST(Program, SuggestsTheNearestCommandOptionAndKey) {
  const Outcome command = runProgram({"trian"});
  EXPECT_EQ(command.code, 2);
  EXPECT_THAT(command.err, HasSubstr("unknown command 'trian'"));
  EXPECT_THAT(command.err, HasSubstr("did you mean 'train'?"));
  const Outcome option = runProgram({"train", "--dataste", "cora"});
  EXPECT_EQ(option.code, 2);
  EXPECT_THAT(option.err, HasSubstr("unknown option '--dataste'"));
  EXPECT_THAT(option.err, HasSubstr("did you mean '--dataset'?"));
  const Outcome key = runProgram({"train", "--dataset", "planted", "--set", "split.tets=0.1"});
  EXPECT_EQ(key.code, 2);
  EXPECT_THAT(key.err, HasSubstr("unknown option 'split.tets'"));
  EXPECT_THAT(key.err, HasSubstr("split.test"));
  const Outcome model = runProgram({"train", "--dataset", "planted", "--model", "jacard"});
  EXPECT_EQ(model.code, 2);
  EXPECT_THAT(model.err, HasSubstr("did you mean 'jaccard'?"));
  const Outcome dataset = runProgram({"train", "--dataset", "coar"});
  EXPECT_EQ(dataset.code, 2);
  EXPECT_THAT(dataset.err, HasSubstr("cora"));
  const Outcome nothing = runProgram({"train"});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_THAT(nothing.err, HasSubstr("no data given"));
}

TEST(Program, ScoresAnEdgeListOfNames) {
  const TempFolder folder;
  const std::string edges = folder.write("friends.csv", friends()).string();
  const std::string out = (folder.path() / "run").string();
  const Outcome outcome = runProgram({"train", "--edges", edges, "--model", "ra", "--out", out,
                                      "--set", "split.test=0.2", "split.valid=0.1"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("friends: 24 nodes"));
  EXPECT_THAT(outcome.out, HasSubstr("no leaks"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("\x1b")));
  EXPECT_EQ(outcome.err, "");
  const nlohmann::json metrics = metricsOf(out);
  EXPECT_EQ(metrics["model"], "ra");
  EXPECT_EQ(metrics["audit"]["leaks"], 0);
  EXPECT_EQ(metrics["split"]["message_at_train"], "train");
  EXPECT_EQ(metrics["split"]["message_at_test"], "train");
  EXPECT_GT(metrics["test"]["auc"], 0.8);
  const nlohmann::json options =
      nlohmann::json::parse(readText(folder.path() / "run" / "options.json"));
  EXPECT_EQ(options["options"]["split"]["test"], 0.2);
  EXPECT_EQ(options["data_hash"], metrics["data_hash"]);
  EXPECT_THAT(readText(folder.path() / "run" / "log.txt"), HasSubstr("finished"));
}

TEST(Program, WarnsOfValidationEdgesThatCarryMessages) {
  const TempFolder folder;
  const std::string edges = folder.write("friends.csv", friends()).string();
  const auto out = folder.path() / "run";
  const Outcome outcome = runProgram({"train", "--edges", edges, "--model", "ra", "--out",
                                      out.string(), "--set", "split.message_at_train=train+valid"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("warning: split.message_at_train=train+valid"));
  EXPECT_THAT(outcome.err, HasSubstr("validation edges among the training messages"));
  EXPECT_THAT(outcome.out, HasSubstr("LEAKS"));
  const nlohmann::json metrics = metricsOf(out);
  EXPECT_EQ(metrics["split"]["message_at_train"], "train+valid");
  EXPECT_EQ(metrics["audit"]["leaks"], 2 * metrics["split"]["valid_edges"].get<int>());
  const Outcome again = runProgram({"evaluate", out.string()});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("messages at train: train+valid"));
}

TEST(Program, PrintsOnlyJsonWhenAsked) {
  const TempFolder folder;
  const std::string edges = folder.write("friends.csv", friends()).string();
  const Outcome outcome = runProgram({"train", "--edges", edges, "--model", "cn", "--json", "--out",
                                      (folder.path() / "run").string()});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::json printed = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(printed, metricsOf(folder.path() / "run"));
  EXPECT_TRUE(nlohmann::json::parse(runProgram({"options", "--json"}).out).is_array());
  EXPECT_TRUE(nlohmann::json::parse(runProgram({"datasets", "--json"}).out).is_array());
}

TEST(Program, MeasuresStepsAgainstTheFloor) {
  const Outcome outcome =
      runProgram({"bench", "--case", "cora", "--model", "gae", "--steps", "2", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::json printed = nlohmann::json::parse(outcome.out);
  EXPECT_GT(printed["machine"]["product"]["gflops"], 0);
  EXPECT_GT(printed["machine"]["memory_gb_s"], 0);
  ASSERT_EQ(printed["cases"].size(), 1U);
  const nlohmann::json& measured = printed["cases"][0];
  EXPECT_EQ(measured["case"], "cora");
  EXPECT_EQ(measured["generated"], true);
  EXPECT_EQ(measured["steps"], 2);
  EXPECT_GT(measured["processor_share"], 0);
  EXPECT_GT(measured["step"]["ms"], 0);
  EXPECT_GT(measured["step"]["floor_ms"], 0);
  for (const char* stage : {"sample", "index", "encode", "decode", "backward", "optimizer"}) {
    EXPECT_GT(measured["stages"][stage]["ratio"], 0) << stage;
  }
  const Outcome unknown = runProgram({"bench", "--case", "core"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean 'cora'?"));
}

TEST(Program, MeasuresWhatARecipeTrains) {
  const auto layers = [](std::vector<std::string> more) {
    std::vector<std::string> words = {"bench", "--dataset", "planted", "--model",
                                      "gae",   "--steps",   "1",       "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = runProgram(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out)["cases"][0]["sizes"]["layers"];
  };
  EXPECT_EQ(layers({}), 3);
  EXPECT_EQ(layers({"--recipe", "best"}), 2);
  EXPECT_EQ(layers({"--recipe", "best", "--set", "model.layers=1"}), 1);
  const Outcome unknown = runProgram({"bench", "--case", "cora", "--recipe", "bets"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("bets"));
}

TEST(Program, MeasuresASelectorSearchingAndApplied) {
  const Outcome outcome =
      runProgram({"bench", "--case", "cora", "--model", "gae", "--selector", "ps2", "--set",
                  "selector.hidden=16", "--steps", "2", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::json cases = nlohmann::json::parse(outcome.out)["cases"];
  ASSERT_EQ(cases.size(), 3U);
  EXPECT_EQ(cases[0]["work"], "search");
  EXPECT_GT(cases[0]["stages"]["difference"]["ratio"], 0);
  EXPECT_EQ(cases[1]["work"], "train");
  EXPECT_EQ(cases[1]["selector"], "none");
  EXPECT_FALSE(cases[1].contains("plain_steps"));
  EXPECT_EQ(cases[2]["work"], "apply");
  EXPECT_EQ(cases[2]["selector"], "ps2");
  EXPECT_GT(cases[2]["stages"]["choose"]["ratio"], 0);
  EXPECT_GT(cases[2]["plain_steps"], 0);
}

TEST(Program, ListsTheBuiltInRecipes) {
  const Outcome outcome = runProgram({"options", "--recipes"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("best"));
  EXPECT_THAT(outcome.out, HasSubstr("the paper's hyper-parameters"));
  const nlohmann::json printed =
      nlohmann::json::parse(runProgram({"options", "--recipes", "--json"}).out);
  ASSERT_GE(printed.size(), 2U);
  EXPECT_EQ(printed[0]["name"], "best");
  EXPECT_NE(printed[0]["about"], "");
  EXPECT_EQ(runProgram({"options", "split.test", "--recipes"}).code, 2);
}

TEST(Program, ListsAGroupOfOptions) {
  const Outcome group = runProgram({"options", "split", "--json"});
  ASSERT_EQ(group.code, 0) << group.err;
  const auto listed = nlohmann::json::parse(group.out);
  EXPECT_GT(listed.size(), 3U);
  for (const auto& option : listed) {
    EXPECT_THAT(option.dump(), HasSubstr("split."));
  }
  EXPECT_EQ(runProgram({"options", "splot"}).code, 2);
}

TEST(Program, TakesListsOfModelsAtTheirWord) {
  const Outcome missing = runProgram({"train", "--dataset", "planted", "--model", "cn,"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.err, HasSubstr("a name is missing"));
  const TempFolder folder;
  const Outcome formula =
      runProgram({"train", "--dataset", "planted", "--model", "cn", "--selector", "ps2", "--out",
                  (folder.path() / "run").string()});
  EXPECT_EQ(formula.code, 0);
  EXPECT_THAT(formula.err, HasSubstr("cn is a formula and looks at no views"));
}

// As many as the smallest graphs have room for.
TEST(Program, AsksForHardNegativesThatThereAre) {
  const TempFolder folder;
  std::string edges;
  for (int i = 0; i < 30; ++i) {
    edges += std::to_string(i) + "," + std::to_string((i + 1) % 30) + "\n" + std::to_string(i) +
             "," + std::to_string((i + 5) % 30) + "\n";
  }
  const Outcome run =
      runProgram({"train", "--edges", folder.write("ring.csv", edges).string(), "--model", "ra",
                  "--out", (folder.path() / "run").string(), "--set", "negatives.kind=hard"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("negatives.per_positive is 50 instead of 100"));
}

TEST(Program, GivesTheSameNumbersForAnyThreadCount) {
  const TempFolder folder;
  for (const char* model : {"ra", "katz", "ppr"}) {
    std::vector<nlohmann::json> results;
    for (const char* threads : {"1", "2"}) {
      const std::string out = (folder.path() / (std::string(model) + threads)).string();
      ASSERT_EQ(runProgram({"train", "--dataset", "planted", "--model", model, "--threads", threads,
                            "--out", out, "--quiet"})
                    .code,
                0);
      results.push_back(metricsOf(out));
    }
    EXPECT_EQ(results[0]["test"], results[1]["test"]) << model;
    EXPECT_EQ(results[0]["valid"], results[1]["valid"]) << model;
    EXPECT_EQ(results[0]["split"]["hash"], results[1]["split"]["hash"]);
  }
}

TEST(Program, EvaluateMakesTheStoredNumbersAgain) {
  const TempFolder folder;
  const auto edges = folder.write("friends.csv", friends());
  const std::string out = (folder.path() / "run").string();
  ASSERT_EQ(runProgram({"train", "--edges", edges.string(), "--out", out}).code, 0);
  const Outcome again = runProgram({"evaluate", out});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("the same numbers as stored"));
  (void)folder.write("friends.csv", friends() + "a0,b5\n");
  const Outcome changed = runProgram({"evaluate", out});
  EXPECT_EQ(changed.code, 3);
  EXPECT_THAT(changed.err, HasSubstr("the data has changed since the run"));
}

TEST(Program, ComparesModelsOverSeeds) {
  const TempFolder folder;
  const std::string out = (folder.path() / "cmp").string();
  const Outcome outcome = runProgram(
      {"train", "--dataset", "planted", "--model", "cn,pa", "--seeds", "2", "--out", out});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("±"));
  const nlohmann::json summary =
      nlohmann::json::parse(readText(folder.path() / "cmp/summary.json"));
  EXPECT_EQ(summary["cn"]["test"]["auc"]["count"], 2);
  const Outcome again = runProgram({"evaluate", out});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("the same numbers as stored"));
  EXPECT_NE(metricsOf(folder.path() / "cmp/cn/seed-0")["split"]["hash"],
            metricsOf(folder.path() / "cmp/cn/seed-1")["split"]["hash"]);
  EXPECT_EQ(metricsOf(folder.path() / "cmp/cn/seed-1")["split"]["hash"],
            metricsOf(folder.path() / "cmp/pa/seed-1")["split"]["hash"]);
}

TEST(Program, DryRunWritesNothing) {
  const TempFolder folder;
  const std::string out = (folder.path() / "run").string();
  const Outcome outcome =
      runProgram({"train", "--dataset", "planted", "--model", "katz", "--dry-run", "--out", out});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("heuristic.katz_beta"));
  EXPECT_THAT(outcome.out, HasSubstr("about"));
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST(Program, NeverOverwritesARunUnasked) {
  const TempFolder folder;
  const std::string out = (folder.path() / "run").string();
  const std::vector<std::string> words = {"train", "--dataset", "planted", "--out", out};
  ASSERT_EQ(runProgram(words).code, 0);
  const std::string before = readText(folder.path() / "run/metrics.json");
  const Outcome refused = runProgram(words);
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("holds a run already"));
  EXPECT_EQ(readText(folder.path() / "run/metrics.json"), before);
  std::vector<std::string> forced = words;
  forced.emplace_back("--overwrite");
  EXPECT_EQ(runProgram(forced).code, 0);
  (void)folder.write("other/thesis.txt", "mine");
  const Outcome foreign = runProgram({"train", "--dataset", "planted", "--out",
                                      (folder.path() / "other").string(), "--overwrite"});
  EXPECT_EQ(foreign.code, 2);
  EXPECT_EQ(readText(folder.path() / "other/thesis.txt"), "mine");
}

struct BadInput {
  std::string name;
  std::string content;
  std::string message;
};

class ProgramWithBadInput : public ::testing::TestWithParam<BadInput> {};

TEST_P(ProgramWithBadInput, SaysWhatWhereAndWhatToDo) {
  const TempFolder folder;
  const std::string edges = folder.write("edges.csv", GetParam().content).string();
  const std::string out = (folder.path() / "run").string();
  const Outcome outcome = runProgram({"train", "--edges", edges, "--out", out});
  EXPECT_EQ(outcome.code, 3) << outcome.out;
  EXPECT_THAT(outcome.err, HasSubstr(GetParam().message));
  EXPECT_FALSE(std::filesystem::exists(out));
}

INSTANTIATE_TEST_SUITE_P(Edges, ProgramWithBadInput,
                         ::testing::Values(BadInput{"Empty", "", "edges.csv"},
                                           BadInput{"OnlyAHeader", "src,dst\n", "edges.csv"},
                                           BadInput{"Ragged", "src,dst\n0,1\n2\n", "edges.csv:3"},
                                           BadInput{"TruncatedGzip", "\x1f\x8b\x08", "truncated"},
                                           BadInput{"OnlyLoops", "0,0\n1,1\n", "no edges left"},
                                           BadInput{"TooFewEdges", "0,1\n", "leaves no"}),
                         [](const auto& chosen) { return chosen.param.name; });

TEST(Program, SaysWhichFileIsMissing) {
  const Outcome outcome = runProgram({"train", "--edges", "/no/such/file.csv"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("/no/such/file.csv: no such file"));
  const Outcome folder = runProgram({"evaluate", "/no/such/run"});
  EXPECT_EQ(folder.code, 3);
  EXPECT_THAT(folder.err, HasSubstr("no such run folder"));
}

TEST(Program, ReportsLoopsAndRepeatsButGoesOn) {
  const TempFolder folder;
  const std::string edges =
      folder.write("friends.csv", friends() + "a0,a1\na0,a1\nb3,b3\n").string();
  const Outcome outcome =
      runProgram({"train", "--edges", edges, "--out", (folder.path() / "run").string()});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("1 self-loop dropped"));
  EXPECT_THAT(outcome.out, HasSubstr("repeated rows merged"));
}

TEST(Program, RefusesADivergentKatz) {
  const TempFolder folder;
  const Outcome outcome =
      runProgram({"train", "--dataset", "planted", "--model", "katz", "--set",
                  "heuristic.katz_beta=0.9", "--out", (folder.path() / "run").string()});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("0.9"));
}

TEST(Program, SurvivesADamagedRunFolder) {
  const TempFolder folder;
  const std::string out = (folder.path() / "run").string();
  ASSERT_EQ(runProgram({"train", "--dataset", "planted", "--out", out}).code, 0);
  const std::string options = readText(folder.path() / "run/options.json");
  (void)folder.write("run/options.json", options.substr(0, options.size() / 2));
  EXPECT_EQ(runProgram({"evaluate", out}).code, 3);
  (void)folder.write("run/options.json", options);
  const std::string metrics = readText(folder.path() / "run/metrics.json");
  for (const std::string damaged : {"[]", "{}", R"({"split": {"hash": 1}})"}) {
    (void)folder.write("run/metrics.json", damaged);
    EXPECT_EQ(runProgram({"evaluate", out}).code, 3) << damaged;
  }
  nlohmann::json other = nlohmann::json::parse(metrics);
  other["test"]["auc"] = 0.123;
  (void)folder.write("run/metrics.json", other.dump());
  EXPECT_EQ(runProgram({"evaluate", out}).code, 1) << "other numbers are not success";
  (void)folder.write("run/metrics.json", metrics);
  nlohmann::json newer = nlohmann::json::parse(options);
  newer["format"] = 99;
  (void)folder.write("run/options.json", newer.dump());
  const Outcome outcome = runProgram({"evaluate", out});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("newer edgewise"));
}

// A limit on file size stands in for a full disk.
TEST(Program, EndsWithFourWhenTheDiskIsFullAndLeavesNothingHalfWritten) {
  const TempFolder folder;
  const std::string out = (folder.path() / "run").string();
  const Outcome outcome = runProgram({"train", "--dataset", "planted", "--out", out}, [] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{.rlim_cur = 700, .rlim_max = 700};
    ::setrlimit(RLIMIT_FSIZE, &small);
  });
  EXPECT_EQ(outcome.code, 4) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "run/options.json"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "run/metrics.json"));
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "run")) {
    EXPECT_EQ(entry.path().filename(), "log.txt");
  }
  EXPECT_EQ(runProgram({"train", "--dataset", "planted", "--out", out, "--overwrite"}).code, 0);
}

TEST(Program, StopsOnInterrupt) {
  const TempFolder folder;
  ProgramRun run({"train", "--dataset", "planted", "--model", "ppr", "--set", "planted.nodes=60000",
                  "--threads", "1", "--out", (folder.path() / "run").string()});
  // Work has begun when the data has been described; scoring then takes far longer than the signal.
  while (run.running() && run.outputSoFar().find("planted: ") == std::string::npos) {
    ::usleep(1000);
  }
  ::kill(run.child(), SIGINT);
  const Outcome outcome = run.wait();
  EXPECT_EQ(outcome.code, 130) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "run"));
}

TEST(Program, KeepsTheOldRunWhenTheNewOneFails) {
  const TempFolder folder;
  const std::string out = (folder.path() / "run").string();
  ASSERT_EQ(runProgram({"train", "--dataset", "planted", "--out", out}).code, 0);
  const std::string before = readText(folder.path() / "run/metrics.json");
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
           {"--set", "evaluation.metrics=recall@5"},
           {"--model", "katz", "--set", "heuristic.katz_beta=0.9"},
           {"--set", "evaluation.full_metrics=recall@20"},
           {"--model", "ra,ra"}}) {
    std::vector<std::string> words = {"train", "--dataset", "planted", "--out", out, "--overwrite"};
    words.insert(words.end(), wrong.begin(), wrong.end());
    EXPECT_EQ(runProgram(words).code, 2) << wrong.back();
    EXPECT_EQ(readText(folder.path() / "run/metrics.json"), before);
  }
}

TEST(Program, OverwritesOneRunBySeveralAndBack) {
  const TempFolder folder;
  const std::string out = (folder.path() / "run").string();
  const std::vector<std::string> one = {"train", "--dataset", "planted",
                                        "--out", out,         "--overwrite"};
  std::vector<std::string> several = one;
  several.insert(several.end(), {"--seeds", "2"});
  ASSERT_EQ(runProgram(one).code, 0);
  ASSERT_EQ(runProgram(several).code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "run/options.json"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "run/seed-1/metrics.json"));
  ASSERT_EQ(runProgram(one).code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "run/seed-1"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "run/summary.json"));
}

TEST(Program, TakesTheModelFromSettingsAndRecipes) {
  const TempFolder folder;
  const std::string out = (folder.path() / "run").string();
  const std::string recipe = folder.write("r.json", R"({"model": {"kind": "pa"}})").string();
  ASSERT_EQ(runProgram({"train", "--dataset", "planted", "--recipe", recipe, "--out", out}).code,
            0);
  EXPECT_EQ(metricsOf(out)["model"], "pa");
  ASSERT_EQ(runProgram({"train", "--dataset", "planted", "--set", "model.kind=jaccard", "--out",
                        out, "--overwrite"})
                .code,
            0);
  EXPECT_EQ(metricsOf(out)["model"], "jaccard");
  const std::string twin = (folder.path() / "twin").string();
  ASSERT_EQ(runProgram({"train", "--recipe", out + "/options.json", "--out", twin}).code, 0);
  EXPECT_EQ(metricsOf(twin)["test"], metricsOf(out)["test"]);
}

TEST(Program, RefusesSettingsOfFilesForAKnownDataset) {
  const Outcome outcome = runProgram({"train", "--dataset", "planted", "--directed"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("data.directed"));
}

TEST(Program, FindsTheDataOfARunFromAnyFolder) {
  const TempFolder folder;
  (void)folder.write("data/friends.csv", friends());
  const auto inside = [&] { ASSERT_EQ(::chdir((folder.path() / "data").c_str()), 0); };
  const std::string out = (folder.path() / "run").string();
  ASSERT_EQ(runProgram({"train", "--edges", "friends.csv", "--out", out}, inside).code, 0);
  EXPECT_EQ(runProgram({"evaluate", out}).code, 0);
}

TEST(Program, CutsByTimeAndByNodes) {
  const TempFolder folder;
  std::string text = "src,dst,time\n";
  RngStream random(1, "edges");
  for (int i = 0; i < 600; ++i) {
    text += std::to_string(random.below(80)) + "," + std::to_string(random.below(80)) + "," +
            std::to_string(1000 + i) + "\n";
  }
  const std::string edges = folder.write("calls.csv", text).string();
  for (const std::string kind : {"time", "nodes", "random"}) {
    const std::string out = (folder.path() / kind).string();
    const Outcome outcome = runProgram({"train", "--edges", edges, "--out", out, "--set",
                                        "split.kind=" + kind, "split.test=0.2", "split.valid=0.1"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(metricsOf(out)["audit"]["leaks"], 0) << kind;
    EXPECT_EQ(metricsOf(out)["split"]["kind"], kind);
  }
}

TEST(Program, RecommendsOnBipartiteData) {
  const TempFolder folder;
  std::string text = "user,item\n";
  RngStream random(2, "edges");
  for (int user = 0; user < 60; ++user) {
    for (int i = 0; i < 12; ++i) {
      text += "u" + std::to_string(user) + ",i" + std::to_string(random.below(150)) + "\n";
    }
  }
  const std::string edges = folder.write("buys.csv", text).string();
  const std::string out = (folder.path() / "run").string();
  const Outcome outcome =
      runProgram({"train", "--edges", edges, "--bipartite", "--model", "ppr", "--out", out, "--set",
                  "negatives.per_positive=50", "evaluation.full_metrics=recall@20,ndcg@20"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::json metrics = metricsOf(out);
  EXPECT_TRUE(metrics["test"].contains("hit@10"));
  EXPECT_TRUE(metrics["test"].contains("recall@20"));
  EXPECT_EQ(metrics["split"]["kind"], "per_user");
  const Outcome useless = runProgram({"train", "--edges", edges, "--bipartite", "--model", "cn",
                                      "--out", (folder.path() / "useless").string()});
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "useless"));
  EXPECT_EQ(useless.code, 2);
  EXPECT_THAT(useless.err, HasSubstr("pa, katz or ppr"));
}

TEST(Program, LeavesAnUnwritablePlaceAlone) {
  const TempFolder folder;
  const std::string file = folder.write("file", "x").string();
  const Outcome outcome = runProgram({"train", "--dataset", "planted", "--out", file + "/run"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("cannot write to this folder"));
  const Outcome endless = runProgram(
      {"train", "--dataset", "planted", "--out", (folder.path() / std::string(300, 'x')).string()});
  EXPECT_EQ(endless.code, 3) << endless.err;
}

}  // namespace
}  // namespace edgewise
