// `edgewise reproduce` through the program: killed at any moment it loses nothing and repeats
// nothing, and its runs are those of `edgewise train`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "edgewise/util/rng.h"
#include "support/program.h"

namespace edgewise {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using testing::metricsOf;
using ::testing::Not;
using testing::Outcome;
using testing::ProgramRun;
using testing::readText;
using testing::runProgram;
using testing::TempFolder;

const std::vector<std::string> kSettings = {"--set",
                                            "planted.nodes=300",
                                            "training.epochs=30",
                                            "training.batch_size=128",
                                            "selector.epochs=10",
                                            "training.patience=0",
                                            "training.checkpoint_seconds=0"};

std::vector<std::string> words(const std::string& name, const std::filesystem::path& out,
                               const std::vector<std::string>& more = {}) {
  std::vector<std::string> all = {"reproduce", name,  "--datasets", "planted",
                                  "--models",  "gae", "--out",      out.string(),
                                  "--jobs",    "2",   "--device",   "cpu"};
  all.insert(all.end(), more.begin(), more.end());
  all.insert(all.end(), kSettings.begin(), kSettings.end());
  return all;
}

std::map<std::string, std::filesystem::file_time_type> finishedRuns(
    const std::filesystem::path& out) {
  std::map<std::string, std::filesystem::file_time_type> times;
  if (std::filesystem::exists(out)) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(out)) {
      if (entry.path().filename() == "metrics.json") {
        times[entry.path().string()] = entry.last_write_time();
      }
    }
  }
  return times;
}

