// What comes after training: `export`, `compare`, and what the program tells of itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "edgewise/data/npy.h"
#include "support/friends.h"
#include "support/program.h"

namespace edgewise {
namespace {

using ::testing::HasSubstr;
using testing::metricsOf;
using ::testing::Not;
using testing::Outcome;
using testing::readText;
using testing::runProgram;
using ::testing::StartsWith;
using testing::TempFolder;

using ExportProgram = testing::FriendsProgram;

TEST_F(ExportProgram, WritesEmbeddingsWithIds) {
  const auto run = train("gae", "ps2");
  const auto file = folder_.path() / "out" / "friends.npz";
  const Outcome told = runProgram({"export", run.string(), "--embeddings", file.string()});
  ASSERT_EQ(told.code, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr("3 layers of 32 nodes, 8 wide"));
  const NpzFile arrays(file);
  EXPECT_EQ(arrays.read("layer_3").shape(), (std::vector<std::size_t>{32, 8}));
  const auto csv = folder_.path() / "friends.csv2.csv";
  const Outcome json = runProgram({"export", run.string(), "--embeddings", csv.string(), "--json"});
  EXPECT_EQ(nlohmann::json::parse(json.out)["nodes"], 32);
  EXPECT_THAT(readText(csv), HasSubstr("\n\"ben, the 3\",2,"));
}

TEST_F(ExportProgram, RefusesWhatItCannotWrite) {
  const std::string run = train("gae", "").string();
  expectRefusal({"export", run, "--embeddings", (folder_.path() / "x.txt").string(), "--quiet"}, 2,
                "is no name of a known form", ".npz, .npy or .csv");
  expectRefusal({"export", train("cn", "").string(), "--embeddings", "x.npz", "--quiet"}, 2,
                "cn is a formula", "trained model");
}

// Runs of several seeds of a formula or two: quick.
class CompareProgram : public ::testing::Test {
 protected:
  [[nodiscard]] std::string trainAll() const {
    const auto out = folder_.path() / "my runs";
    const Outcome run = runProgram({"train", "--dataset", "planted", "--model", "cn,ppr", "--seeds",
                                    "4", "--out", out.string(), "--set", "planted.nodes=400"});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("next: " EDGEWISE_PROGRAM " predict '" +
                                   (out / better(out) / "seed-0").string() + "' --all --top 10"));
    EXPECT_THAT(run.out, HasSubstr("edgewise compare '" + (out / "ppr").string() + "' --against '" +
                                   (out / "cn").string() + "'"));
    EXPECT_THAT(run.out, HasSubstr("edgewise evaluate '" + out.string() + "'"));
    return out.string();
  }

  // Which of the two validates better.
  static std::string better(const std::filesystem::path& out) {
    std::map<std::string, double> sums;
    for (const char* model : {"cn", "ppr"}) {
      for (int seed = 0; seed < 4; ++seed) {
        const auto metrics = metricsOf(out / model / ("seed-" + std::to_string(seed)));
        sums[model] += metrics["valid"]["auc"].get<double>();
      }
    }
    EXPECT_GT(sums["ppr"], sums["cn"]) << "the better one should not be the first by name";
    return sums["ppr"] > sums["cn"] ? "ppr" : "cn";
  }

