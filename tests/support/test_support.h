// What tests of several layers share: scratch folders, golden files, the real datasets when they
// are at hand.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "edgewise/util/error.h"

namespace edgewise::testing {

// A fresh folder, removed with everything in it at the end of the scope.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "edgewise-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw std::runtime_error("cannot make a temporary folder");
    }
    path_ = pattern;
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  TempFolder(TempFolder&&) = delete;
  TempFolder& operator=(TempFolder&&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Writes a file below the folder (making folders on the way) and returns its path.
  [[nodiscard]] std::filesystem::path write(const std::filesystem::path& name,
                                            std::string_view content) const {
    const std::filesystem::path target = path_ / name;
    std::filesystem::create_directories(target.parent_path());
    std::ofstream(target, std::ios::binary) << content;
    return target;
  }

 private:
  std::filesystem::path path_;
};

// A file the tests carry: tests/files/<name>.
inline std::filesystem::path testFile(std::string_view name) {
  return std::filesystem::path(EDGEWISE_TEST_FILES) / name;
}

// The folder of a real dataset under $EDGEWISE_DATA, or nothing when it is not at hand.
inline std::optional<std::filesystem::path> realData(std::string_view name) {
  const char* root = std::getenv("EDGEWISE_DATA");
  if (root == nullptr) {
    return std::nullopt;
  }
  const std::filesystem::path folder = std::filesystem::path(root) / name;
  return std::filesystem::is_directory(folder) ? std::optional(folder) : std::nullopt;
}

// Runs `action`, which must throw a `Failure` whose text contains `fragment`.
template <class Failure, class Action>
void expectFailure(const Action& action, std::string_view fragment) {
  try {
    action();
  } catch (const Failure& failure) {
    EXPECT_NE(std::string_view(failure.what()).find(fragment), std::string_view::npos)
        << "message was: " << failure.what();
    return;
  } catch (const std::exception& other) {
    ADD_FAILURE() << "wrong kind of exception: " << other.what();
    return;
  }
  ADD_FAILURE() << "nothing was thrown; expected a message with: " << fragment;
}

}  // namespace edgewise::testing

// Leaves the current test, saying which data it needs, unless that data is at hand.
// NOLINTBEGIN(bugprone-macro-parentheses): `variable` becomes a declared name
#define EDGEWISE_NEEDS_DATA(variable, name)                                  \
  const auto variable##_found = ::edgewise::testing::realData(name);         \
  if (!variable##_found) {                                                   \
    GTEST_SKIP() << "left out: needs " << (name) << " under $EDGEWISE_DATA"; \
  }                                                                          \
  const std::filesystem::path& variable = *variable##_found
// NOLINTEND(bugprone-macro-parentheses)
