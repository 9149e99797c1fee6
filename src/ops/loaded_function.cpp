#include "ops/loaded_function.h"

#include <dlfcn.h>

namespace edgewise::detail {

void* loadedSymbol(const char* name) {
  void* found = ::dlsym(RTLD_DEFAULT, name);
  if (found == nullptr) {
    if (void* torch = ::dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD); torch != nullptr) {
      found = ::dlsym(torch, name);
      ::dlclose(torch);
    }
  }
  return found;
}

}  // namespace edgewise::detail