TEST(ReproduceProgram, LosesAndRepeatsNothingWhenKilled) {
  const TempFolder folder;
  const auto whole = folder.path() / "whole";
  const Outcome undisturbed = runProgram(words("table:finetune", whole, {"--seeds", "2"}));
  ASSERT_EQ(undisturbed.code, 0) << undisturbed.err;

  const auto broken = folder.path() / "broken";
  RngStream random(11, "kills");
  std::map<std::string, std::filesystem::file_time_type> finished;
  int kills = 0;
  for (bool done = false; !done && kills < 8;) {
    ProgramRun run(words("table:finetune", broken, {"--seeds", "2"}));
    done = run.endedWithin(0.5 + 1.5 * random.uniform());
    if (!done) {
      ::kill(run.child(), SIGKILL);
      run.wait();
      ++kills;
    }
    for (const auto& [path, time] : finishedRuns(broken)) {
      // Finished once, never touched again.
      EXPECT_EQ(finished.try_emplace(path, time).first->second, time) << path;
    }
  }
  EXPECT_GT(kills, 0);
  const Outcome last = runProgram(words("table:finetune", broken, {"--seeds", "2"}));
  ASSERT_EQ(last.code, 0) << last.err;
  EXPECT_EQ(last.out.substr(0, last.out.find("written:")),
            undisturbed.out.substr(0, undisturbed.out.find("written:")));
  const auto runs = finishedRuns(broken);
  EXPECT_EQ(runs.size(), 6U);
  for (const auto& [path, time] : runs) {
    if (finished.contains(path)) {
      EXPECT_EQ(finished.at(path), time) << path;
    }
    const auto run = std::filesystem::relative(path, broken).parent_path();
    EXPECT_EQ(metricsOf(broken / run)["test"], metricsOf(whole / run)["test"]);
    EXPECT_EQ(metricsOf(broken / run)["valid"], metricsOf(whole / run)["valid"]);
    EXPECT_TRUE(readText(broken / run / "model.safetensors") ==
                readText(whole / run / "model.safetensors"))
        << run;
  }

  // A run by itself is the same.
  std::vector<std::string> single = {"train",
                                     "--dataset",
                                     "planted",
                                     "--model",
                                     "gae",
                                     "--selector",
                                     "ps2",
                                     "--recipe",
                                     "paper",
                                     "--seed",
                                     "1",
                                     "--out",
                                     (folder.path() / "one").string(),
                                     "--threads",
                                     "1",
                                     "--device",
                                     "cpu"};
  single.insert(single.end(), kSettings.begin(), kSettings.end());
  ASSERT_EQ(runProgram(single).code, 0);
  EXPECT_EQ(metricsOf(folder.path() / "one")["test"],
            metricsOf(broken / "planted-gae-ps2-paper" / "seed-1")["test"]);
  EXPECT_TRUE(readText(folder.path() / "one" / "model.safetensors") ==
              readText(broken / "planted-gae-ps2-paper" / "seed-1" / "model.safetensors"));

  // A damaged result is told, not counted; without it the run is finished once more.
  const auto first = broken / "planted-gae-none-paper" / "seed-0";
  std::filesystem::resize_file(first / "metrics.json", 100);
  const Outcome damaged = runProgram(words("table:finetune", broken, {"--seeds", "2"}));
  EXPECT_EQ(damaged.code, 3);
  EXPECT_THAT(damaged.err, AllOf(HasSubstr("metrics.json"), HasSubstr("damaged")));
  std::filesystem::remove(first / "metrics.json");
  ASSERT_EQ(runProgram(words("table:finetune", broken, {"--seeds", "2"})).code, 0);
  EXPECT_EQ(metricsOf(first)["test"],
            metricsOf(whole / "planted-gae-none-paper" / "seed-0")["test"]);

  // What another version left unfinished is made anew.
  std::filesystem::remove(first / "metrics.json");
  auto begun = nlohmann::ordered_json::parse(readText(first / "options.json"));
  begun["version"] = "0.0.1 (another)";
  begun["options"]["training"]["epochs"] = 7;
  (void)folder.write(first / "options.json", begun.dump());
  (void)folder.write(first / "checkpoint.safetensors", "of another version");
  const Outcome anew = runProgram(words("table:finetune", broken, {"--seeds", "2"}));
  ASSERT_EQ(anew.code, 0) << anew.err;
  EXPECT_THAT(anew.err, Not(HasSubstr("failed")));
  EXPECT_EQ(metricsOf(first)["test"],
            metricsOf(whole / "planted-gae-none-paper" / "seed-0")["test"]);

  // Figures share what is there.
  const Outcome more = runProgram(words("fig:optimization", broken, {"--seeds", "1", "--json"}));
  ASSERT_EQ(more.code, 0) << more.err;
  // Elsewhere than on a terminal each run is told when it is done.
  EXPECT_THAT(more.err,
              AllOf(HasSubstr("1 run to make"), ContainsRegex("[0-9]+ of [0-9]+: .*test auc")));
  EXPECT_EQ(nlohmann::json::parse(more.out)["cells"].size(), 2U);
  EXPECT_THAT(readText(broken / "fig-optimization.svg"), HasSubstr("<svg"));
  EXPECT_THAT(readText(broken / "fig-optimization.html"), HasSubstr("<svg"));
}

