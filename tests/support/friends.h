// A small graph of one's own for tests of the whole program, and short runs on it.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "support/program.h"

namespace edgewise::testing {

// Two circles of friends, known by name; some names hold a comma.
inline std::string friendsText() {
  std::string text = "who,whom\n";
  for (const std::string_view circle : {"anna", "ben, the"}) {
    for (int i = 0; i < 16; ++i) {
      for (int j = i + 1; j < 16; ++j) {
        if ((i * 7 + j * 3) % 4 != 0) {
          text += fmt::format("\"{} {}\",\"{} {}\"\n", circle, i, circle, j);
        }
      }
    }
  }
  return text;
}

class FriendsProgram : public ::testing::Test {
 protected:
  // A short training run on the friends; returns its folder.
  std::filesystem::path train(const std::string& model, const std::string& selector,
                              const std::vector<std::string>& more = {}) {
    const std::string edges = folder_.write("friends.csv", friendsText()).string();
    const auto out = folder_.path() / (model + selector);
    std::vector<std::string> words = {"train",
                                      "--edges",
                                      edges,
                                      "--model",
                                      model,
                                      "--out",
                                      out.string(),
                                      "--quiet",
                                      "--set",
                                      "data.header=yes",
                                      "model.embedding=8",
                                      "model.hidden=8",
                                      "training.epochs=5",
                                      "training.batch_size=32",
                                      "selector.epochs=3",
                                      "split.valid=0.1"};
    if (!selector.empty()) {
      words.push_back("selector.kind=" + selector);
    }
    words.insert(words.end(), more.begin(), more.end());
    const Outcome run = runProgram(words);
    EXPECT_EQ(run.code, 0) << run.err;
    return out;
  }

  // Fails with this code and one line that holds `message`, and a hint that holds `hint`; prints
  // nothing.
  static void expectRefusal(const std::vector<std::string>& words, int code,
                            const std::string& message, const std::string& hint) {
    const Outcome run = runProgram(words);
    EXPECT_EQ(run.code, code) << run.err;
    EXPECT_EQ(run.out, "");
    EXPECT_NE(run.err.find(message), std::string::npos) << run.err;
    EXPECT_NE(run.err.find("hint: "), std::string::npos) << run.err;
    EXPECT_NE(run.err.find(hint), std::string::npos) << run.err;
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 2) << run.err;
  }

  TempFolder folder_;
};

}  // namespace edgewise::testing
