// The files of recipes/ as the build put them into the library (cmake/EdgewiseRecipes.cmake).
#pragma once

#include <span>
#include <string_view>

namespace edgewise {

struct EmbeddedRecipe {
  std::string_view name;  // the file's, without its ending
  std::string_view json;
};

// By name, sorted.
[[nodiscard]] std::span<const EmbeddedRecipe> embeddedRecipes();

}  // namespace edgewise
