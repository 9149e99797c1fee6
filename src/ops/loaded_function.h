// Functions of the libraries this process has loaded, by the name C gives them.
#pragma once

namespace edgewise::detail {

// Null when no library has it. libtorch may have been loaded out of sight of the global scope (as a
// plugin), so its own scope is asked too.
[[nodiscard]] void* loadedSymbol(const char* name);

template <class Function>
[[nodiscard]] Function* loadedFunction(const char* name) {
  return reinterpret_cast<Function*>(loadedSymbol(name));
}

}  // namespace edgewise::detail
