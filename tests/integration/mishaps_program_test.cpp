// What can befall any command: killed at any moment, a full disk, a folder that cannot be written,
// a model that is damaged, a run of a newer version. One clear error each, and nothing lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "support/friends.h"
#include "support/program.h"

namespace edgewise {
namespace {

using ::testing::AnyOf;
using ::testing::Eq;
using testing::friendsText;
using ::testing::HasSubstr;
using testing::metricsOf;
using testing::Outcome;
using testing::ProgramRun;
using testing::readText;
using testing::runProgram;

namespace fs = std::filesystem;

using Contents = std::map<std::string, std::string>;

// Every file below a folder, hidden ones too.
Contents contentsOf(const fs::path& folder) {
  Contents contents;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      contents[fs::relative(entry.path(), folder).string()] = readText(entry.path());
    }
  }
  return contents;
}

bool holdsTemporary(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".tmp") {
      return true;
    }
  }
  return false;
}

// No file may grow further: a full disk, as far as writing goes.
std::function<void()> fullDisk(rlim_t bytes) {
  return [bytes] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, bytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  };
}

constexpr int kNoNamespaces = 77;

// The folder as it is, but for this program nothing in it can be changed, whoever runs it. The
// child ends with kNoNamespaces where the system does not allow that.
std::function<void()> readOnly(const fs::path& folder) {
  return [folder] {
    const int wanted = ::geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS;
    const char* path = folder.c_str();
    const bool done = ::unshare(wanted) == 0 &&
                      ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                      ::mount(path, path, nullptr, MS_BIND | MS_REC, nullptr) == 0 &&
                      ::mount(path, path, nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) == 0;
    if (!done) {
      ::_exit(kNoNamespaces);
    }
  };
}

// One line that says what and where, and a hint.
void expectOneError(const Outcome& run, int code, const std::string& message) {
  EXPECT_EQ(run.code, code) << run.err;
  EXPECT_THAT(run.err, HasSubstr(message));
  std::istringstream lines(run.err);
  std::size_t errors = 0;
  std::size_t hints = 0;
  for (std::string line; std::getline(lines, line);) {
    errors += line.starts_with("edgewise: ") ? 1 : 0;
    hints += line.starts_with("  hint: ") ? 1 : 0;
  }
  EXPECT_EQ(errors, 1U) << run.err;
  EXPECT_EQ(hints, 1U) << run.err;
}

class Mishaps : public testing::FriendsProgram {
 protected:
  // A command that answers from a run into a file.
  struct Answer {
    std::string name;
    std::vector<std::string> words;
    fs::path file;
  };

  [[nodiscard]] static std::vector<Answer> answersOf(const fs::path& run, const fs::path& folder) {
    const std::string dir = run.string();
    const auto to = [&](const char* name) { return folder / name; };
    return {
        {"predict",
         {"predict", dir, "--all", "--out", to("all.csv").string(), "--quiet"},
         to("all.csv")},
        {"explain",
         {"explain", dir, "--pair", "anna 0,anna 2", "--svg", to("pair.svg").string(), "--quiet"},
         to("pair.svg")},
        {"export",
         {"export", dir, "--embeddings", to("nodes.csv").string(), "--quiet"},
         to("nodes.csv")},
        {"report", {"report", dir, "--out", to("page.html").string(), "--quiet"}, to("page.html")}};
  }

  fs::path makeFolder(const std::string& name) {
    fs::create_directory(folder_.path() / name);
    return folder_.path() / name;
  }

  static void write(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }
};

