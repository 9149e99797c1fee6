// Starts the built program as a user would and keeps what it says.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/test_support.h"

namespace edgewise::testing {

inline std::string readText(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

inline nlohmann::json metricsOf(const std::filesystem::path& folder) {
  return nlohmann::json::parse(readText(folder / "metrics.json"));
}

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

// A running program; its output goes to files, so that it can never block on a full pipe.
class ProgramRun {
 public:
  // `prepare` runs in the child before the program starts (limits, environment).
  explicit ProgramRun(
      const std::vector<std::string>& arguments, const std::function<void()>& prepare = [] {}) {
    child_ = ::fork();
    if (child_ != 0) {
      return;
    }
    redirect(STDOUT_FILENO, folder_.path() / "out");
    redirect(STDERR_FILENO, folder_.path() / "err");
    prepare();
    std::vector<std::string> words = {EDGEWISE_PROGRAM};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) {
      argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    ::execv(EDGEWISE_PROGRAM, argv.data());
    ::_exit(127);
  }

  [[nodiscard]] pid_t child() const { return child_; }
  [[nodiscard]] bool running() const { return ::waitpid(child_, nullptr, WNOHANG) == 0; }
  [[nodiscard]] std::string outputSoFar() const { return readText(folder_.path() / "out"); }

  // Whether it ends by itself within so long.
  [[nodiscard]] bool endedWithin(double seconds) const {
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < until) {
      if (!running()) {
        return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return false;
  }

  Outcome wait() {
    int status = 0;
    ::waitpid(child_, &status, 0);
    return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            .out = readText(folder_.path() / "out"),
            .err = readText(folder_.path() / "err")};
  }

 private:
  static void redirect(int stream, const std::filesystem::path& path) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(file, stream);
    ::close(file);
  }

  TempFolder folder_;
  pid_t child_ = -1;
};

inline Outcome runProgram(
    const std::vector<std::string>& arguments, const std::function<void()>& prepare = [] {}) {
  return ProgramRun(arguments, prepare).wait();
}

}  // namespace edgewise::testing
