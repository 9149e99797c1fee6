// From a recipe and what a user asked for to the options of a run; the same for whoever plans runs.
#pragma once

#include <functional>
#include <string>

#include "edgewise/training/run_options.h"

namespace edgewise {

// The recipe (a name or a file; empty: none) over what every model needs, then what `type` sets:
// the most particular wins. A recipe's rules look at what `type` sets too. Throws ConfigError for a
// recipe, a key or a value that is not known.
[[nodiscard]] RunOptions resolveRun(const std::string& recipe,
                                    const std::function<void(OptionSet&)>& type);

}  // namespace edgewise