TEST_F(Mishaps, AnswersAreWholeOrTheEarlierOnesWhenKilled) {
  const fs::path run = train("gae", "");
  const Contents stored = contentsOf(run);
  const fs::path answers = makeFolder("answers");
  for (const Answer& answer : answersOf(run, answers)) {
    SCOPED_TRACE(answer.name);
    ASSERT_EQ(runProgram(answer.words).code, 0);
    const std::string whole = readText(answer.file);
    // As soon as it has begun to write, and at any moment before.
    for (const int looks : {0, 20'000, 1'000'000'000}) {
      write(answer.file, "earlier");
      for (const auto& entry : fs::directory_iterator(answers)) {
        if (entry.path().extension() == ".tmp") {
          fs::remove(entry.path());
        }
      }
      ProgramRun program(answer.words);
      bool runs = true;
      for (int i = 0; i < looks && runs && !holdsTemporary(answers); ++i) {
        runs = program.running();
      }
      if (runs) {
        ::kill(program.child(), SIGKILL);
        program.wait();
      }
      EXPECT_THAT(readText(answer.file), AnyOf(Eq("earlier"), Eq(whole)));
    }
    ASSERT_EQ(runProgram(answer.words).code, 0);
    EXPECT_EQ(readText(answer.file), whole) << "the same command goes on";
    EXPECT_EQ(contentsOf(run), stored);
  }
}

TEST_F(Mishaps, AnswersKeepTheEarlierOnesOnAFullDisk) {
  const fs::path run = train("gae", "");
  const Contents stored = contentsOf(run);
  const fs::path answers = makeFolder("answers");
  for (const Answer& answer : answersOf(run, answers)) {
    SCOPED_TRACE(answer.name);
    write(answer.file, "earlier");
    const Contents before = contentsOf(answers);
    expectOneError(runProgram(answer.words, fullDisk(512)), 4,
                   answer.file.string() + ": cannot write (File too large)");
    EXPECT_EQ(contentsOf(answers), before) << "no temporary file stays";
    EXPECT_EQ(contentsOf(run), stored);
    fs::remove(answer.file);
  }
}

// Room for the options, but not for a checkpoint or a model.
TEST_F(Mishaps, ATrainingThatFillsTheDiskGoesOnWhenThereIsRoom) {
  const fs::path whole = train("gae", "ps2");
  const fs::path broken = folder_.path() / "broken";
  const Outcome full =
      runProgram({"train", "--recipe", (whole / "options.json").string(), "--out", broken.string(),
                  "--quiet", "--set", "training.checkpoint_seconds=0"},
                 fullDisk(12 << 10));
  expectOneError(full, 4, "cannot write (File too large)");
  EXPECT_FALSE(fs::exists(broken / "metrics.json"));
  EXPECT_FALSE(holdsTemporary(broken));
  ASSERT_TRUE(fs::exists(broken / "options.json"));
  const Outcome resumed = runProgram({"train", "--resume", broken.string(), "--quiet"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(metricsOf(broken)["test"], metricsOf(whole)["test"]);
  EXPECT_EQ(metricsOf(broken)["views"], metricsOf(whole)["views"]);
}

TEST_F(Mishaps, ReproduceThatFillsTheDiskGoesOnWhenThereIsRoom) {
  const fs::path out = folder_.path() / "paper";
  const std::vector<std::string> words = {"reproduce",
                                          "fig:views",
                                          "--datasets",
                                          "planted",
                                          "--models",
                                          "gae",
                                          "--seeds",
                                          "1",
                                          "--out",
                                          out.string(),
                                          "--quiet",
                                          "--set",
                                          "training.epochs=1",
                                          "selector.epochs=2",
                                          "selector.warmup=0",
                                          "planted.nodes=300"};
  const Outcome full = runProgram(words, fullDisk(4 << 10));
  expectOneError(full, 4, "cannot write (File too large)");
  const Outcome again = runProgram(words);
  EXPECT_EQ(again.code, 0) << again.err;
}

TEST_F(Mishaps, AFolderThatCannotBeWrittenIsSaidAndLeftAlone) {
  const fs::path run = train("gae", "");
  const fs::path begun = train("sage", "");
  fs::remove(begun / "metrics.json");
  fs::remove(begun / "model.safetensors");
  const fs::path locked = makeFolder("locked");
  const auto in_locked = [&](const std::vector<std::string>& words, const fs::path& folder) {
    return runProgram(words, readOnly(folder));
  };
  if (in_locked({"--version"}, locked).code == kNoNamespaces) {
    GTEST_SKIP() << "left out: mounts in a namespace of one's own are not allowed here";
  }
  constexpr const char* kWhy = "Read-only file system";
  const Contents stored = contentsOf(run);
  for (const Answer& answer : answersOf(run, locked)) {
    SCOPED_TRACE(answer.name);
    expectOneError(in_locked(answer.words, locked), 3, kWhy);
  }
  const Contents begun_files = contentsOf(begun);
  const std::string edges = (folder_.path() / "friends.csv").string();
  expectOneError(in_locked({"train", "--edges", edges, "--model", "cn", "--quiet", "--out",
                            (locked / "run").string(), "--set", "data.header=yes"},
                           locked),
                 3, kWhy);
  expectOneError(in_locked({"train", "--resume", begun.string(), "--quiet"}, begun), 3, kWhy);
  expectOneError(in_locked({"report", run.string(), "--quiet"}, run), 3, kWhy);
  expectOneError(in_locked({"reproduce", "fig:views", "--datasets", "planted", "--seeds", "1",
                            "--out", (locked / "paper").string(), "--quiet"},
                           locked),
                 3, kWhy);
  EXPECT_TRUE(fs::is_empty(locked));
  EXPECT_EQ(contentsOf(begun), begun_files);
  EXPECT_EQ(contentsOf(run), stored);
  // What only reads does not mind.
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"predict", run.string(), "--node", "anna 0", "--quiet"},
           {"explain", run.string(), "--pair", "anna 0,anna 2", "--quiet"},
           {"evaluate", run.string(), "--quiet"}}) {
    const Outcome read = in_locked(words, run);
    EXPECT_EQ(read.code, 0) << words.front() << ": " << read.err;
  }
}