TEST(ReproduceProgram, LeavesCheckpointsOnCtrlC) {
  const TempFolder folder;
  const auto out = folder.path() / "out";
  auto long_words = words("fig:views", out, {"--recipe", "paper"});
  long_words.insert(long_words.end(), {"training.epochs=100000", "selector.epochs=100000"});
  ProgramRun run(long_words);
  const auto seed = out / "planted-gae-ps2-paper" / "seed-0";
  while (run.running() && !std::filesystem::exists(seed / "search.safetensors")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  // Meanwhile nobody else works there.
  const Outcome second = runProgram(long_words);
  EXPECT_EQ(second.code, 2);
  EXPECT_THAT(second.err, HasSubstr("in use"));
  ::kill(run.child(), SIGINT);
  const Outcome stopped = run.wait();
  EXPECT_EQ(stopped.code, 130);
  EXPECT_THAT(stopped.err, HasSubstr("the same command goes on"));
  EXPECT_TRUE(std::filesystem::exists(seed / "search.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(seed / "metrics.json"));
}

// A machine may be gone before the last run ends.
TEST(ReproduceProgram, StoresEachRunAsItEnds) {
  const TempFolder folder;
  const auto stored = folder.path() / "stored" / "planted.jsonl";
  ProgramRun run({"reproduce", "table:planetoid", "--datasets", "planted", "--models", "gae",
                  "--seeds", "40", "--jobs", "2", "--device", "cpu", "--out",
                  (folder.path() / "out").string(), "--store",
                  (folder.path() / "stored").string()});
  while (run.running() && !std::filesystem::exists(stored)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ASSERT_TRUE(run.running());
  ::kill(run.child(), SIGKILL);
  run.wait();
  const auto line = nlohmann::json::parse(readText(stored));
  ASSERT_GE(line["runs"].size(), 1U);
  const auto seed = line["runs"][0]["seed"].get<int>();
  const auto of_run = metricsOf(folder.path() / "out" / line["cell"].get<std::string>() /
                                ("seed-" + std::to_string(seed)));
  EXPECT_EQ(line["runs"][0]["test"]["auc"], of_run["test"]["auc"]);
}

TEST(ReproduceProgram, DrawsTheFigures) {
  const TempFolder folder;
  const auto out = folder.path() / "out";
  for (const std::string name : {"fig:views", "fig:observation", "fig:curves"}) {
    const Outcome run = runProgram(words(name, out, {"--recipe", "paper", "--quiet"}));
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("planted"));
    EXPECT_EQ(run.err, "");
    const std::string file = "fig-" + name.substr(4);
    EXPECT_THAT(readText(out / (file + ".svg")),
                AllOf(HasSubstr("planted"), Not(HasSubstr("nothing to show"))));
    EXPECT_THAT(readText(out / (file + ".html")), HasSubstr("<table>"));
  }
}

TEST(ReproduceProgram, ShowsCellsAndTimeWithoutRunningThem) {
  const TempFolder folder;
  const Outcome run = runProgram(
      words("table:planetoid", folder.path() / "out", {"--dry-run", "--json", "--seeds", "3"}));
  ASSERT_EQ(run.code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["cells"].size(), 6U);
  EXPECT_EQ(json["cells"][0]["wanted"], 3);
  EXPECT_GT(json["seconds_left"], 0);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "out"));
}

TEST(ReproduceProgram, MarksWhatCannotBeRunAndSaysWhy) {
  const TempFolder folder;
  const Outcome absent = runProgram(
      {"reproduce", "table:rec", "--datasets", "amazon-book", "--data", folder.path().string(),
       "--out", (folder.path() / "out").string(), "--store", (folder.path() / "stored").string()});
  EXPECT_EQ(absent.code, 0) << absent.err;
  EXPECT_THAT(absent.out, AllOf(HasSubstr("no data"), HasSubstr("78.66"),
                                HasSubstr("edgewise datasets amazon-book")));
  EXPECT_THAT(readText(folder.path() / "stored" / "amazon-book.jsonl"), HasSubstr("absent"));

  auto failing = words("fig:views", folder.path() / "failing", {"--recipe", "paper"});
  failing.insert(failing.end(), {"split.valid=0.001"});
  const Outcome failed = runProgram(failing);
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(failed.err, HasSubstr("failed"));
}

TEST(ReproduceProgram, CollectsRunsThatWereMadeElsewhere) {
  const TempFolder folder;
  const auto out = folder.path() / "out";
  const std::filesystem::path run = "planted-gae-none-best/seed-0";
  ASSERT_EQ(runProgram({"train", "--dataset", "planted", "--model", "gae", "--recipe", "best",
                        "--out", (folder.path() / "elsewhere").string(), "--device", "cpu"})
                .code,
            0);
  std::filesystem::create_directories(out / run);
  for (const char* name : {"options.json", "metrics.json"}) {
    std::filesystem::copy(folder.path() / "elsewhere" / name, out / run / name);
  }
  const Outcome collected =
      runProgram({"reproduce", "table:planetoid", "--datasets", "planted", "--models", "gae",
                  "--recipe", "best", "--seeds", "2", "--no-controls", "--out", out.string(),
                  "--collect", "--store", (folder.path() / "stored").string()});
  EXPECT_EQ(collected.code, 0) << collected.err;
  EXPECT_THAT(collected.out, HasSubstr("1 of 2"));
  EXPECT_EQ(finishedRuns(out).size(), 1U);
  const std::string stored = readText(folder.path() / "stored" / "planted.jsonl");
  const auto line = nlohmann::json::parse(stored);
  EXPECT_EQ(line["cell"], "planted-gae-none-best");
  EXPECT_EQ(line["runs"].size(), 1U);
  EXPECT_EQ(line["runs"][0]["test"]["auc"], metricsOf(out / run)["test"]["auc"]);
}

// Nothing that a store holds is made again, wherever its run was.
TEST(ReproduceProgram, MakesOnlyWhatAStoreIsMissing) {
  const TempFolder folder;
  const std::string store = (folder.path() / "stored").string();
  const auto words = [&](const std::string& out, std::vector<std::string> more) {
    std::vector<std::string> all = {"reproduce",
                                    "table:planetoid",
                                    "--datasets",
                                    "planted",
                                    "--models",
                                    "gae",
                                    "--recipe",
                                    "best",
                                    "--no-controls",
                                    "--methods",
                                    "none",
                                    "--device",
                                    "cpu",
                                    "--out",
                                    (folder.path() / out).string()};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const Outcome first = runProgram(words("here", {"--seeds", "1", "--store", store}));
  ASSERT_EQ(first.code, 0) << first.err;
  const Outcome rest = runProgram(words("there", {"--seeds", "2", "--store", store, "--missing"}));
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_THAT(rest.err, HasSubstr("1 run to make"));
  EXPECT_THAT(rest.out, Not(HasSubstr("1 of 2"))) << "the table has both";
  const std::filesystem::path cell = folder.path() / "there" / "planted-gae-none-best";
  EXPECT_FALSE(std::filesystem::exists(cell / "seed-0"));
  EXPECT_TRUE(std::filesystem::exists(cell / "seed-1" / "metrics.json"));
  const auto line = nlohmann::json::parse(readText(folder.path() / "stored" / "planted.jsonl"));
  ASSERT_EQ(line["runs"].size(), 2U);
  EXPECT_EQ(line["runs"][0]["test"]["auc"],
            metricsOf(folder.path() / "here" / "planted-gae-none-best" / "seed-0")["test"]["auc"]);

  const Outcome again = runProgram(words("third", {"--seeds", "2", "--store", store, "--missing"}));
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("0 runs to make"));
  EXPECT_EQ(runProgram(words("third", {"--store", store, "--missing", "--collect"})).code, 2);
  const Outcome nowhere = runProgram(words("third", {"--missing"}));
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("--store"));
}

