#include "edgewise/training/run_recipe.h"

#include "edgewise/util/recipe.h"

namespace edgewise {

RunOptions resolveRun(const std::string& recipe, const std::function<void(OptionSet&)>& type) {
  RunOptions options;
  OptionSet set = options.bind();
  RunOptions typed;
  OptionSet typed_set = typed.bind();
  type(typed_set);
  const RecipeFacts facts = {{"dataset", typed.data.dataset},
                             {"model", typed.model},
                             {"selector", typed.network.selector.kind}};
  // What some models need that others do not.
  Recipe::named("default").apply(facts, set);
  if (!recipe.empty()) {
    Recipe::named(recipe).apply(facts, set);
    set.set("run.recipe", recipe, "--recipe");
  }
  type(set);
  return options;
}

}  // namespace edgewise
