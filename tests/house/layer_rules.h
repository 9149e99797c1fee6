// The rule that keeps the layers apart, checked on the text of the sources: a layer includes its
// own headers and the public ones of the layers below it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace edgewise::testing {

struct LayerRule {
  std::string_view name;
  bool torch;  // may know libtorch
};

// From the lowest to the highest; the same order stands in cmake/EdgewiseLayer.cmake.
inline constexpr std::array<LayerRule, 12> kLayers = {{{"util", false},
                                                       {"graph", false},
                                                       {"sampling", false},
                                                       {"data", false},
                                                       {"ops", true},
                                                       {"nn", true},
                                                       {"views", true},
                                                       {"evaluation", false},
                                                       {"training", true},
                                                       {"serving", true},
                                                       {"report", true},
                                                       {"experiments", true}}};

// Checks the tree below `root` (its include/edgewise and src); one line a breach, "file:line:
// what", in the order of the files' names.
class LayerCheck {
 public:
  explicit LayerCheck(std::filesystem::path root) : root_(std::move(root)) {}

  [[nodiscard]] std::vector<std::string> run() {
    for (const std::filesystem::path& file : sources(root_ / "include" / "edgewise")) {
      checkFile(file, true);
    }
    for (const std::filesystem::path& file : sources(root_ / "src")) {
      checkFile(file, false);
    }
    return breaches_;
  }

 private:
  struct Place {
    std::filesystem::path file;
    std::size_t line = 0;
    std::size_t layer = 0;
    bool is_public = false;
  };

  static std::optional<std::size_t> rankOf(std::string_view name) {
    const auto* const found = std::ranges::find(kLayers, name, &LayerRule::name);
    if (found == kLayers.end()) {
      return std::nullopt;
    }
    return static_cast<std::size_t>(found - kLayers.begin());
  }

  static std::vector<std::filesystem::path> sources(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    if (std::filesystem::is_directory(folder)) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        const std::string ending = entry.path().extension().string();
        if (ending == ".h" || ending == ".cpp" || ending == ".cu" || ending == ".cuh") {
          files.push_back(entry.path());
        }
      }
    }
    std::ranges::sort(files);
    return files;
  }

  void checkFile(const std::filesystem::path& file, bool is_public) {
    const std::filesystem::path top = is_public ? root_ / "include" / "edgewise" : root_ / "src";
    const std::string layer = file.lexically_relative(top).begin()->string();
    const std::optional<std::size_t> rank = rankOf(layer);
    if (!rank) {
      breaches_.push_back(file.lexically_relative(root_).string() + ": " + layer +
                          " is no layer of the house");
      return;
    }
    static const std::regex include_line(R"re(^\s*#\s*include\s*(["<])([^">]+)[">])re");
    std::ifstream stream(file);
    std::smatch match;
    std::string text;
    for (std::size_t line = 1; std::getline(stream, text); ++line) {
      if (std::regex_search(text, match, include_line)) {
        checkInclude({file, line, *rank, is_public}, match[2].str(), match[1].str() == "\"");
      }
    }
  }

  void checkInclude(const Place& place, const std::string& included, bool quoted) {
    constexpr std::string_view kPublic = "edgewise/";
    if (included.starts_with(kPublic)) {
      const std::string name = included.substr(kPublic.size());
      checkPublic(place, name.substr(0, name.find('/')), included);
    } else if (!kLayers[place.layer].torch && isTorch(included)) {
      report(place, included, "does without libtorch");
    } else if (quoted) {
      checkPrivate(place, included);
    }
  }

  void checkPublic(const Place& place, const std::string& layer, const std::string& included) {
    const std::optional<std::size_t> rank = rankOf(layer);
    if (!rank) {
      report(place, included, "knows of it as no layer of the house");
    } else if (*rank > place.layer) {
      report(place, included, "stands below it");
    } else if (kLayers[*rank].torch && !kLayers[place.layer].torch) {
      report(place, included, "does without libtorch, which that layer needs");
    }
  }

  // A private header is one under src/, reached from the folder of the includer or from src/.
  void checkPrivate(const Place& place, const std::string& included) {
    for (const std::filesystem::path& start : {place.file.parent_path(), root_ / "src"}) {
      const std::filesystem::path target = (start / included).lexically_normal();
      const std::filesystem::path inside = target.lexically_relative(root_ / "src");
      if (inside.empty() || *inside.begin() == ".." || !std::filesystem::exists(target)) {
        continue;
      }
      if (place.is_public) {
        report(place, included, "has public headers, which must not need private ones");
      } else if (inside.begin()->string() != kLayers[place.layer].name) {
        report(place, included, "must not reach into another layer's private headers");
      }
      return;
    }
  }

  static bool isTorch(std::string_view included) {
    constexpr std::array<std::string_view, 5> kTorch = {"torch/", "ATen/", "c10/", "caffe2/",
                                                        "ATen.h"};
    return std::ranges::any_of(
        kTorch, [&](std::string_view folder) { return included.starts_with(folder); });
  }

  void report(const Place& place, const std::string& included, std::string_view why) {
    breaches_.push_back(place.file.lexically_relative(root_).string() + ":" +
                        std::to_string(place.line) + ": includes " + included + ", but " +
                        std::string(kLayers[place.layer].name) + " " + std::string(why));
  }

  std::filesystem::path root_;
  std::vector<std::string> breaches_;
};

}  // namespace edgewise::testing