// Every command that opens a run says the same of one that it cannot read.
class UnreadableRuns : public Mishaps {
 protected:
  void expectRefusals(const fs::path& run, const std::string& message, bool needs_model) {
    const Contents before = contentsOf(run);
    const fs::path answers = folder_.path() / "answers";
    fs::create_directories(answers);
    std::vector<std::vector<std::string>> all = {{"evaluate", run.string(), "--quiet"}};
    for (const Answer& answer : answersOf(run, answers)) {
      if (!needs_model || answer.name != "report") {
        all.push_back(answer.words);
      }
    }
    if (!needs_model) {
      all.push_back({"compare", run.string(), run.string(), "--quiet"});
      all.push_back({"train", "--resume", run.string(), "--quiet"});
    }
    for (const std::vector<std::string>& words : all) {
      SCOPED_TRACE(words.front());
      expectOneError(runProgram(words), 3, message);
      EXPECT_TRUE(fs::is_empty(answers));
    }
    EXPECT_EQ(contentsOf(run), before) << "nothing of it is touched";
  }
};

TEST_F(UnreadableRuns, DamagedModelsAreRefused) {
  const fs::path run = train("gae", "");
  const std::string whole = readText(run / "model.safetensors");
  write(run / "model.safetensors", whole.substr(0, whole.size() / 2));
  expectRefusals(run, "model.safetensors: ", true);
  std::string other = whole;
  std::fill(other.begin() + 8, other.begin() + 60, '\x01');
  write(run / "model.safetensors", other);
  expectRefusals(run, "model.safetensors: ", true);
  write(run / "model.safetensors", "");
  expectRefusals(run, "model.safetensors: ", true);
}

TEST_F(UnreadableRuns, NewerRunsAreRefused) {
  const fs::path run = train("gae", "");
  nlohmann::ordered_json newer = nlohmann::ordered_json::parse(readText(run / "options.json"));
  newer["format"] = 99;
  newer["version"] = "9.0.0";
  write(run / "options.json", newer.dump());
  expectRefusals(run, "was written by a newer edgewise (9.0.0)", false);
}