TEST(ReproduceProgram, CollectsNothingFromTheWrongFolder) {
  const TempFolder folder;
  const std::string out = (folder.path() / "elsewhere").string();
  const Outcome outcome =
      runProgram({"reproduce", "table:planetoid", "--datasets", "planted", "--models", "gae",
                  "--recipe", "best", "--seeds", "1", "--no-controls", "--out", out, "--collect",
                  "--store", (folder.path() / "stored").string()});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr(out));
  EXPECT_FALSE(std::filesystem::exists(out));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "stored"));
}

TEST(ReproduceProgram, StoresResultsAndSuggestsNames) {
  const TempFolder folder;
  const Outcome set = runProgram(words("fig:views", folder.path() / "out", {"--store", "x"}));
  EXPECT_EQ(set.code, 2);
  EXPECT_THAT(set.err, HasSubstr("--store"));
  const Outcome wrong = runProgram({"reproduce", "fig:view"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean 'fig:views'?"));
  const Outcome none = runProgram({"reproduce"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("table:efficiency"));
  const auto page = folder.write("page.md", "<!-- results: planted -->\n<!-- /results -->\n");
  const std::vector<std::string> docs = {"reproduce", "--docs", page.string(), "--store",
                                         folder.path().string()};
  auto check = docs;
  check.emplace_back("--check");
  EXPECT_EQ(runProgram(check).code, 3);
  EXPECT_EQ(runProgram(docs).code, 0);
  EXPECT_EQ(runProgram(check).code, 0);
  EXPECT_THAT(readText(page), HasSubstr("| oracle | not run | not run |"));
}

}  // namespace
}  // namespace edgewise
