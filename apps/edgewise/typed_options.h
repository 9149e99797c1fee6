// Options that have arguments of their own, such as --model.
#pragma once

#include <string>

#include "edgewise/util/options.h"

namespace edgewise::app {

// Leaves alone what was not typed.
inline void setIfTyped(OptionSet& set, const char* key, const std::string& value,
                       const char* origin) {
  if (!value.empty()) {
    set.set(key, value, origin);
  }
}

}  // namespace edgewise::app