// So much memory and no more.
std::function<void()> littleMemory(rlim_t bytes) {
  return [bytes] {
    const rlimit limit{bytes, bytes};
    ::setrlimit(RLIMIT_AS, &limit);
  };
}

TEST_F(Mishaps, TwoProcessesDoNotWorkInOneFolder) {
  const std::string edges = folder_.write("friends.csv", friendsText()).string();
  const fs::path out = folder_.path() / "run";
  const std::vector<std::string> words = {"train",
                                          "--edges",
                                          edges,
                                          "--model",
                                          "gae",
                                          "--out",
                                          out.string(),
                                          "--quiet",
                                          "--set",
                                          "training.epochs=1000000",
                                          "training.patience=0",
                                          "training.checkpoint_seconds=0"};
  ProgramRun first(words);
  while (first.running() && !fs::exists(out / "checkpoint.safetensors")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ASSERT_TRUE(first.running());
  expectOneError(runProgram({"train", "--edges", edges, "--model", "cn", "--overwrite", "--out",
                             out.string(), "--quiet"}),
                 2, fmt::format("in use by another process ({})", first.child()));
  expectOneError(runProgram({"train", "--resume", out.string(), "--quiet"}), 2, "in use");
  ::kill(first.child(), SIGINT);
  EXPECT_EQ(first.wait().code, 130);
  EXPECT_FALSE(fs::exists(out / ".lock"));

  // What was begun is offered to be gone on with.
  const Contents begun = contentsOf(out);
  const Outcome again = runProgram(words);
  expectOneError(again, 2, "not finished");
  EXPECT_THAT(again.err, HasSubstr("--resume"));
  // And goes on as it was begun.
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--set", "training.epochs=3"},
        {"--model", "cn"},
        {"--seed", "4"},
        {"--overwrite"},
        {"--dry-run"},
        {"--seeds", "3"}}) {
    std::vector<std::string> resumed = {"train", "--resume", out.string(), "--quiet"};
    resumed.insert(resumed.end(), more.begin(), more.end());
    expectOneError(runProgram(resumed), 2, more.front());
  }
  EXPECT_EQ(contentsOf(out), begun);

  // A checkpoint that is damaged can be done without.
  fs::resize_file(out / "checkpoint.safetensors", 100);
  const Outcome damaged = runProgram({"train", "--resume", out.string(), "--quiet"});
  expectOneError(damaged, 3, "checkpoint.safetensors");
  EXPECT_THAT(damaged.err, HasSubstr("remove this file"));
}

TEST_F(Mishaps, MemoryThatRunsOutIsToldInALine) {
  std::vector<std::string> words = {"train",
                                    "--edges",
                                    folder_.write("friends.csv", friendsText()).string(),
                                    "--model",
                                    "gae",
                                    "--out",
                                    (folder_.path() / "run").string(),
                                    "--quiet",
                                    "--threads",
                                    "1",
                                    "--set",
                                    "model.hidden=4096",
                                    "model.embedding=4096",
                                    "model.layers=5",
                                    "model.predictor_hidden=4096"};
  constexpr rlim_t kLimit = 3'000'000'000;
  const Outcome foreseen = runProgram(words, littleMemory(kLimit));
  expectOneError(foreseen, 4, "GiB are free");
  EXPECT_FALSE(fs::exists(folder_.path() / "run"));
  words.emplace_back("run.check_memory=false");
  const Outcome met = runProgram(words, littleMemory(kLimit));
  expectOneError(met, 4, "out of memory");
  EXPECT_THAT(met.err, HasSubstr("model.hidden"));
}

TEST_F(Mishaps, NumbersThatWereChangedAreNamed) {
  const fs::path run = train("cn", "");
  auto metrics = nlohmann::ordered_json::parse(readText(run / "metrics.json"));
  metrics["test"]["auc"] = 0.125;
  write(run / "metrics.json", metrics.dump());
  expectOneError(runProgram({"evaluate", run.string(), "--quiet"}), 1, "test auc is ");
}

}  // namespace
}  // namespace edgewise