  TempFolder folder_;
};

TEST_F(CompareProgram, PairsRunsBySeed) {
  const std::string runs = trainAll();
  const Outcome told = runProgram({"compare", runs + "/ppr", "--against", runs + "/cn"});
  ASSERT_EQ(told.code, 0) << told.err;
  EXPECT_EQ(told.err, "");
  EXPECT_THAT(told.out, StartsWith("ppr against cn on planted, 4 seeds (0, 1, 2, 3)\n"));
  EXPECT_THAT(told.out, HasSubstr(" ± "));
  const auto compared = [](const std::vector<std::string>& words) {
    const Outcome outcome = runProgram(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out);
  };
  const auto forth = compared({"compare", runs + "/ppr", "--against", runs + "/cn", "--json"});
  const auto back = compared({"compare", runs + "/cn", runs + "/ppr", "--json"});
  EXPECT_EQ(forth["seeds"], 4);
  EXPECT_EQ(forth["same_splits"], true);
  const auto& auc = forth["test"]["auc"];
  EXPECT_NEAR(auc["difference"],
              auc["first"]["mean"].get<double>() - auc["second"]["mean"].get<double>(), 1e-12);
  EXPECT_NEAR(auc["difference"], -back["test"]["auc"]["difference"].get<double>(), 1e-12);
  EXPECT_NEAR(auc["t"], -back["test"]["auc"]["t"].get<double>(), 1e-9);
  EXPECT_NEAR(auc["p"], back["test"]["auc"]["p"], 1e-12);
  EXPECT_GE(auc["permutation_p"], 2.0 / 16);
  // Single folders of a side, one after another.
  const auto two = compared(
      {"compare", runs + "/ppr/seed-1", runs + "/ppr/seed-3", "--against", runs + "/cn", "--json"});
  EXPECT_EQ(two["seeds"], 2);
}

TEST_F(CompareProgram, RefusesWhatIsNoPair) {
  const std::string runs = trainAll();
  const auto refused = [](const std::vector<std::string>& words, int code,
                          const std::string& message) {
    const Outcome run = runProgram(words);
    EXPECT_EQ(run.code, code) << run.err;
    EXPECT_THAT(run.err, HasSubstr(message));
    EXPECT_THAT(run.err, HasSubstr("hint: "));
    EXPECT_EQ(run.out, "");
  };
  refused({"compare", runs + "/cn"}, 2, "nothing to compare with");
  refused({"compare", runs, runs + "/cn"}, 2, "beside others of");
  refused({"compare", runs + "/cn", runs + "/nowhere"}, 3, "no such run folder");
  refused({"compare", runs + "/cn/seed-0", runs + "/ppr/seed-1"}, 2, "0 seeds have a run on both");
  refused({"compare", runs + "/cn", runs + "/cn/seed-0", "--against", runs + "/ppr"}, 2,
          "seed 0 is there twice");
  std::filesystem::remove(runs + "/ppr/seed-2/metrics.json");
  refused({"compare", runs + "/cn", runs + "/ppr"}, 3, "did not finish");
}

TEST(CompletionProgram, CompletesInBash) {
  const TempFolder folder;
  const Outcome script = runProgram({"completion", "bash"});
  ASSERT_EQ(script.code, 0);
  const auto file = folder.write("edgewise.bash", script.out);
  // What bash would offer after these words.
  const auto offered = [&](const std::string& words, int at) {
    const auto out = folder.path() / "offered";
    const auto ask = folder.write(
        "ask.sh", "source " + file.string() + "\nCOMP_WORDS=(edgewise " + words +
                      ")\nCOMP_CWORD=" + std::to_string(at) +
                      "\n_edgewise\nprintf '%s\\n' \"${COMPREPLY[@]}\" > " + out.string() + "\n");
    EXPECT_EQ(std::system(("bash " + ask.string()).c_str()), 0);
    return readText(out);
  };
  EXPECT_EQ(offered("pre", 1), "predict\n");
  EXPECT_EQ(offered("train --mod", 2), "--model\n");
  EXPECT_EQ(offered("train --model sa", 3), "sage\n");
  EXPECT_EQ(offered("train --dataset pub", 3), "pubmed\n");
  EXPECT_EQ(offered("train --set model.hid", 3), "model.hidden=\n");
  EXPECT_EQ(offered("predict --to", 2), "--top\n");
  // What stands alone; bash has cut it at the colon.
  EXPECT_EQ(offered("reproduce fi", 2),
            "fig:views\nfig:observation\nfig:optimization\nfig:hyper\nfig:curves\n");
  EXPECT_EQ(offered("reproduce table : pla", 4), "planetoid\n");
  EXPECT_THAT(offered("reproduce table :", 3), HasSubstr("planetoid\nogb\nrec\n"));
  EXPECT_EQ(offered("datasets cite", 2), "citeseer\n");
  EXPECT_EQ(offered("options run.thr", 2), "run.threads\n");
  EXPECT_EQ(offered("completion f", 2), "fish\n");
}

TEST(CompletionProgram, KnowsEveryShellAndEveryCommand) {
  const Outcome help = runProgram({"--help"});
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const Outcome script = runProgram({"completion", shell});
    EXPECT_EQ(script.code, 0);
    for (const std::string command : {"train", "predict", "explain", "compare", "export"}) {
      EXPECT_THAT(help.out, HasSubstr(command));
      EXPECT_THAT(script.out, HasSubstr(command)) << shell;
    }
    EXPECT_THAT(script.out, HasSubstr(shell == "fish" ? "-l against" : "--against")) << shell;
    EXPECT_THAT(script.out,
                HasSubstr(shell == "zsh" ? "table\\:planetoid table\\:" : "table:planetoid table:"))
        << shell;
  }
  const Outcome wrong = runProgram({"completion", "csh"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("no completion is known for 'csh'"));
}

TEST(ManProgram, TellsAllCommandsAndOptions) {
  const Outcome page = runProgram({"man"});
  ASSERT_EQ(page.code, 0);
  EXPECT_THAT(page.out, StartsWith(".TH EDGEWISE 1 "));
  EXPECT_THAT(page.out, HasSubstr(".SS edgewise predict\n"));
  EXPECT_THAT(page.out, HasSubstr("\\fB\\-\\-pairs\\fR \\fIFILE\\fR\n"));
  EXPECT_THAT(page.out, HasSubstr("Exit codes: 0 done"));
  // Lines that begin with a dot are commands, and these are all that are used.
  std::istringstream lines(page.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('.')) {
      EXPECT_TRUE(line.starts_with(".TH") || line.starts_with(".SH") || line.starts_with(".SS") ||
                  line.starts_with(".TP") || line.starts_with(".PP") || line.starts_with(".nf") ||
                  line.starts_with(".fi") || line.starts_with(".B") || line.starts_with(".I") ||
                  line.starts_with(".RI"))
          << line;
    }
  }
}

}  // namespace
}  // namespace edgewise
