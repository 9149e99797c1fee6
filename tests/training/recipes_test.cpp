#include <gtest/gtest.h>

#include "edgewise/training/run_options.h"
#include "edgewise/util/recipe.h"

namespace edgewise {
namespace {

// A rule for a rare dataset would otherwise break long after it was written.
TEST(BuiltInRecipes, HoldOnlyOptionsThatARunTakes) {
  const std::vector<std::string> facts = {"dataset", "model", "selector"};
  for (const std::string& name : recipeNames()) {
    RunOptions options;
    EXPECT_NO_THROW(Recipe::named(name).check(facts, options.bind())) << name;
  }
}

}  // namespace
}  // namespace edgewise
