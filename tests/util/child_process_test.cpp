#include "edgewise/util/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>

#include "support/test_support.h"

namespace edgewise {
namespace {

using ::testing::HasSubstr;
using testing::TempFolder;

std::string textOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

ChildCommand shell(const std::string& script, const TempFolder& folder) {
  return {.program = "/bin/sh", .words = {"-c", script}, .output = folder.path() / "said"};
}

TEST(ChildProcess, KeepsWhatWasSaidAndHowItEnded) {
  const TempFolder folder;
  ChildProcess child(shell("echo out; echo err >&2; exit 3", folder));
  EXPECT_EQ(child.wait(), 3);
  EXPECT_FALSE(child.running());
  EXPECT_EQ(child.wait(), 3);
  EXPECT_EQ(textOf(folder.path() / "said"), "out\nerr\n");
}

TEST(ChildProcess, EndsWhenAskedTo) {
  const TempFolder folder;
  ChildProcess child(shell("echo started; while :; do sleep 0.05; done", folder));
  while (textOf(folder.path() / "said").empty()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(child.running());
  child.interrupt();
  EXPECT_EQ(child.wait(), 128 + SIGINT);
}

TEST(ChildProcess, SaysWhenThereIsNoProgramOrNoPlaceToWrite) {
  const TempFolder folder;
  ChildProcess child(
      {.program = folder.path() / "none", .words = {}, .output = folder.path() / "said"});
  EXPECT_EQ(child.wait(), 127);
  testing::expectFailure<DataError>(
      [&] { ChildProcess({.program = "/bin/true", .output = folder.path() / "no" / "said"}); },
      "cannot be written");
}

TEST(FolderLock, LetsOneProcessIn) {
  const TempFolder folder;
  std::optional<FolderLock> first(std::in_place, folder.path() / "work");
  testing::expectFailure<ConfigError>([&] { FolderLock second(folder.path() / "work"); }, "in use");
  // Another use of it is nobody's business.
  EXPECT_NO_THROW(FolderLock(folder.path() / "work", {.file = ".other.lock"}));
  first.reset();
  EXPECT_NO_THROW(FolderLock(folder.path() / "work"));
}

TEST(FolderLock, NamesTheOptionThatChoosesTheFolder) {
  const TempFolder folder;
  const auto hint = [](const std::filesystem::path& wanted) -> std::string {
    try {
      const FolderLock lock(wanted, {.seconds = 0, .option = "--store"});
    } catch (const Error& error) {
      return error.hint();
    }
    return "";
  };
  const FolderLock first(folder.path());
  EXPECT_THAT(hint(folder.path()), HasSubstr("--store"));
  (void)folder.write("file", "");
  EXPECT_THAT(hint(folder.path() / "file"), HasSubstr("--store"));
}

TEST(FolderLock, TellsWhoHoldsItAndTakesItsFileAway) {
  const TempFolder folder;
  const FolderUse use{.seconds = 0, .inherited = false};
  {
    const FolderLock first(folder.path(), use);
    testing::expectFailure<ConfigError>([&] { const FolderLock second(folder.path(), use); },
                                        std::to_string(::getpid()));
    EXPECT_TRUE(std::filesystem::exists(folder.path() / ".lock"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() / ".lock"));
  // Programs that are started meanwhile do not hold it.
  std::optional<FolderLock> held(std::in_place, folder.path(), use);
  const ChildProcess child(shell("while :; do sleep 0.05; done", folder));
  held.reset();
  EXPECT_NO_THROW(FolderLock(folder.path(), use));
}

// Many at once: never two of them inside.
TEST(FolderLock, LetsThreadsInOneAfterTheOther) {
  const TempFolder folder;
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        const FolderLock lock(folder.path(), {.seconds = 60, .inherited = false});
        most = std::max(most.load(), ++inside);
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(most, 1);
}

// A program that outlives its starter keeps the folder.
TEST(FolderLock, IsHeldByWhatWasStartedMeanwhile) {
  const TempFolder folder;
  std::optional<FolderLock> first(std::in_place, folder.path());
  ChildProcess child(shell("while :; do sleep 0.05; done", folder));
  first.reset();
  testing::expectFailure<ConfigError>([&] { FolderLock second(folder.path()); }, "in use");
  child.interrupt();
  child.wait();
  EXPECT_NO_THROW(FolderLock(folder.path()));
}

}  // namespace
}  // namespace edgewise
