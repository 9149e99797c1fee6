// One value out of a table of named ones, for the options that readers take as text.
#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "edgewise/util/error.h"
#include "edgewise/util/text.h"

namespace edgewise {

// Throws ConfigError naming `option` and the nearest choice when `name` is not among them.
template <class T>
T namedChoice(std::string_view option, std::string_view name,
              std::span<const std::pair<std::string_view, T>> choices) {
  std::vector<std::string> known;
  for (const auto& [choice, value] : choices) {
    if (choice == name) {
      return value;
    }
    if (choice.size() > 1) {
      known.emplace_back(choice);
    }
  }
  throw ConfigError(fmt::format("unknown {} '{}'", option, name), suggestName(name, known));
}

}  // namespace edgewise
